"""Comparisons that one side can waive, `l.at < r.end OR r.end IS NULL`: found by order, and not pair by pair."""

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

SPELLINGS = [
    "l.a < r.a OR r.a IS NULL",
    "r.a IS NULL OR l.a IS NULL OR r.a >= l.a",
    "l.a >= r.a OR r.open",
    "(l.open AND l.a IS NULL) OR NOT r.open OR l.a > r.a",
    "l.b <= r.b AND (l.a < r.a OR r.a IS NULL)",
    "l.a >= r.b AND (r.a IS NULL OR l.a < r.a)",
]
KINDS: list[tuple[pa.DataType, list[Any]]] = [
    (pa.int8(), [-128, 0, 127]),
    (pa.int32(), [-(1 << 31), 0, (1 << 31) - 1]),
    (pa.int64(), [-(1 << 63), 0, (1 << 63) - 1]),
    (pa.float32(), [-np.inf, 0.5, np.nan]),
    (pa.float64(), [-np.inf, -0.0, np.nan]),
    (pa.decimal128(4, 4), [Decimal("-.9999"), Decimal(0), Decimal(".9999")]),
    (pa.decimal128(38, 0), [Decimal("-" + "9" * 38), Decimal(0), Decimal("9" * 38)]),
    (pa.date32(), [-(1 << 31), 19_000, (1 << 31) - 1]),
    (pa.timestamp("us"), [-(1 << 63), 10**15, (1 << 63) - 1]),
    (pa.timestamp("us", "UTC"), [-(1 << 63), 10**15, (1 << 63) - 1]),
    (pa.timestamp("ns"), [1, 10**18, None]),
    (pa.string(), ["", "b", "\U0010ffff"]),
]


def _table(kind: pa.DataType, values: list[Any]) -> pa.Table:
    column = [own for own in [*values, None] for _ in range(3)]
    other = [[*values, None][(3 * i + i // 4) % 4] for i in range(12)]
    return pa.table(
        {
            "i": pa.array(range(12), pa.int32()),
            "a": pa.array(column, kind),
            "b": pa.array(other, kind),
            "open": pa.array([True, False, None] * 4),
        }
    )


@pytest.mark.parametrize("on", SPELLINGS)
@pytest.mark.parametrize(("kind", "values"), KINDS, ids=str)
def test_the_pairs_are_those_that_the_condition_says(kind: pa.DataType, values: list[Any], on: str) -> None:
    table = _table(kind, values)
    got = dv.join(table, table, on=on, select="l.i, r.i AS j")
    assert_same_rows(got, dv.join(table, table, on=f"coalesce({on}, false)", select="l.i, r.i AS j"))


@pytest.mark.parametrize("how", ["left", "right", "full", "semi", "anti"])
def test_rows_without_a_partner_are_those_that_the_condition_leaves(how: str) -> None:
    table = _table(pa.int64(), [1, 5, 9])
    for on in SPELLINGS:
        got, want = (dv.join(table, table, on=text, how=how) for text in (on, f"coalesce({on}, false)"))
        assert_same_rows(got, want)


def test_the_last_row_of_a_history_has_no_end() -> None:
    prices = pa.table({"item": ["x", "x", "y"], "since": [0, 10, 5], "until": [10, None, None], "price": [1, 2, 3]})
    sales = pa.table({"item": ["x", "x", "x", "y"], "at": [3, 10, 99, 4]})
    on = "s.item = p.item AND s.at >= p.since AND (s.at < p.until OR p.until IS NULL)"
    got = dv.join(s=sales, p=prices, on=on, how="left", select="s.item, s.at, p.price")
    assert_same_rows(got, [("x", 3, 1), ("x", 10, 2), ("x", 99, 2), ("y", 4, None)])


def test_points_meet_few_of_many_intervals_with_open_ends() -> None:
    rows = 100_000
    start = np.arange(rows)
    ends = pa.array(start + 1, mask=start == rows - 1)
    points, spans = pa.table({"at": start}), pa.table({"start": start, "end": ends})
    on = "l.at >= r.start AND (l.at < r.end OR r.end IS NULL)"
    assert dv.join(points, spans, on=on).num_rows == rows
    plan = dv.explain(points, spans, on=on)
    assert plan.kind == "point in interval"
    assert plan.uses == (
        ("slice", "l.at >= r.start AND (l.at < r.end OR r.end IS NULL), left side sorted"),
        ("test pair by pair", "(l.at < r.end OR r.end IS NULL)"),
    )


def test_what_has_no_greatest_value_is_tested_pair_by_pair() -> None:
    table = _table(pa.string(), ["a", "b", "c"])
    for on in ("l.a < r.a OR r.a IS NULL", "l.i < r.i OR l.i > r.i + 5", "l.i < r.i OR l.a = r.a", "l.i < r.i OR TRUE"):
        assert "nested loop" in str(dv.explain(table, table, on=on))


@pytest.mark.parametrize("algorithm", ["range-based", "prefap"])
def test_algorithms_of_one_inequality_test_it_pair_by_pair(algorithm: str) -> None:
    table = _table(pa.int64(), [1, 5, 9])
    on = "l.b <= r.b AND (l.a < r.a OR r.a IS NULL)"
    assert_same_rows(dv.join(table, table, on=on, algorithm=algorithm), dv.join(table, table, on=on))


def test_an_as_of_join_skips_what_is_no_longer_valid() -> None:
    quotes = pa.table({"at": [1, 2, 3], "gone": [9, None, 4], "bid": [10, 20, 30]})
    trades = pa.table({"ts": [3, 5, 50]})
    got = dv.asof_join(trades, quotes, on=("ts", "at"), where="l.ts < r.gone OR r.gone IS NULL")
    assert got["bid"].to_pylist() == [30, 20, 20]


@pytest.mark.parametrize("kind", [pa.int32(), pa.float64(), pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC")])
def test_spark_finds_them_by_order_too(spark: SparkSession, kind: pa.DataType) -> None:
    day = dt.date(2024, 2, 28).toordinal()
    frame = spark_frame(spark, _table(kind, [day, day + 1, day + 9]))
    for on, how in ((SPELLINGS[0], "semi"), (SPELLINGS[3], "full"), (SPELLINGS[5], "inner")):
        got = dv.join(frame, frame, on=on, how=how)
        assert_same_rows(got.toArrow(), dv.join(frame, frame, on=on, how=how, algorithm="spark").toArrow())
        assert "pairs meet" in str(dv.explain(frame, frame, on=on, how=how, algorithm="range", partitions=3))
        placed = dv.join(frame, frame, on=on, how=how, algorithm="range", partitions=3)
        assert_same_rows(placed.toArrow(), got.toArrow())
