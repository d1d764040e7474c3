"""The plans of joins by time, on both hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRADES = pa.table({"sym": ["A", "A", "B"], "ts": [3, 9, 5]})
QUOTES = pa.table({"sym": ["A", "A", "B"], "at": [1, 8, 7], "bid": [100, 101, 50]})
COUNT = {"n": "count(*)"}


def test_an_as_of_join_says_what_it_picks() -> None:
    plan = dv.explain(TRADES, QUOTES, on=("ts", "at"), keys="sym", direction="nearest", tolerance=5, where="r.bid > 0")
    assert (plan.kind, plan.how, plan.results, plan.exact) == ("as-of", "left", 3, True)
    assert plan.condition == "l.sym = r.sym AND l.ts near r.at"
    assert ("picks", "r.at the nearest to l.ts, within 5; of one time, the last") in plan.uses
    assert (
        plan.results
        == dv.asof_join(
            TRADES,
            QUOTES,
            on=("ts", "at"),
            keys="sym",
            direction="nearest",
            tolerance=5,
            where="r.bid > 0",
            how="inner",
        ).num_rows
    )


def test_a_window_join_says_what_it_folds() -> None:
    windows = [{"preceding": 5}, {"preceding": "unbounded", "closed": "left", "agg": {"m": "max(bid)"}}]
    plan = dv.explain(TRADES, QUOTES, on=("ts", "at"), keys="sym", agg=COUNT, windows=windows)
    assert plan.kind == "window"
    assert plan.results == 3
    assert plan.uses == (
        ("r.at in [-5, +0]", "count(*) AS n"),
        ("r.at in [-unbounded, +0)", "max(r.bid) AS m"),
    )


@pytest.mark.parametrize(
    ("ends", "told"),
    [({"preceding": -3, "following": 5}, "[+3, +5]"), ({"preceding": 5, "following": -1}, "[-5, -1]")],
)
def test_ends_on_the_other_side_of_a_row_s_time_have_its_sign(ends: dict[str, int], told: str) -> None:
    plan = dv.explain(TRADES, QUOTES, on=("ts", "at"), agg=COUNT, **ends)
    assert plan.uses == ((f"r.at in {told}", "count(*) AS n"),)


def test_options_of_two_joins_are_refused() -> None:
    with pytest.raises(UsageError, match="no join takes 'direction', 'per' together"):
        dv.explain(TRADES, QUOTES, on="l.ts < r.at", direction="forward", per="l")


def test_a_plan_refuses_what_the_join_would() -> None:
    with pytest.raises(UsageError, match="column 'tz' not found"):
        dv.explain(TRADES, QUOTES, on=("tz", "at"))


@pytest.mark.parametrize(
    ("keys", "algorithm"), [(None, "time ranges"), ("even", "hash"), ("hot", "hash and time ranges")]
)
def test_spark_counts_what_every_cell_gets(spark: SparkSession, keys: str | None, algorithm: str) -> None:
    at = np.arange(2_000)
    table = pa.table({"at": at, "even": at % 500, "hot": np.where(at % 3 == 0, at, 0)})
    left, right = spark.createDataFrame(table), spark.createDataFrame(table)
    plan = dv.explain(left, right, on="at", keys=keys, direction="backward", partitions=4)
    assert plan.algorithm == algorithm
    assert plan.rows_moved is not None
    assert 4_000 <= plan.rows_moved < 4_400
    assert plan.cells >= 4
    assert 1.0 <= plan.load_in < 2.5


def test_spark_joins_few_rows_in_one_cell_at_once(spark: SparkSession) -> None:
    left, right = spark.createDataFrame(TRADES), spark.createDataFrame(QUOTES)
    plan = dv.explain(left, right, on=("ts", "at"), keys="sym", preceding=5, agg=COUNT)
    assert (plan.algorithm, plan.cells, plan.rows_moved) == ("one cell", 1, 6)


def test_a_temporal_join_is_an_overlap(spark: SparkSession) -> None:
    table = pa.table({"x": [1, 2], "start": [0, 5], "end": [6, 9]})
    call: dict[str, Any] = {"on": "a.x = b.x", "valid": ("start", "end")}
    plan = dv.explain(a=table, b=table, how="left", **call)
    assert (plan.kind, plan.how, plan.results) == ("temporal, overlap", "left", 2)
    assert dv.explain(a=table, b=table, algorithm="tpmj", **call).algorithm == "tpmj"
    assert dv.explain(a=table, b=table, c=table, on="a.x = b.x AND b.x = c.x", valid=("start", "end")).results == 2
    frame = spark.createDataFrame(table)
    assert dv.explain(a=frame, b=frame, **call).kind == "temporal, overlap"
