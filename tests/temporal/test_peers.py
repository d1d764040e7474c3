"""Where DuckDB, Polars or Spark's own as-of join define the same thing, they agree with ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.testing import assert_same_rows
from tests.spark_answers import quick, spark_frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RANDOM = np.random.default_rng(11)
LEFT, RIGHT = (
    pa.table(
        {
            f"{side}_key": RANDOM.integers(0, 20, size),
            f"{side}_ts": RANDOM.permutation(5 * size)[:size],
            f"{side}_id": np.arange(size),
        }
    )
    for side, size in (("l", 3000), ("r", 2000))
)
ON, KEYS = ("l_ts", "r_ts"), [("l_key", "r_key")]
SIGNS = {("backward", False): ">=", ("backward", True): ">", ("forward", False): "<=", ("forward", True): "<"}


@pytest.mark.parametrize(("direction", "strict"), SIGNS)
@pytest.mark.parametrize("how", ["left", "inner", "right", "full"])
def test_duckdb_agrees(direction: str, how: str, *, strict: bool) -> None:
    got = dv.asof_join(LEFT, RIGHT, on=ON, keys=KEYS, direction=direction, strict=strict, how=how)
    with duckdb.connect(config={"threads": 1}) as session:
        session.register("l_table", LEFT)
        session.register("r_table", RIGHT)
        on = f"l_key = r_key AND l_ts {SIGNS[direction, strict]} r_ts"
        want = session.sql(f"FROM l_table ASOF {how} JOIN r_table ON {on}").to_arrow_table()
    assert_same_rows(got, want)


@pytest.mark.parametrize("strategy", ["backward", "forward", "nearest"])
def test_polars_agrees(strategy: Literal["backward", "forward", "nearest"]) -> None:
    got = dv.asof_join(LEFT, RIGHT, on=ON, keys=KEYS, direction=strategy, tolerance=40, nearest_tie="forward")
    left, right = (pl.DataFrame(own).sort(f"{side}_ts") for side, own in (("l", LEFT), ("r", RIGHT)))
    want = left.join_asof(
        right,
        left_on="l_ts",
        right_on="r_ts",
        by_left="l_key",
        by_right="r_key",
        strategy=strategy,
        tolerance=40,
        coalesce=False,
        check_sortedness=False,
    )
    shown = ["l_id", "r_id"]
    assert_same_rows(got.select(shown), want.select(shown).to_arrow())


def test_spark_agrees(spark: SparkSession) -> None:
    left, right = spark_frame(spark, LEFT), spark_frame(spark, RIGHT)
    with quick(spark):
        spark.conf.set("spark.sql.join.sortMergeAsOfJoin.enabled", "true")
        same_key = left["l_key"] == right["r_key"]
        want = left._joinAsOf(right, "l_ts", "r_ts", on=same_key, how="left", direction="forward").toArrow()
        spark.conf.unset("spark.sql.join.sortMergeAsOfJoin.enabled")
    assert_same_rows(dv.asof_join(LEFT, RIGHT, on=ON, keys=KEYS, direction="forward"), want)
