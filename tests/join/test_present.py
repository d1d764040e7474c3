"""Words for the present in a condition mean the moment of the call, on both sides and in every job."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

import dovetail as dv

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def _later(frame: DataFrame) -> int:
    """Count the rows after the clock has shown another second."""
    second = int(time.time())
    while int(time.time()) == second:
        time.sleep(0.05)
    return frame.count()


@pytest.mark.parametrize("algorithm", ["auto", "broadcast", "range"])
def test_both_sides_see_one_second(spark: SparkSession, algorithm: str) -> None:
    rows = spark.range(5)
    on = "unix_timestamp() - l.id <= unix_timestamp() - r.id"
    assert _later(dv.join(rows, rows, on=on, algorithm=algorithm)) == 15


def test_every_word_is_read(spark: SparkSession) -> None:
    rows = spark.sql("SELECT TIMESTAMP'2020-01-01 00:00:00' AS ts")
    on = "r.ts + (now() - l.ts) <= current_timestamp() AND localtimestamp() > r.ts AND current_date > l.ts"
    assert dv.join(rows, rows, on=on).count() == 1
    assert dv.join(a=rows, b=rows, c=rows, on="a.ts < now() AND a.ts <= b.ts AND b.ts <= c.ts").count() == 1
    assert dv.asof_join(rows, rows, on="ts", where="r.ts > now()").first()["r_ts"] is None
    assert dv.temporal_join(a=rows, b=rows, on="a.ts < now()", ts="ts", window=dv.sliding("1 day")).count() == 1
    assert "now" not in str(dv.explain(rows, rows, on="l.ts <= now() AND l.ts <= r.ts")).lower()
