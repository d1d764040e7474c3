"""Distances between the sides, `abs(l.a - r.a) <= 10`: found by order, and not pair by pair."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.testing import assert_same_rows
from tests.spark_answers import spark_frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEAST, MOST = -(1 << 63), (1 << 63) - 1
WHOLE = [LEAST, LEAST + 1, LEAST + 9, -3, 0, 2, 7, MOST - 9, MOST - 1, MOST, None]
DOUBLES = [0.0, -0.0, 0.1, 0.2, 0.30000000000000004, 1e16, 1e308, -1e308, np.inf, -np.inf, np.nan, None]
DAYS = [dt.date(2024, 2, 28), dt.date(2024, 3, 1), dt.date(2024, 3, 4), dt.date(1969, 12, 31), None]
SPELLINGS = [
    "abs(l.a - r.a) <= 9",
    "9 > abs(r.a - l.a)",
    "l.a - r.a BETWEEN -2 AND 7",
    "l.a - r.a < 9 AND -9 <= l.a - r.a",
    "r.a - l.a = 9",
    "l.a + r.a <= 4 AND l.a + r.a > -1",
    "abs(l.a - r.a) <= l.b",
    "abs(l.a - r.a) < r.b",
]


def _table(values: list[Any], kind: pa.DataType, more: list[Any] | None = None) -> pa.Table:
    return pa.table(
        {"a": pa.array(values, kind), "b": pa.array((more or [1, 0, 9, None] * 3)[: len(values)], pa.int32())}
    )


@pytest.mark.parametrize("on", SPELLINGS)
def test_whole_numbers_of_all_sizes_keep_their_distance(on: str) -> None:
    table = _table(WHOLE, pa.int64())
    wider = pa.table({"a": table["a"].cast(pa.decimal128(22, 0)), "b": table["b"]})
    got = dv.join(table, table, on=on, select="l.a, r.a AS x")
    want = dv.join(wider, wider, on=f"coalesce({on}, false)", select="l.a, r.a AS x")
    assert "nested loop" in str(dv.explain(wider, wider, on=f"coalesce({on}, false)"))
    assert "nested loop" not in str(dv.explain(table, table, on=on))
    assert_same_rows(got, [(int(a), int(x)) for a, x in zip(*want.to_pydict().values(), strict=True)])


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
@pytest.mark.parametrize("on", ["abs(l.a - r.a) <= 0.1", "abs(l.a - r.a) <= r.c", "l.a - r.a BETWEEN -0.1 AND 0.2"])
@pytest.mark.parametrize("how", ["inner", "anti"])
def test_doubles_are_as_far_apart_as_the_pair_says(kind: pa.DataType, on: str, how: str) -> None:
    table = pa.table({"a": pa.array(DOUBLES, kind), "c": pa.array([0.1, np.inf, np.nan, None] * 3, pa.float64())})
    got = dv.join(table, table, on=on, how=how)
    assert_same_rows(got, dv.join(table, table, on=f"coalesce({on}, false)", how=how))
    assert "band" in str(dv.explain(table, table, on=on))


def test_decimals_moments_and_days_have_distances() -> None:
    moments = pa.array([dt.datetime(2024, 3, 31, hour, tzinfo=dt.UTC) for hour in (0, 1, 2, 23)])
    for values, on in (
        (pa.array([Decimal("1.25"), Decimal("1.5"), Decimal(-3)], pa.decimal128(9, 2)), "abs(l.a - r.a) <= 0.25"),
        (
            pa.array([Decimal("1.25"), Decimal("1.5"), Decimal(-3)], pa.decimal128(9, 2)),
            "l.a - 1 + r.a BETWEEN 0 AND 2",
        ),
        (pa.array([Decimal("1.25"), Decimal("1.5"), Decimal(-3)], pa.decimal128(9, 2)), "(l.a - 1) - (r.a - 2) = 1"),
        (moments, "abs(l.a - r.a) <= INTERVAL 1 HOUR"),
        (moments.cast(pa.timestamp("us")), "l.a - r.a BETWEEN INTERVAL '-1' HOUR AND INTERVAL 1 DAY"),
        (pa.array(DAYS), "abs(l.a - r.a) < INTERVAL 3 DAYS"),
        (pa.array(DAYS), "datediff(l.a, r.a) BETWEEN -2 AND 3"),
        (moments, "abs(date_diff(r.a, l.a)) < 1"),
    ):
        table = pa.table({"a": values})
        assert_same_rows(dv.join(table, table, on=on), dv.join(table, table, on=f"coalesce({on}, false)"))
        assert dv.explain(table, table, on=on).kind in ("band", "equality only")


def test_what_cannot_be_solved_is_tested_pair_by_pair() -> None:
    wide = pa.table({"a": pa.array([1, 2], pa.decimal128(38, 10))})
    for on in ("abs(l.a - r.a) <= 1", "abs(l.a - r.a) >= 1", "l.a * r.a < 3"):
        assert "nested loop" in str(dv.explain(wide, wide, on=on))


@pytest.mark.parametrize("algorithm", ["range-based", "one-bucket", "cross-filter", "fast-theta", "prefap"])
def test_algorithms_of_one_inequality_test_a_distance_pair_by_pair(algorithm: str) -> None:
    table = _table(list(range(40)), pa.int64(), [i * 7 % 40 for i in range(40)])
    on = "l.a <= r.a AND abs(l.b - r.b) <= 5"
    got = dv.join(table, table, on=on, algorithm=algorithm, partitions=3)
    assert_same_rows(got, dv.join(table, table, on=on))
    assert dict(dv.explain(table, table, on=on, algorithm=algorithm).uses)["test pair by pair"] == "ABS(l.b - r.b) <= 5"


@pytest.mark.parametrize("algorithm", ["ring", "redistribute", "replicate", "der"])
def test_algorithms_by_keys_test_a_distance_pair_by_pair(algorithm: str) -> None:
    table = _table(list(range(40)), pa.int64(), [i * 7 % 5 for i in range(40)])
    on = "l.b = r.b AND abs(l.a - r.a) <= 5"
    got = dv.join(table, table, on=on, how="left", algorithm=algorithm)
    assert_same_rows(got, dv.join(table, table, on=on, how="left"))


def test_whole_numbers_meet_decimals_in_a_type_that_holds_both() -> None:
    left = pa.table(
        {"a": pa.array([100], pa.int8()), "c": pa.array([50], pa.int8()), "i": pa.array([2**31 - 1], pa.int32())}
    )
    right = pa.table({"d": pa.array([Decimal("149.5")], pa.decimal128(5, 2))})
    assert dv.join(left, right, on="abs(l.a - r.d) <= l.c").num_rows == 1
    assert dv.join(left, right, on="abs(l.i - r.d) <= 10").num_rows == 0


@pytest.mark.parametrize("on", ["abs(l.a - r.a) <= 1e-7D", "l.a - r.a BETWEEN -1e-7D AND 1e-7D"])
def test_decimals_whose_difference_is_rounded_are_tested_pair_by_pair(on: str) -> None:
    fine = pa.table({"a": pa.array([Decimal("0.0000004"), Decimal("0.0000006")], pa.decimal128(38, 38))})
    whole = pa.table({"a": pa.array([0, 1], pa.decimal128(38, 0))})
    assert_same_rows(dv.join(fine, whole, on=on), [(Decimal("0.0000004"), Decimal(0))])


def test_lengths_of_time_may_reach_beyond_all_moments() -> None:
    last, now = pa.scalar(MOST, pa.timestamp("us")), pa.scalar(10**15, pa.timestamp("us"))
    table = pa.table({"a": pa.array([now, last]), "i": [0, 1], "far": pa.array([MOST, None], pa.duration("us"))})
    for on, pairs in (
        ("abs(l.a - r.a) <= INTERVAL '106751991' DAY", [(0, 0), (0, 1), (1, 0), (1, 1)]),
        ("l.a - r.a < INTERVAL 1 DAY", [(0, 0), (0, 1), (1, 1)]),
        ("r.a - l.a > INTERVAL '-1' DAY", [(0, 0), (0, 1), (1, 1)]),
        ("l.a - r.a = INTERVAL 1 DAY", []),
        ("l.a - r.a <= r.far AND r.a - l.a < r.far", [(0, 0), (1, 0)]),
    ):
        assert_same_rows(dv.join(table, table, on=on, select="l.i, r.i AS j"), pairs)


def test_sums_without_their_sign_are_tested_pair_by_pair() -> None:
    left, right = pa.table({"a": [1, 98]}), pa.table({"b": [-100, 3]})
    assert_same_rows(dv.join(left, right, on="abs(l.a + r.b) <= 5"), [(1, 3), (98, -100)])


def test_bounds_may_be_infinite_or_written_as_doubles() -> None:
    table = pa.table({"x": [np.inf, 1.0]})
    assert_same_rows(dv.join(table, table, on="l.x - r.x BETWEEN 0 AND 1e309"), [(1.0, 1.0), (np.inf, 1.0)])
    assert dv.explain(table, table, on="l.x - r.x BETWEEN -1D AND 1D").kind == "band"


def test_a_plan_says_it_as_the_caller_did() -> None:
    table = _table([1, 2], pa.int64())
    plan = dv.explain(table, table, on="abs(l.a - r.a) <= 1 AND l.b - r.b = 2")
    assert dict(plan.uses) == {"keys": "l.b - r.b = 2", "slice": "ABS(l.a - r.a) <= 1, right side sorted"}


def test_a_distance_folds_without_pairs() -> None:
    rows = 20_000
    table = pa.table({"a": np.arange(rows)})
    got = dv.join(table, table, on="abs(l.a - r.a) <= 9000", agg={"n": "count(*)"}, per="l")
    assert got["n"].to_pylist() == [min(a + 9000, rows - 1) - max(a - 9000, 0) + 1 for a in range(rows)]


@pytest.mark.parametrize("how", ["left", "full", "anti"])
def test_spark_finds_distances_by_order_too(spark: SparkSession, how: str) -> None:
    table = _table([1, 5, 9, 40, None], pa.int64()).append_column("x", pa.array([0.5, 1.5, 9.0, np.nan, None]))
    frame = spark_frame(spark, table)
    for on in ("abs(l.a - r.a) <= 4", "abs(l.x - r.x) < 1.1 AND l.a - r.a <= r.b"):
        assert "nested loop" not in str(dv.explain(frame, frame, on=on, how=how))
        got = dv.join(frame, frame, on=on, how=how)
        assert_same_rows(got.toArrow(), dv.join(frame, frame, on=on, how=how, algorithm="spark").toArrow())


def test_whole_numbers_that_begin_anew_are_left_to_spark(spark: SparkSession) -> None:
    frame = spark_frame(spark, pa.table({"a": pa.array([LEAST, MOST, 0])}))
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        got = dv.join(frame, frame, on="l.a - r.a BETWEEN -1 AND 1.5").toArrow()
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")
    assert_same_rows(got, [(a, a) for a in (LEAST, MOST, 0)] + [(LEAST, MOST), (MOST, LEAST)])
