"""What an as-of join means, by hand."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.errors import UsageError

TRADES = pa.table({"sym": ["A", "A", "B", None], "ts": [3, 9, 5, 4], "qty": [10, 20, 30, 40]})
QUOTES = pa.table({"sym": ["A", "A", "B", None], "at": [1, 8, 7, 4], "bid": [100, 101, 50, 1]})


ENDS = ("last", "first")


def _bids(**options: Any) -> list[int | None]:
    joined = dv.asof_join(TRADES, QUOTES, on=("ts", "at"), **options)
    by_quantity = {row["qty"]: row["bid"] for row in joined.to_pylist()}
    return [by_quantity[quantity] for quantity in (10, 20, 30, 40)]


def test_backward_takes_the_last_row_at_or_before() -> None:
    assert _bids(keys="sym") == [100, 101, None, None]
    assert _bids() == [100, 101, 1, 1]


def test_forward_takes_the_first_row_at_or_after() -> None:
    assert _bids(keys="sym", direction="forward") == [101, None, 50, None]


def test_nearest_takes_the_closer_one_and_at_one_distance_the_preferred_one() -> None:
    assert _bids(direction="nearest") == [1, 101, 1, 1]
    left, right = pa.table({"ts": [5]}), pa.table({"at": [3, 7]})
    ways = {way: dv.asof_join(left, right, on=("ts", "at"), direction="nearest", nearest_tie=way) for way in WAYS}
    assert [ways[way]["at"].to_pylist() for way in WAYS] == [[3], [7]]


WAYS = ("backward", "forward")


def test_strict_leaves_out_rows_of_the_same_time() -> None:
    assert _bids(strict=True) == [100, 101, 1, 100]


def test_null_keys_match_only_by_choice() -> None:
    assert _bids(keys="sym", null_safe=True) == [100, 101, None, 1]
    assert _bids(keys="sym", null_safe="sym") == [100, 101, None, 1]


def test_a_tolerance_is_inclusive_and_may_be_a_column() -> None:
    assert _bids(keys="sym", tolerance=1) == [None, 101, None, None]
    own = TRADES.append_column("far", pa.array([2, 0, None, 9]))
    joined = dv.asof_join(own, QUOTES, on=("ts", "at"), tolerance="far").sort_by("qty")
    assert joined["bid"].to_pylist() == [100, None, None, 1]


def test_where_filters_candidates_before_the_nearest_is_picked() -> None:
    assert _bids(keys="sym", where="r.bid > 100 OR l.qty > 10") == [None, 101, None, None]
    assert _bids(where="r.sym = 'A'") == [100, 101, 100, 100]


def test_ties_go_by_all_other_columns_whatever_the_order_of_the_rows() -> None:
    left = pa.table({"ts": [5]})
    right = pa.table({"at": [4, 4, 4], "x": [2, None, 1], "y": ["b", "c", "a"]})
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        rows = right.take(pa.array(order))
        found = {
            ties: dv.asof_join(left, rows, on=("ts", "at"), ties=ties)["y"].to_pylist() for ties in ("last", "first")
        }
        assert found == {"last": ["b"], "first": ["c"]}
        assert dv.asof_join(left, rows, on=("ts", "at"), tie_break="y")["y"].to_pylist() == ["c"]
    assert sorted(dv.asof_join(left, right, on=("ts", "at"), ties="all")["y"].to_pylist()) == ["a", "b", "c"]
    with pytest.raises(UsageError, match=r"ties='error': 3 rows of 'r' are equally near to one row. Hint"):
        dv.asof_join(left, right, on=("ts", "at"), ties="error")


def test_the_partner_is_a_row_and_its_nulls_stay() -> None:
    right = pa.table({"at": [1, 2], "x": [7, None], "y": [None, 8]})
    got = dv.asof_join(pa.table({"ts": [3]}), right, on=("ts", "at"))
    assert got.to_pylist() == [{"ts": 3, "at": 2, "x": None, "y": 8}]


def test_days_are_an_axis_and_half_of_one_is_none() -> None:
    days = pa.array([dt.date(2024, 1, 1), dt.date(2024, 1, 3)])
    left, right = pa.table({"d": days}), pa.table({"d": [dt.date(2024, 1, 2)]})
    options: dict[str, Any] = {"on": "d", "direction": "nearest", "how": "semi"}
    assert dv.asof_join(left, right, tolerance="12 hours", **options).num_rows == 0
    assert dv.asof_join(left, right, tolerance="1 day", **options).num_rows == 2


def test_bounds_beyond_the_axis_saturate() -> None:
    ends = pa.array([-(2**63), 2**63 - 1])
    left, right = pa.table({"t": ends}), pa.table({"t": ends})
    assert dv.asof_join(left, right, on="t", tolerance=5, strict=True, how="semi").num_rows == 0
    got = dv.window_join(left, right, on="t", preceding=5, following=5, agg={"n": "count(*)"})
    assert got["n"].to_pylist() == [1, 1]


@pytest.mark.parametrize("far", [2**63 - 1, 2**63, 2**64 - 1, 2**64])
def test_distances_may_be_longer_than_the_axis(far: int) -> None:
    table = pa.table({"at": [-5, 3]})
    assert dv.asof_join(table, table, on="at", strict=True, tolerance=far, how="inner").to_pylist() == [
        {"at": 3, "r_at": -5}
    ]


def test_a_list_column_travels_and_takes_no_part_in_ties() -> None:
    right = pa.table({"at": [1, 1], "x": [1, 2], "list": [[1], [2]]})
    assert dv.asof_join(pa.table({"ts": [3]}), right, on=("ts", "at"))["list"].to_pylist() == [[2]]


@pytest.mark.parametrize("kind", [pa.duration("ns"), pa.time64("ns"), pa.timestamp("ns"), pa.timestamp("s")])
def test_times_finer_or_further_away_than_sparks_order_ties(kind: pa.DataType) -> None:
    right = pa.table({"ts": [1] * 3, "t": pa.array([7, (1 << 46) + 1, None], pa.int64()).cast(kind)})
    found = [dv.asof_join(pa.table({"ts": [1]}), right, on="ts", ties=ties)["t"].combine_chunks() for ties in ENDS]
    assert [own.cast(pa.int64()).to_pylist() for own in found] == [[(1 << 46) + 1], [None]]


def test_many_tied_rows_on_both_sides_cost_no_square() -> None:
    size = 200_000
    left, right = pa.table({"t": np.zeros(size, np.int64)}), pa.table({"t": np.zeros(size, np.int64)})
    assert dv.asof_join(left, right, on="t", how="semi").num_rows == size


@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
@pytest.mark.parametrize("where", [None, "l.v <= r.v"])
def test_of_many_tied_candidates_one_is_picked_without_trying_all(direction: str, where: str | None) -> None:
    size = 100_000
    rows = pa.table({"t": np.zeros(size, np.int64), "v": np.arange(size)})
    call: dict[str, Any] = {"on": "t", "direction": direction, "where": where}
    assert dv.asof_join(rows, rows, **call).select(["v", "r_v"]).to_pylist()[:: size - 1] == [
        {"v": 0, "r_v": size - 1},
        {"v": size - 1, "r_v": size - 1},
    ]
    first = dv.asof_join(rows, rows, ties="first", **call)
    assert first["r_v"].to_pylist()[:: size - 1] == [0, 0 if where is None else size - 1]
    with pytest.raises(UsageError, match=r"^ties='error': 100000 rows of 'r' are equally near to one row"):
        dv.asof_join(rows, rows, ties="error", **call)


@pytest.mark.parametrize(
    "test",
    [
        "r.price < l.price",
        "l.price + r.price < 20",
        "abs(l.price - (r.price + 10)) <= 6",
        "r.price > l.price - 50 AND r.price < l.price",
    ],
)
def test_candidates_that_fail_a_comparison_are_skipped_and_not_tested(test: str) -> None:
    rows = 300_000
    trades = pa.table({"ts": range(rows), "price": [10] * rows})
    quotes = pa.table({"ts": range(rows), "price": [5] + [20] * (rows - 2) + [3]})
    got = dv.asof_join(trades, quotes, on="ts", direction="nearest", where=f"{test} AND l.ts <> r.ts")
    assert got["r_ts"].to_pylist() == [rows - 1] + [0 if 2 * i < rows else rows - 1 for i in range(1, rows - 1)] + [0]


def test_a_length_of_time_of_pandas_keeps_its_nanoseconds() -> None:
    ours = pa.table({"at": pa.array([400, 900, 901, 5000], pa.timestamp("ns"))})
    theirs = pa.table({"at": pa.array([400], pa.timestamp("ns"))})
    near: dict[str, Any] = {"tolerance": pd.Timedelta(500, "ns"), "how": "semi"}
    assert dv.asof_join(ours, theirs, on="at", **near).num_rows == 2
    window = dv.sliding(pd.Timedelta(501, "ns"))
    assert dv.temporal_join(a=ours, b=theirs, on="TRUE", ts="at", window=window).num_rows == 2
    assert dv.temporal_join(a=theirs, b=ours, on="TRUE", ts="at", window=window, how="anti").num_rows == 0
