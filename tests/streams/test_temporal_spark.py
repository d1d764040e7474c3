"""A temporal join of DataFrames gives the rows of the naive reference."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.testing import assert_same_rows
from tests.amount import one_in
from tests.spark_answers import changed, quick, spark_frame
from tests.streams.drawn import sample_temporal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.streams.drawn import TemporalCase


def _joined(spark: SparkSession, case: TemporalCase) -> pa.Table:
    frames: dict[str, Any] = {name: spark_frame(spark, table) for name, table in case.tables.items()}
    return dv.temporal_join(**frames, **case.options).toArrow()


def test_dataframes_give_the_naive_rows(spark: SparkSession) -> None:
    _same(spark, sample_temporal(one_in(12), seed=1))


@pytest.mark.slow
def test_three_dataframes_give_the_naive_rows(spark: SparkSession) -> None:
    _same(spark, sample_temporal(one_in(12), seed=2, inputs=3))


def _same(spark: SparkSession, drawn: list[TemporalCase]) -> None:
    with quick(spark), ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda case: _joined(spark, case), drawn))
    for got, case in zip(found, drawn, strict=True):
        print(case)  # noqa: T201 -- shown if the next line fails
        assert_same_rows(got, case.naive())


@pytest.mark.parametrize("how", ["inner", "left", "full", "anti"])
def test_times_without_a_zone_and_starts_before_all_times(spark: SparkSession, how: str) -> None:
    stamps = [pa.array(ticks, pa.timestamp("us")) for ticks in ([0, 5], [9, None])]
    calls: list[tuple[pa.Table, dict[str, Any]]] = [
        (pa.table({"s": stamps[0], "e": stamps[1], "i": [1, 2]}), {"valid": ("s", "e")}),
        (pa.table({"s": stamps[0], "i": [1, 2]}), {"ts": "s", "window": dv.sliding("3 microseconds")}),
        (pa.table({"s": [float("-inf"), 3.0, float("inf")], "i": [1, 2, 3]}), {"ts": "s", "window": dv.fixed(10)}),
    ]
    for table, options in calls:
        frame = spark_frame(spark, table)
        found = dv.temporal_join(a=frame, b=frame, on="a.i <> b.i", how=how, **options).toArrow()
        assert_same_rows(found, dv.temporal_join(a=table, b=table, on="a.i <> b.i", how=how, **options))


@pytest.mark.parametrize("window", [dv.sliding("1 day"), dv.fixed("2 days")])
def test_a_day_is_24_hours_where_clocks_change(spark: SparkSession, window: Any) -> None:
    hours = [3600 * hour for hour in (0, 23, 24, 25, 47)]
    table = pa.table({"ts": pa.array([1710046800 + at for at in hours], pa.timestamp("s", "UTC")), "i": range(5)})
    options: dict[str, Any] = {"on": "a.i < b.i", "ts": "ts", "window": window, "how": "left"}
    with changed(spark, {"spark.sql.session.timeZone": "America/New_York"}):
        frame = spark_frame(spark, table.cast(pa.schema([("ts", pa.timestamp("us", "UTC")), ("i", pa.int64())])))
        found = dv.temporal_join(a=frame, b=frame, **options).toArrow()
    want = dv.temporal_join(a=table, b=table, **options)
    assert_same_rows(found.cast(want.schema), want)


@pytest.mark.parametrize("length", ["1 microsecond", "1 day 1 microsecond", "36 hours"])
def test_multiples_of_a_length_between_two_days_end_on_the_second(spark: SparkSession, length: str) -> None:
    table = pa.table({"day": pa.array([-3, 0, 1, 2, 86400], pa.int32()).cast(pa.date32()), "i": range(5)})
    options: dict[str, Any] = {"on": "a.i <> b.i", "ts": "day", "window": dv.fixed(length), "how": "left"}
    frame = spark_frame(spark, table)
    found = dv.temporal_join(a=frame, b=frame, **options).toArrow()
    assert found.num_rows
    assert_same_rows(found, dv.temporal_join(a=table, b=table, **options))


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize("window", [dv.sliding, dv.fixed])
def test_windows_longer_than_the_axis_never_end(spark: SparkSession, ansi: str, window: Any) -> None:
    table = pa.table({"at": pa.array([-(2**63), -7, 0, 5, 2**63 - 2]), "i": range(5)})
    frame = spark_frame(spark, table)
    for length in (2**63 + 5, 1e30):
        options: dict[str, Any] = {"on": "a.i < b.i", "ts": "at", "window": window(length), "how": "left"}
        with changed(spark, {"spark.sql.ansi.enabled": ansi}):
            found = dv.temporal_join(a=frame, b=frame, **options).toArrow()
        assert_same_rows(found, dv.temporal_join(a=table, b=table, **options))
