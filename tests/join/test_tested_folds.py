"""Folds over pairs that only Spark can test: the same as where tasks test them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail._core.condition.inputs import Input, Inputs
from dovetail._core.plan.query import read_query
from dovetail._hosts.spark.tested import Folding
from dovetail.testing import assert_same_rows, naive_aggregate
from tests.spark_answers import changed, spark_frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ONLY_SPARK = {"spark.sql.ansi.enabled": "false"}
"""Where tasks do not trust in what arithmetic means."""
EVERY = {
    "n": "count(*)",
    "some": "count(r.f)",
    "sum": "sum(r.f)",
    "mean": "avg(r.b)",
    "least": "min(r.s)",
    "most": "max(r.f)",
    "first": "first(r.s)",
    "last": "last(r.f)",
    "spread": "stddev(r.b)",
    "kinds": "count_distinct(r.s)",
    "big": "sum(r.b) FILTER (WHERE r.b > 3)",
}
PLACEMENTS: list[dict[str, Any]] = [{}, {"algorithm": "broadcast"}, {"algorithm": "range", "partitions": 3}]


def _sides() -> tuple[pa.Table, pa.Table]:
    rng = np.random.default_rng(5)
    left = pa.table({"id": np.arange(60), "a": rng.integers(0, 12, 60), "k": rng.integers(0, 3, 60)})
    floats = [None if own < 0.1 else float("nan") if own < 0.2 else round(own, 3) for own in rng.random(70)]
    right = {"b": pa.array(rng.integers(0, 12, 70)), "k": pa.array(rng.integers(0, 3, 70)), "f": pa.array(floats)}
    return left, pa.table(right | {"s": pa.array([None if own < 0.1 else f"s{own:.1f}" for own in rng.random(70)])})


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("on", ["l.a < r.b AND l.a + r.b <> 9", "l.k = r.k AND l.a - r.b < 2 AND l.a * r.b > 20"])
def test_folds_of_pairs_that_spark_tests(spark: SparkSession, on: str, placement: dict[str, Any]) -> None:
    left, right = _sides()
    expected = naive_aggregate(left, right, on, EVERY)
    with changed(spark, ONLY_SPARK):
        frames = spark_frame(spark, left), spark_frame(spark, right)
        assert_same_rows(dv.join(*frames, on=on, agg=EVERY, per="l", **placement), expected, tolerance=1e-12)
        assert_same_rows(
            dv.join(*frames, on=on, agg=EVERY, per="l", how="left", select="l.id, l.a, l.k"), expected, tolerance=1e-12
        )


def test_rows_of_either_side_that_their_own_filters_drop_are_folded_as_without_partners(spark: SparkSession) -> None:
    left, right = _sides()
    on, agg = "l.a < r.b AND l.a + r.b <> 9 AND l.k > 0 AND r.k > 1", {"n": "count(*)", "last": "last(l.id)"}
    with changed(spark, ONLY_SPARK):
        frames = spark_frame(spark, left), spark_frame(spark, right)
        got = dv.join(*frames, on=on, agg=agg, per="r")
        assert_same_rows(got, naive_aggregate(left, right, on, agg, per="r"))
        assert dv.explain(*frames, on=on, agg=agg, per="r").algorithm == "broadcast"


def test_functions_that_only_spark_has_may_stand_beside_folds(spark: SparkSession) -> None:
    words = spark.createDataFrame([("kitten", 1), ("sitting", 2), ("mitten", 3)], "word STRING, at INT")
    got = dv.join(words, words, on="l.at <> r.at AND levenshtein(l.word, r.word) < 3", agg={"n": "count(*)"}, per="l")
    assert_same_rows(got.select("word", "n"), [("kitten", 1), ("sitting", 0), ("mitten", 1)])


def test_batches_may_end_anywhere() -> None:
    """A task's candidates and lone rows come in batches that know nothing of its stretches of anchor rows."""
    told = [(0, True, True, 5), (1, True, False, 9), (1, True, True, 3), (0, True, True, 1), (0, False, None, None)]
    told += [(1, False, None, None), (2, False, None, None), (4, True, True, 7), (3, False, None, None)]
    told += [(4, False, None, None)]
    columns = dict(zip(("row", "paired", "holds", "o0"), map(list, zip(*told, strict=True)), strict=True))
    table = pa.table(columns | {"a0": columns["row"]})
    for size in range(1, len(told) + 1):
        rows = [table.slice(i, size).combine_chunks().to_batches()[0] for i in range(0, len(told), size)]
        found = pa.Table.from_batches(_folding()(iter(rows)))
        assert found.to_pydict() == {"a0": [0, 1, 2, 3, 4], "o0": [6, 3, None, None, 7]}


def _folding() -> Folding:
    inputs = Inputs(Input("l", ("x",)), Input("r", ("y",)))
    query = read_query(inputs, on="l.x < r.y", agg={"sum": "sum(r.y)"}, per="l")
    return Folding(query.aggregates, ("a0",), (("g0", "o0"),))
