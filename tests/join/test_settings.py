"""Sessions with settings of their own: every plan gives the rows that it gives without them."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.errors import UnsupportedError
from dovetail.testing import assert_same_rows
from tests.spark_answers import changed, spark_frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

ARROW = "spark.sql.execution.arrow"
SQL = "spark.sql"
SETTINGS = [
    {
        f"{ARROW}.useLargeVarTypes": "true",
        f"{SQL}.adaptive.enabled": "false",
        f"{SQL}.autoBroadcastJoinThreshold": "-1",
        f"{SQL}.subexpressionElimination.enabled": "false",
    },
    {
        f"{ARROW}.maxRecordsPerBatch": "0",
        f"{SQL}.ansi.enabled": "false",
        f"{SQL}.codegen.wholeStage": "false",
        f"{SQL}.crossJoin.enabled": "false",
    },
    {
        f"{ARROW}.maxBytesPerBatch": "64",
        f"{ARROW}.pyspark.enabled": "false",
        f"{SQL}.caseSensitive": "true",
        f"{SQL}.shuffle.partitions": "1",
    },
]
ROWS = 120
LETTERS = "abcÄz "


def _table(step: int) -> pa.Table:
    """Numbers, texts and bytes that repeat, some of them missing."""
    numbers = [None if i % 17 == 0 else i * step % 41 for i in range(ROWS)]
    texts = [None if n is None else LETTERS[n % 6] * (n % 3) + LETTERS[n % 5] for n in numbers]
    stops = [None if n is None else n + i % 4 for i, n in enumerate(numbers)]
    data = [None if text is None else text.encode() for text in texts]
    return pa.table({"n": numbers, "m": stops, "s": texts, "b": pa.array(data, pa.binary()), "id": range(ROWS)})


def _calls(left: DataFrame, right: DataFrame) -> list[Callable[[], DataFrame]]:
    """One call for each way in which rows travel."""
    join, right_once = partial(dv.join, left, right), right.dropDuplicates(["n"])
    folded = {"least": "min(r.s)", "rows": "count(*)"}
    return [
        partial(join, on="l.n >= r.n AND l.n < r.m"),
        partial(join, on="l.n >= r.n AND l.n < r.m", how="full"),
        partial(join, on="l.s < r.s AND l.id = r.id", how="full", partitions=3),
        partial(join, on="l.b > r.b AND l.id > r.id + 100 AND soundex(l.s) <> r.s", how="full"),
        partial(join, on="l.n > r.n", select="l.s, r.b, r.id"),
        partial(join, on="l.n > r.n", algorithm="prefap", partitions=3, select="l.id, r.s"),
        partial(join, on="l.n <= r.n", agg=folded, per="l"),
        *(partial(join, on="l.s = r.s", how="full", algorithm=way) for way in ("der", "replicate", "ring")),
        partial(dv.join, left, right_once, on="l.n = r.n", how="right", select="l.id, r.n, r.s"),
        partial(dv.asof_join, left, right, on="n", keys="s", how="left"),
        partial(dv.window_join, left, right, on="n", keys="s", preceding=3, agg={"least": "min(b)"}),
        partial(dv.join, a=left, b=right, c=left, on="a.n = b.m AND b.id = c.id AND a.s <> c.s"),
    ]


@pytest.fixture(scope="module")
def sides(spark: SparkSession) -> tuple[DataFrame, DataFrame]:
    return spark_frame(spark, _table(7)).repartition(2), spark_frame(spark, _table(11)).repartition(2)


@pytest.fixture(scope="module")
def wanted(sides: tuple[DataFrame, DataFrame]) -> list[pa.Table]:
    return _all(sides)


def _all(sides: tuple[DataFrame, DataFrame]) -> list[pa.Table]:
    with ThreadPoolExecutor(3) as pool:
        return list(pool.map(lambda call: call().toArrow(), _calls(*sides)))


@pytest.mark.parametrize("settings", SETTINGS, ids=", ".join)
def test_settings_change_no_row(
    spark: SparkSession, sides: Any, wanted: list[pa.Table], monkeypatch: pytest.MonkeyPatch, settings: dict[str, str]
) -> None:
    monkeypatch.setattr("dovetail._hosts.spark.known.FEW_PAIRS", 0)  # small sides are unfolded
    with changed(spark, settings):
        found = _all(sides)
    assert all(table.num_rows for table in found)
    assert sum(table.num_rows for table in found) > 10 * ROWS
    for got, want in zip(found, wanted, strict=True):
        assert_same_rows(got.cast(want.schema), want)  # texts may have been asked for as large ones


@pytest.mark.parametrize(
    ("setting", "on"),
    [
        ({f"{SQL}.parser.escapedStringLiterals": "true"}, r"l.n <= r.n AND (l.s = 'a\b3' OR r.s = 'a\b5')"),
        ({f"{SQL}.decimalOperations.allowPrecisionLoss": "false"}, "l.n <= r.n AND l.d * r.d < 1.524158"),
    ],
)
def test_settings_that_change_what_a_test_means_are_heeded(spark: SparkSession, setting: Any, on: str) -> None:
    text, number = r"concat('a\\b', id) s", "CAST(1.23456789 AS DECIMAL(38, 18)) d"
    rows = spark.range(6).selectExpr("id n", text, number)
    with changed(spark, setting):
        got, want = (dv.join(rows, rows, on=on, algorithm=way).count() for way in ("auto", "spark"))
    assert got == want > 0


@pytest.mark.parametrize("named", ["false", "true"])
@pytest.mark.parametrize("text", [r"'\d'", "'it''s'"])
def test_a_text_that_a_setting_takes_as_it_stands_is_not_changed(spark: SparkSession, text: str, named: str) -> None:
    rows = spark.range(3).selectExpr("id n", "'a' s")
    with (
        changed(spark, {f"{SQL}.parser.escapedStringLiterals": "true", f"{SQL}.ansi.doubleQuotedIdentifiers": named}),
        pytest.raises(UnsupportedError, match=rf"text {re.escape(text)} has an escape, .*Hint: unset it"),
    ):
        dv.join(rows, rows, on=f"l.n <= r.n AND l.s RLIKE {text}")


@pytest.mark.parametrize(
    ("left", "right"), [("INT", "FLOAT"), ("BIGINT", "DOUBLE"), ("DECIMAL(10, 1)", "DOUBLE"), ("DATE", "TIMESTAMP")]
)
def test_unlike_types_have_an_order_without_ansi_mode(spark: SparkSession, left: str, right: str) -> None:
    near = "date_add(DATE'2024-03-30', CAST(id AS INT))" if left == "DATE" else "16777215 + id"
    ours, theirs = (spark.range(4).selectExpr(f"CAST({near} AS {kind}) x", "id") for kind in (left, right))
    with changed(spark, {f"{SQL}.ansi.enabled": "false", f"{SQL}.session.timeZone": "Europe/Berlin"}):
        assert "nested loop" not in str(dv.explain(ours, theirs, on="l.x < r.x"))
        got, want = (dv.join(ours, theirs, on="l.x < r.x", algorithm=way).toArrow() for way in ("auto", "spark"))
        last = dv.asof_join(ours, theirs, on="x", strict=True).where("r_id IS NOT NULL").selectExpr("id", "r_id")
        assert sorted(last.collect()) == [(1, 0), (2, 0 if right == "FLOAT" else 1), (3, 2)]  # FLOAT has no 2^24 + 1
    assert_same_rows(got, want)


@pytest.mark.parametrize("setting", [{"ansi.enabled": "false"}, {"session.timeZone": "Asia/Kathmandu"}])
def test_columns_of_one_type_are_compared_alike_under_all_settings(spark: SparkSession, setting: Any) -> None:
    rows = spark.range(6).selectExpr("id", "timestamp_seconds(id % 3) t", "id % 2 n")
    where = "l.t <> r.t AND (l.n = r.n OR l.id > 4 OR r.n IS NULL)"
    with changed(spark, {f"{SQL}.{name}": value for name, value in setting.items()}):
        got = dv.asof_join(rows, rows, on="id", where=where, how="inner").selectExpr("id", "r_id").collect()
    assert sorted(got) == [(2, 0), (3, 1), (4, 2), (5, 4)]


@pytest.mark.parametrize(
    "call", [{"on": "l.d = r.d", "algorithm": "ring"}, {"on": "l.d < r.d"}, {"on": "l.n <= r.n AND l.d <> r.d"}]
)
def test_decimals_that_are_too_wide_keep_their_fractions_where_the_session_says_so(
    spark: SparkSession, call: dict[str, Any]
) -> None:
    left = spark.range(9).selectExpr("CAST(id AS DECIMAL(38, 18)) / 7 d", "id n")
    right = spark.range(9).selectExpr("CAST(id AS DECIMAL(38, 10)) / 7 d", "id n")
    with changed(spark, {f"{SQL}.legacy.decimal.retainFractionDigitsOnTruncate": "true"}):
        got, want = (
            dv.join(left, right, **{"how": "full", **call, **way}).toArrow() for way in ({}, {"algorithm": "spark"})
        )
    assert_same_rows(got, want)
