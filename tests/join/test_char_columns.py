"""Columns of a fixed length: Spark compares two of unlike lengths as if both had the longer one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

import dovetail as dv
from dovetail._core.condition.inputs import Input, Inputs
from dovetail._core.condition.parse import parse
from dovetail.errors import UnsupportedError
from dovetail.testing import assert_same_rows
from tests.spark_answers import changed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

Sides = tuple["DataFrame", "DataFrame"]
SHORT = [(1, "a"), (2, "b"), (3, "abc"), (4, None)]
LONG = [(1, "a"), (2, "b"), (3, "abcd"), (5, "abc"), (6, None)]
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("l.c = r.c", {"how": "full", "algorithm": "der"}),
    ("l.c <=> r.c", {"how": "full", "algorithm": "ring"}),
    ("l.c = r.c", {"how": "anti", "algorithm": "replicate"}),
    ("l.c = r.c AND l.id <= r.id", {"how": "full"}),
    ("l.c = r.c AND l.id <= r.id", {"how": "left", "partitions": 3}),
    ("l.c >= r.c", {}),
    ("l.id <= r.id AND l.c <> r.c", {"how": "full"}),
    ("l.id <= r.id AND (l.c = 'a' OR r.c = 'b')", {}),
    ("l.id <= r.id AND (l.c IN ('a', 'abcd') OR l.c IN (r.c))", {"how": "left"}),
]


@pytest.fixture(scope="module")
def sides(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    at = tmp_path_factory.mktemp("char")
    yield _table(spark, at, "char_3", "CHAR(3)", SHORT), _table(spark, at, "char_6", "CHAR(6)", LONG)
    for name in ("char_3", "char_6"):
        spark.sql(f"DROP TABLE {name}")


def _table(spark: SparkSession, at: Path, name: str, kind: str, rows: list[Any]) -> DataFrame:
    spark.sql(f"CREATE TABLE {name} (id INT, c {kind}) USING parquet LOCATION '{at / name}'")
    spark.createDataFrame(rows, "id INT, c STRING").write.insertInto(name)
    return spark.table(name)


def _want(left: DataFrame, right: DataFrame, on: str, how: str) -> DataFrame:
    return left.alias("l").join(right.alias("r"), F.expr(on), how)


@pytest.mark.parametrize(("on", "call"), CALLS, ids=[f"{on} {call}" for on, call in CALLS])
def test_unlike_lengths_are_compared_as_spark_compares_them(sides: Sides, on: str, call: dict[str, Any]) -> None:
    assert_same_rows(dv.join(*sides, on=on, **call).toArrow(), _want(*sides, on, call.get("how", "inner")).toArrow())


@pytest.mark.parametrize(
    "settings",
    [{}, {"legacy.charVarcharAsString": "true"}]
    + [{"readSideCharPadding": "false", "legacy.noCharPaddingInPredicate": own} for own in ("false", "true")],
    ids=str,
)
def test_settings_say_who_fills_them_up(spark: SparkSession, tmp_path: Path, settings: dict[str, str]) -> None:
    spark.createDataFrame([(1, "a"), (2, "b  "), (3, "c")], "id INT, c STRING").write.parquet(str(tmp_path / "short"))
    kinds = {"filled": "CHAR(3)", "also": "CHAR(3)", "longer": "CHAR(6)"}
    for name, kind in kinds.items():
        spark.sql(f"CREATE TABLE {name} (id INT, c {kind}) USING parquet LOCATION '{tmp_path / 'short'}'")
    with changed(spark, {f"spark.sql.{name}": value for name, value in settings.items()}):
        for other in ("also", "longer"):
            for on in ("l.c = r.c", "l.id <= r.id AND l.c <> r.c", "l.id <= r.id AND (l.c = 'a  ' OR r.c = 'b')"):
                both = spark.table("filled"), spark.table(other)
                assert_same_rows(dv.join(*both, on=on).toArrow(), _want(*both, on, "inner").toArrow())
    for name in kinds:
        spark.sql(f"DROP TABLE {name}")


def test_keys_of_joins_by_time_are_too(sides: Sides) -> None:
    found = dv.asof_join(*sides, on="id", keys="c", direction="forward", how="inner")
    assert sorted((row["id"], row["r_id"]) for row in found.collect()) == [(1, 1), (2, 2), (3, 5)]


def test_only_what_spark_would_fill_up_is_filled_up() -> None:
    names = Inputs(Input("l", ("c", "s"), lengths=(("c", 3),)), Input("r", ("d", "s"), lengths=(("d", 6),)))
    for text, written in {
        "l.c = r.d": "RPAD(`l`.`c`, 6) = `r`.`d`",
        "'ab' < l.c": "RPAD('ab', 3) < `l`.`c`",
        "l.c = r.s": "`l`.`c` = `r`.`s`",
        "upper(l.c) = r.d": "UPPER(`l`.`c`) = `r`.`d`",
        "'a' = 'abc'": "'a' = 'abc'",
        "l.c IN ('a', r.d)": "`l`.`c` IN ('a', `r`.`d`)",
        "l.c BETWEEN 'a' AND r.d": "`l`.`c` BETWEEN 'a' AND `r`.`d`",
    }.items():
        assert parse(text, names).sql(dialect=names.dialect) == written


@pytest.mark.usefixtures("sides")
def test_columns_that_spark_itself_calls_char_stay_there(spark: SparkSession) -> None:
    with changed(spark, {"spark.sql.preserveCharVarcharTypeInfo": "true"}):
        left, right = (spark.table(name) for name in ("char_3", "char_6"))
        for on in ("l.c = r.c", "l.id < r.id", "l.c < r.c"):
            found, want = dv.join(left, right, on=on, how="full"), _want(left, right, on, "full")
            assert sorted(map(str, map(tuple, found.collect()))) == sorted(map(str, map(tuple, want.collect())))
        for algorithm in ("der", "ring", "replicate"):
            with pytest.raises(UnsupportedError, match=r"'l\.c' is char\(3\), which cannot pass from Spark to Python"):
                dv.join(left, right, on="l.id = r.id", how="full", algorithm=algorithm)
