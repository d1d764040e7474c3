"""The caller's own kind of frame comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

POINTS = pa.table({"id": [1, 2, 3], "at": [5, 12, 40]})
SPANS = pa.table({"start": [0, 10], "end": [10, 20], "cause": ["storm", "digger"]})
ON = "p.at >= o.start AND p.at < o.end"
WANT = [{"id": 1, "cause": "storm"}, {"id": 2, "cause": "digger"}]


def test_arrow_tables_come_back_as_arrow_tables() -> None:
    got = dv.join(p=POINTS, o=SPANS, on=ON, select="p.id, o.cause")
    assert isinstance(got, pa.Table)
    assert got.to_pylist() == WANT


def test_a_reader_comes_back_as_a_reader() -> None:
    got = dv.join(p=POINTS.to_reader(), o=SPANS.to_reader(), on=ON, select="p.id, o.cause")
    assert isinstance(got, pa.RecordBatchReader)
    assert got.read_all().to_pylist() == WANT


def test_pandas_comes_back_as_pandas() -> None:
    got = dv.join(p=POINTS.to_pandas(), o=SPANS.to_pandas(), on=ON, how="left", select="p.id, o.cause")
    assert isinstance(got, pd.DataFrame)
    assert got.to_dict("records")[:2] == WANT
    assert got["cause"].isna().tolist() == [False, False, True]


def test_pandas_keeps_its_own_types() -> None:
    points, spans = (table.to_pandas().convert_dtypes() for table in (POINTS, SPANS))
    got = dv.join(o=spans, p=points, on=ON, how="full", select="p.id, p.at, o.cause")
    assert [str(kind) for kind in got.dtypes] == ["Int64", "Int64", "string"]
    assert got["cause"].isna().tolist() == [False, False, True]


def test_pandas_numbers_beside_nulls_are_not_rounded() -> None:
    big = (1 << 53) + 1
    right = pd.DataFrame({"n": [1, 2], "id": [big, 7], "small": [3, 4]})
    got = dv.join(pd.DataFrame({"n": [1, 9]}), right, on="l.n = r.n", how="left", select="l.n, r.id, r.small")
    assert [None if pd.isna(own) else int(own) for own in got["id"]] == [big, None]
    assert [str(kind) for kind in got.dtypes] == ["int64", "Int64", "float64"]


def test_pandas_keeps_the_own_type_of_one_column_among_others() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": pd.array([1, None], "Int64")})
    got = dv.join(frame, POINTS.to_pandas(), on="l.a = r.id", how="left", select="l.a, l.b, r.at")
    assert [str(kind) for kind in got.dtypes] == ["int64", "Int64", "int64"]


def test_polars_keeps_its_enums_where_they_are_shown_as_they_are() -> None:
    frame = pl.DataFrame({"k": pl.Series(["a"], dtype=pl.Enum(["b", "a"])), "n": [1]})
    assert dv.join(frame, frame, on="l.n = r.n", select="l.k").schema == {"k": pl.Enum(["b", "a"])}
    assert dv.join(frame, frame, on="l.n = r.n", select="upper(l.k) AS k").to_dicts() == [{"k": "A"}]


def test_durations_finer_than_microseconds_are_not_cut() -> None:
    frame = pd.DataFrame({"d": pd.to_timedelta([1100, 1900], unit="ns")})
    with pytest.raises(UsageError, match=r"duration\[ns\] has values between microseconds, which INTERVAL"):
        dv.join(frame, frame, on="l.d < r.d")
    assert len(dv.join(frame * 1000, frame * 1000, on="l.d < r.d")) == 1


def test_polars_comes_back_as_polars_lazy_if_it_was() -> None:
    points, spans = pl.DataFrame(POINTS), pl.DataFrame(SPANS)
    got = dv.join(p=points, o=spans, on=ON, select="p.id, o.cause")
    assert isinstance(got, pl.DataFrame)
    assert got.to_dicts() == WANT
    lazy = dv.join(p=points.lazy(), o=spans.lazy(), on=ON, select="p.id, o.cause")
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect().to_dicts() == WANT


def test_duckdb_comes_back_as_duckdb() -> None:
    points, spans = duckdb.from_arrow(POINTS), duckdb.from_arrow(SPANS)
    got = dv.join(p=points, o=spans, on=ON, select="p.id, o.cause")
    assert isinstance(got, duckdb.DuckDBPyRelation)
    assert sorted(got.fetchall()) == [(1, "storm"), (2, "digger")]


def test_a_duckdb_connection_goes_on_with_what_it_gets_back() -> None:
    with duckdb.connect() as own:
        own.execute("CREATE TABLE points AS SELECT unnest([1, 2, 3]) AS id, unnest([5, 12, 40]) AS at")
        found = dv.join(p=own.table("points"), o=SPANS, on=ON, select="p.id, o.cause")
        both = found.join(own.table("points"), "id").order("id")
        assert both.fetchall() == [(1, "storm", 5), (2, "digger", 12)]
        assert own.sql("SHOW TABLES").fetchall() == [("points",)]


def test_a_duckdb_connection_that_knows_no_names_of_python_gets_its_rows_back() -> None:
    with duckdb.connect(config={"python_enable_replacements": False}) as own:
        points = own.sql("SELECT unnest([1, 2, 3]) AS id, unnest([5, 12, 40]) AS at")
        found = dv.join(p=points, o=SPANS, on=ON, select="p.id, o.cause")
        assert sorted(found.fetchall()) == [(1, "storm"), (2, "digger")]


def test_the_result_has_the_types_of_the_input() -> None:
    left = pa.table({"a": pa.array([1], pa.uint8()), "s": pa.array(["x"]).dictionary_encode()})
    got = dv.join(left, pa.table({"b": pa.array([2], pa.int64())}), on="l.a < r.b")
    assert got.schema.types == [pa.uint8(), pa.dictionary(pa.int32(), pa.string()), pa.int64()]


def test_views_and_runs_are_joined_too() -> None:
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([7, 8]))
    views = pa.table({"s": pa.array(["a", None, "c"], pa.string_view()), "b": pa.array([b"x"] * 3, pa.binary_view())})
    left = views.append_column("n", runs)
    got = dv.join(left, left, on="l.s < r.s AND l.n < r.n", select="l.s, l.n, r.b, r.s AS other")
    assert got.to_pylist() == [{"s": "a", "n": 7, "b": b"x", "other": "c"}]


def test_columns_that_cannot_be_compared_are_named_as_they_are_written() -> None:
    with pytest.raises(UsageError, match=r"^'l.at > r.d' compares BIGINT with DATE, which Spark refuses. Hint: cast"):
        dv.join(POINTS, pa.table({"d": pa.array([0], pa.date32())}), on="l.at > r.d")


def test_what_is_no_frame_is_refused_in_one_line() -> None:
    with pytest.raises(UsageError, match=r"input 'r' is a list; a join takes Spark, Arrow, pandas, Polars or DuckDB"):
        dv.join(POINTS, [1, 2], on="l.at > 1")


UNREADABLE: list[tuple[object, str]] = [
    (pd.DataFrame({"at": [1, 2], "mixed": [1, "x"]}), r"Could not convert 'x' with type str: .*for column mixed with"),
    (pd.DataFrame([[1, 2]], columns=["at", "at"]), r"Duplicate column names found: \['at', 'at'\]"),
    (pd.DataFrame({"at": [1], "big": [1 << 70]}), r"Python int too large"),
    (pd.DataFrame({"at": [1], "pair": [1j]}), r"Unsupported numpy type .*; Conversion failed for column pair"),
    (pl.DataFrame({"at": [1]}).cast(pl.Int128), r"column 'at' is Int128, which Arrow has no type for"),
    (pl.LazyFrame({"at": [1]}).cast(pl.Int128), r"column 'at' is Int128, which Arrow has no type for"),
    (
        pl.DataFrame({"at": [[1]]}).cast(pl.List(pl.Int128)),
        r"column 'at' is List\(Int128\), which Arrow has no type for",
    ),
    (
        pl.DataFrame({"at": [1]}).select("at", s=pl.struct(pl.col("at").cast(pl.Int128))),
        r"column 's' is Struct\(.*Int128.*\), which Arrow has no type for",
    ),
    (
        pl.DataFrame({"at": [1], "own": pl.Series([object()], dtype=pl.Object)}),
        r"column 'own' is Object, which Arrow has no type for",
    ),
]


@pytest.mark.parametrize(("frame", "reason"), UNREADABLE)
def test_columns_that_arrow_cannot_hold_are_refused_in_one_line(frame: object, reason: str) -> None:
    with pytest.raises(UsageError, match=rf"input 'p' cannot be read as Arrow: {reason}.*\. Hint: cast") as caught:
        dv.join(p=frame, o=SPANS, on="p.at < o.end")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("column", [pl.Series("at", [1]), pd.Series([1], name="at"), pa.chunked_array([[1]])])
def test_a_single_column_is_no_frame(column: object) -> None:
    with pytest.raises(UsageError, match=r"input 'p' is a (Series|ChunkedArray); a join takes .*frames. Hint"):
        dv.join(p=column, o=SPANS, on="p.at < o.end")


def _failing() -> Iterator[pa.RecordBatch]:
    yield POINTS.to_batches()[0]
    raise OSError(5, "the disk is gone\nfor good")


FAILING: dict[str, Callable[[], object]] = {
    "a LazyFrame, .*: ColumnNotFoundError": lambda: pl.LazyFrame({"at": [1]}).select("zzz"),
    "a DuckDBPyRelation, .*: ConversionException": lambda: duckdb.sql("SELECT CAST(w AS INT) FROM (VALUES ('q')) t(w)"),
    "a RecordBatchReader, .*: OSError": lambda: pa.RecordBatchReader.from_batches(POINTS.schema, _failing()),
}


@pytest.mark.parametrize(("reason", "frame"), FAILING.items(), ids=["polars", "duckdb", "reader"])
def test_an_input_that_fails_while_it_is_computed_is_named_in_one_line(
    reason: str, frame: Callable[[], object]
) -> None:
    with pytest.raises(UsageError, match=rf"input 'r', {reason}: .* Hint: compute it by itself first") as caught:
        dv.join(POINTS, frame(), on="l.at >= r.at")
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is not None


def test_a_kind_of_frame_is_no_frame() -> None:
    with pytest.raises(UsageError, match=r"input 'r' is a type; a join takes"):
        dv.join(POINTS, pa.Table, on="l.at >= r.at")


def test_missing_intervals_of_pandas_are_missing() -> None:
    left, right = pd.DataFrame({"n": [1, 2]}), pd.DataFrame({"n": [1], "c": pd.interval_range(3, 4)})
    got = dv.join(left, right, on="l.n = r.n", how="left").sort_values("n")["c"]
    assert got.isna().tolist() == [False, True]
    assert got[0] == pd.Interval(3, 4)
