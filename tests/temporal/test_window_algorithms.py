"""Window joins of tables by the algorithms of the online engine: the rows of the batch join, in its order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail._core.plan.online import ALGORITHMS
from dovetail._hosts.online import tables
from dovetail.errors import UsageError
from dovetail.testing import assert_same_rows
from tests.amount import one_in
from tests.temporal.drawn import window_cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.temporal.drawn import WindowCase

AGG = {"n": "count(*)", "last": "last(v)"}


@settings(max_examples=one_in(2))
@given(window_cases(), st.sampled_from(ALGORITHMS))
def test_every_algorithm_gives_the_naive_rows(case: WindowCase, algorithm: str) -> None:
    got = dv.window_join(case.left, case.right, windows=case.windows, algorithm=algorithm, **case.options)
    assert_same_rows(got, case.naive(), tolerance=1e-12)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_rows_stay_in_the_order_of_the_base(monkeypatch: pytest.MonkeyPatch, algorithm: str) -> None:
    monkeypatch.setattr(tables, "BATCH", 50)
    rng = np.random.default_rng(3)
    base, probe = (
        pa.table({"k": rng.integers(0, 4, n), "ts": pa.array([None, *rng.integers(0, 300, n - 1)]), "v": rng.random(n)})
        for n in (200, 400)
    )
    asked: dict[str, Any] = {"on": "ts", "keys": "k", "preceding": 9, "following": 4, "agg": AGG, "partitions": 2}
    got = dv.window_join(b=base, p=probe, algorithm=algorithm, **asked)
    assert got.equals(dv.window_join(b=base, p=probe, **asked))
    assert dv.explain(b=base, p=probe, algorithm=algorithm, **asked).algorithm == algorithm


def test_empty_tables_and_sums_that_overflow() -> None:
    rows = pa.table({"ts": [1, 2], "v": [2**62, 2**62]})
    asked: dict[str, Any] = {"on": "ts", "preceding": 5, "agg": {"sum": "sum(v)"}, "algorithm": "scale"}
    assert dv.window_join(rows.slice(2), rows, **asked).num_rows == 0
    assert dv.window_join(rows, rows.slice(2), **asked)["sum"].null_count == 2
    with pytest.raises(UsageError, match="sum"):
        dv.window_join(rows, rows, **asked)


def test_an_unknown_algorithm_is_refused() -> None:
    rows = pa.table({"ts": [1], "v": [1]})
    with pytest.raises(
        UsageError, match=r"algorithm 'fast' is not known; it is one of 'auto', 'key', 'split', 'scale'"
    ):
        dv.window_join(rows, rows, on="ts", preceding=1, agg=AGG, algorithm="fast")


def test_spark_has_none_of_them(spark: SparkSession) -> None:
    rows = spark.range(3).selectExpr("id AS ts", "id AS v")
    with pytest.raises(UsageError, match="algorithm 'key' joins tables and iterators of this process"):
        dv.window_join(rows, rows, on="ts", preceding=1, agg=AGG, algorithm="key")
    stream = spark.readStream.format("rate").load().selectExpr("timestamp AS ts", "value AS v")
    stream = stream.withWatermark("ts", "1 second")
    with pytest.raises(UsageError, match="algorithm"):
        dv.window_join(stream, stream, on="ts", preceding="1 second", agg=AGG, algorithm="key")
