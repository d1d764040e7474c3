"""The partitioned theta-joins on Spark: the same counts, Spark's own rows, and a choice that says why."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.errors import UsageError
from dovetail.testing import assert_same_rows
from tests.placement.test_theta import EXAMPLE, VARIANTS, R, S
from tests.spark_answers import quick, spark_frame
from tests.strategies import sample

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.strategies import Case

CASES = 9


def test_the_worked_example_on_spark(spark: SparkSession) -> None:
    sides: dict[str, Any] = {"r": spark_frame(spark, R), "s": spark_frame(spark, S)}
    with quick(spark):
        for call, expected in (EXAMPLE[3], EXAMPLE[5], EXAMPLE[8]):
            plan = dv.explain(**sides, on="r.a > s.b", partitions=3, **{"window": 1000, **call})
            assert (plan.results, plan.exact, plan.products) == (27, True, expected)


def _without_keys() -> list[Case]:
    """Joins that the family takes: one inequality, no equality."""
    found = []
    for case in sample("one_inequality", 6 * CASES, seed=5):
        try:
            dv.explain(case.left, case.right, on=case.on, algorithm="prefap")
        except UsageError:
            continue
        found.append(case)
    return found[:CASES]


def test_spark_gives_the_naive_rows_by_every_algorithm(spark: SparkSession) -> None:
    cases = list(enumerate(_without_keys()))
    assert len(cases) == CASES

    def joined(own: tuple[int, Case]) -> Any:
        number, case = own
        left, right = spark_frame(spark, case.left), spark_frame(spark, case.right)
        call = VARIANTS[number % len(VARIANTS)]
        return dv.join(left, right, on=case.on, how=case.how, partitions=1 + number % 4, **call).toArrow()

    with quick(spark), ThreadPoolExecutor(3) as pool:
        found = list(pool.map(joined, cases))
    for (number, case), got in zip(cases, found, strict=True):
        print(f"{case.how} join on {case.on} by {VARIANTS[number % len(VARIANTS)]}")  # noqa: T201 -- shown on failure
        assert_same_rows(got, case.naive())


def _numbers(spark: SparkSession, values: Any) -> Any:
    return spark_frame(spark, pa.table({"x": pa.array(values, pa.float64())}))


def test_auto_leaves_a_dense_join_to_spark_and_says_so(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail._hosts.spark.known.BOTH_BYTES", 0)  # else its slices are unfolded
    dice = np.random.default_rng(1)
    ours, theirs = _numbers(spark, dice.uniform(0, 1, 4000)), _numbers(spark, dice.uniform(0.5, 1.5, 4000))
    dense = dv.explain(ours, theirs, on="l.x < r.x")
    assert dense.algorithm == "spark"
    assert re.search(r"about 8\d% of all pairs match, 1[34],", dense.reason)
    assert "Spark's own nested loop hands them out fastest" in dense.reason
    assert dv.join(ours, theirs, on="l.x < r.x").count() == pytest.approx(14_000_000, rel=0.05)
    sparse = dv.explain(ours, _numbers(spark, dice.uniform(-0.9, 0.1, 4000)), on="l.x < r.x")
    assert sparse.algorithm == "broadcast"
    assert dv.explain(ours, theirs, on="l.x < r.x", how="left").algorithm == "broadcast"


def test_auto_weighs_ranges_against_dealt_cells(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "_core.plan.decide.BROADCAST_BYTES",
        "_hosts.spark.known.BROADCAST_BYTES",
        "_hosts.spark.known.BOTH_BYTES",
    ):
        monkeypatch.setattr(f"dovetail.{name}", 0)
    dice = np.random.default_rng(2)
    ours, theirs = _numbers(spark, dice.uniform(0, 1, 2000)), _numbers(spark, dice.uniform(-0.9, 0.1, 2000))
    plan = dv.explain(ours, theirs, on="l.x < r.x")
    assert plan.algorithm in ("range", "prefap")
    assert "value ranges move about" in plan.reason
    assert "prefap's cells by quantile move about" in plan.reason
    equal = _numbers(spark, np.zeros(2000))
    uneven = dv.explain(equal, _numbers(spark, dice.uniform(-30, 1, 2000)), on="l.x < r.x")
    assert uneven.algorithm == "prefap"
    got = dv.join(equal, _numbers(spark, [1.0, -1.0, 0.0]), on="l.x <= r.x")
    assert got.count() == 4000
