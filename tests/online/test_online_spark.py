"""The engine, the Arrow host and the Spark host give the same rows for the document's streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import dovetail as dv
from dovetail.lab.online_measure import AGG, engine_for, tables
from dovetail.lab.online_streams import STREAMS, arrivals
from dovetail.testing import assert_same_rows
from tests.spark_answers import spark_frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("name", ["C", *(pytest.param(name, marks=pytest.mark.slow) for name in "ABD")])
def test_a_stream_gives_the_same_rows_on_every_host(name: str, spark: SparkSession) -> None:
    stream = STREAMS[name].scaled(rate=200.0)
    base, probe = tables(stream, 1500)
    asked: dict[str, Any] = {"on": "ts", "keys": "k", "preceding": stream.window, "agg": AGG}
    engine = engine_for(stream, joiners=2)
    pushed = [row for p, b in arrivals(stream, 1500).batches(300) for row in engine.push(b, p).to_pylist()]
    pushed += engine.close().to_pylist()
    on_spark = dv.window_join(spark_frame(spark, base), spark_frame(spark, probe), **asked)
    assert_same_rows(pushed, dv.window_join(base, probe, **asked), tolerance=1e-12)
    assert_same_rows(pushed, [row.asDict() for row in on_spark.collect()], tolerance=1e-12)
