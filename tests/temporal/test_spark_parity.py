"""As-of and window joins on Spark: the naive reference's rows on any number of cells, classic and Connect."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.testing import assert_same_rows
from tests.amount import one_in
from tests.spark_answers import quick, spark_frame
from tests.temporal.drawn import AsOfCase, sample_asof, sample_windows

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession

    from tests.temporal.drawn import WindowCase

CELLS = [3, None, 17, 1, 3]


def _joined(spark: SparkSession, case: AsOfCase | WindowCase, cells: int | None) -> Any:
    left, right = spark_frame(spark, case.left), spark_frame(spark, case.right)
    if isinstance(case, AsOfCase):
        return dv.asof_join(left, right, **case.options, partitions=cells).toArrow()
    return dv.window_join(left, right, windows=case.windows, **case.options, partitions=cells).toArrow()


@pytest.mark.parametrize("sample", [sample_asof, sample_windows])
def test_any_number_of_cells_gives_the_naive_rows(spark: SparkSession, sample: Callable[..., list[Any]]) -> None:
    placed = [(case, CELLS[i % len(CELLS)]) for i, case in enumerate(sample(one_in(33), seed=1))]
    with quick(spark), ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda own: _joined(spark, *own), placed))
    for got, (case, cells) in zip(found, placed, strict=True):
        print(case, cells)  # noqa: T201 -- shown if the next line fails
        assert_same_rows(got, case.naive(), tolerance=1e-12)


def test_connect_gives_the_same_rows(connect_mode: Callable[[], AbstractContextManager[SparkSession]]) -> None:
    drawn: list[AsOfCase | WindowCase] = [*sample_asof(1, seed=2), *sample_windows(1, seed=2)]
    with connect_mode() as session:
        found = [_joined(session, case, 3) for case in drawn]
    for got, case in zip(found, drawn, strict=True):
        assert_same_rows(got, case.naive(), tolerance=1e-12)


def test_keys_may_be_comparisons(spark: SparkSession) -> None:
    left, right = pa.table({"k": [1, 5], "ts": [3, 9]}), pa.table({"b": [2, 7], "at": [1, 2]})
    options: dict[str, Any] = {"on": ("ts", "at"), "keys": [("k > 2", "b > 2"), ("NOT k > 9", "b < 9")]}
    got = dv.asof_join(spark_frame(spark, left), spark_frame(spark, right), **options).toArrow()
    want = [{"k": 1, "ts": 3, "b": 2, "at": 1}, {"k": 5, "ts": 9, "b": 7, "at": 2}]
    assert sorted(got.to_pylist(), key=lambda row: row["k"]) == want
    assert dv.asof_join(left, right, **options).to_pylist() == want


@pytest.mark.parametrize("keys", [None, "k"])
def test_one_hot_key_and_no_key_are_cut_by_time_without_loss(spark: SparkSession, keys: str | None) -> None:
    random = np.random.default_rng(3)
    left, right = (
        pa.table(
            {
                "k": np.where(random.random(size) < 0.9, 7, random.integers(0, 5, size)),
                "ts": random.integers(0, 5000, size),
                "id": np.arange(size),
            }
        )
        for size in (4000, 3000)
    )
    ours, theirs = spark_frame(spark, left), spark_frame(spark, right)
    options: dict[str, Any] = {"how": "full", "direction": "nearest" if keys else "forward", "tolerance": 2}
    got = dv.asof_join(ours, theirs, on="ts", keys=keys, partitions=5, **options).toArrow()
    assert_same_rows(got, dv.asof_join(left, right, on="ts", keys=keys, **options))
    window: dict[str, Any] = {
        "preceding": 20,
        "following": -3,
        "include_prevailing": True,
        "agg": {"n": "count(*)", "s": "sum(id)"},
    }
    got = dv.window_join(ours, theirs, on="ts", keys=keys, partitions=5, **window).toArrow()
    assert_same_rows(got, dv.window_join(left, right, on="ts", keys=keys, **window))


def test_windows_longer_than_a_cell_get_fewer_cells_and_lose_nothing(spark: SparkSession) -> None:
    size = 30_000
    left, right = (
        pa.table({"ts": np.random.default_rng(seed).integers(0, size, size), "x": np.arange(size, dtype=np.float64)})
        for seed in (1, 2)
    )
    options: dict[str, Any] = {"on": "ts", "preceding": "unbounded", "agg": {"n": "count(*)", "s": "sum(x)"}}
    got = dv.window_join(spark_frame(spark, left), spark_frame(spark, right), **options).toArrow()
    assert_same_rows(got, dv.window_join(left, right, **options))


def test_rows_of_two_hundred_columns_travel_whole(spark: SparkSession) -> None:
    random, size = np.random.default_rng(4), 2000
    ours = {"k": random.integers(0, 9, size), "ts": random.integers(0, size, size)}
    left = pa.table(ours | {f"c{i}": random.integers(0, 99, size) for i in range(200)})
    right = pa.table({"k": ours["k"][::-1], "ts": ours["ts"], "x": np.arange(size)})
    frames = spark_frame(spark, left), spark_frame(spark, right)
    options: dict[str, Any] = {"on": "ts", "keys": "k"}
    got = dv.asof_join(*frames, **options, partitions=3).toArrow()
    assert_same_rows(got, dv.asof_join(left, right, **options))
    options |= {"preceding": 20, "agg": {"n": "count(*)", "s": "sum(x)"}}
    got = dv.window_join(*frames, **options, partitions=3).toArrow()
    assert_same_rows(got, dv.window_join(left, right, **options))
