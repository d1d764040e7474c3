"""Intervals of every type that has lengths, placed into boxes on Spark: as Spark joins them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

import dovetail as dv
from dovetail.testing import assert_same_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DAY = "DATE'2024-03-30'"
SECONDS = "make_dt_interval(0, 0, 0, {} * 37.25)"
TYPES = {
    "tinyint": "CAST({} % 250 - 125 AS TINYINT)",
    "bigint": "9223372036854700000 + CAST({} * 17 AS BIGINT)",
    "decimal": "CAST({} AS DECIMAL(12, 3)) / 7",
    "wide decimal": "CAST({} AS DECIMAL(38, 10)) * 1000000000000",
    "float": "CAST({} / 3 AS FLOAT)",
    "double": "CASE WHEN {0} % 97 = 0 THEN CAST('NaN' AS DOUBLE) WHEN {0} % 89 = 0 THEN CAST('Infinity' AS DOUBLE) "
    "ELSE {0} / 7 END",
    "date": f"date_add({DAY}, CAST({{}} AS INT))",
    "timestamp": f"CAST({DAY} AS TIMESTAMP_LTZ) + {SECONDS}",
    "timestamp_ntz": f"CAST({DAY} AS TIMESTAMP_NTZ) + {SECONDS}",
    "string": "CAST(100000 + {} AS STRING)",
}


def _intervals(spark: SparkSession, kind: str, rows: int, step: int) -> DataFrame:
    """Short intervals, and one in 50 that is 100 times longer."""
    value = TYPES[kind]
    start = f"(id * {step}) % 4001"
    length = "(id % 7 + IF(id % 50 = 0, 700, 0))"
    return spark.range(rows).selectExpr(
        "id", f"{value.format(start)} AS s", f"{value.format(f'({start} + {length})')} AS e"
    )


@pytest.mark.parametrize("kind", TYPES)
def test_boxes_of_intervals_lose_no_pair(spark: SparkSession, kind: str) -> None:
    left, right = _intervals(spark, kind, 300, 1_237), _intervals(spark, kind, 280, 2_003)
    for on in ("l.s < r.e AND r.s < l.e", "l.s BETWEEN r.s AND r.e"):
        got = dv.join(left, right, on=on, how="left", algorithm="range", partitions=6)
        want = left.alias("l").join(right.alias("r"), F.expr(on), "left")
        assert_same_rows(got.toArrow(), want.toArrow())


def test_rows_of_the_other_side_move_to_few_boxes(spark: SparkSession) -> None:
    left, right = _intervals(spark, "timestamp", 4_000, 1), _intervals(spark, "timestamp", 4_000, 3)
    plan = dv.explain(left, right, on="l.s < r.e AND r.s < l.e", algorithm="range", partitions=8)
    assert plan.rows_moved is not None
    assert plan.rows_moved < 3.5 * 4_000  # without lengths, one box would get all rows, another half of them, and so on
