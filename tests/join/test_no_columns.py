"""Results that read no column of a side, or of any: their rows are counted all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import dovetail as dv

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame, SparkSession

ON = "l.v > r.w AND l.id % 3 = r.rid % 3"
HOWS = ["inner", "left", "right", "full", "semi", "anti"]


def _sides(spark: SparkSession) -> tuple[DataFrame, DataFrame]:
    return spark.range(6).selectExpr("id", "id * 2 AS v"), spark.range(-3, 5).selectExpr("id AS rid", "id + 3 AS w")


def _want(left: DataFrame, right: DataFrame, on: str, how: str) -> int:
    return left.alias("l").join(right.alias("r"), F.expr(on), how).count()


@pytest.mark.parametrize(
    ("how", "wanted"), [("inner", 6), ("left", 6), ("right", 6), ("full", 6), ("semi", 2), ("anti", 0)]
)
def test_tables_without_columns_have_rows(how: str, wanted: int) -> None:
    left, right = (pa.table({"n": range(size)}).select([]) for size in (2, 3))
    assert dv.join(left, right, on="TRUE", how=how).num_rows == wanted
    assert dv.join(left, right, on="FALSE", how=how).num_rows == {"inner": 0, "right": 3, "full": 5, "semi": 0}.get(
        how, 2
    )


@pytest.mark.parametrize("algorithm", ["auto", "broadcast", "range"])
@pytest.mark.parametrize("how", HOWS)
def test_a_constant_stands_in_every_row(spark: SparkSession, how: str, algorithm: str) -> None:
    left, right = _sides(spark)
    found = dv.join(left, right, on=ON, how=how, select="1 AS one", algorithm=algorithm)
    assert [row.one for row in found.collect()] == [1] * _want(left, right, ON, how)


@pytest.mark.parametrize("algorithm", ["ring", "redistribute", "replicate", "der"])
def test_outer_joins_by_key_count_rows_that_show_nothing(spark: SparkSession, algorithm: str) -> None:
    left, right = _sides(spark)
    found = dv.join(left, right, on="l.v = r.w", how="full", select="1 AS one", algorithm=algorithm)
    assert found.count() == _want(left, right, "l.v = r.w", "full")


@pytest.mark.parametrize("select", ["l.id", "r.w"])
def test_a_full_join_that_shows_one_side_keeps_the_rows_of_both(spark: SparkSession, select: str) -> None:
    left, right = _sides(spark)
    assert dv.join(left, right, on=ON, how="full", select=select).count() == _want(left, right, ON, "full")


def test_connect_counts_them_too(connect_mode: Callable[[], AbstractContextManager[SparkSession]]) -> None:
    with connect_mode() as session:
        left, right = _sides(session)
        assert dv.join(left, right, on=ON, how="left", select="1 AS one").count() == _want(left, right, ON, "left")
