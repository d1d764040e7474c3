"""A temporal join of DataFrames gives the rows of the naive reference."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import dovetail as dv
from dovetail.testing import assert_same_rows
from tests.spark_answers import quick, spark_frame
from tests.streams.drawn import sample_temporal

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from tests.streams.drawn import TemporalCase

EXAMPLES = max(3, int(os.environ.get("DOVETAIL_EXAMPLES", "200")) // 66)


def _joined(spark: SparkSession, case: TemporalCase) -> pa.Table:
    frames: dict[str, Any] = {name: spark_frame(spark, table) for name, table in case.tables.items()}
    return dv.temporal_join(**frames, **case.options).toArrow()


def test_dataframes_give_the_naive_rows(spark: SparkSession) -> None:
    _same(spark, sample_temporal(EXAMPLES, seed=1))


@pytest.mark.slow
def test_three_dataframes_give_the_naive_rows(spark: SparkSession) -> None:
    _same(spark, sample_temporal(EXAMPLES, seed=2, inputs=3))


def _same(spark: SparkSession, drawn: list[TemporalCase]) -> None:
    with quick(spark), ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda case: _joined(spark, case), drawn))
    for got, case in zip(found, drawn, strict=True):
        print(case)  # noqa: T201 -- shown if the next line fails
        assert_same_rows(got, case.naive())
