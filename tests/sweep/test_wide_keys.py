"""Keys and values that spread so wide, over so many rows, that both together do not fit one word as they are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail._core.kernels.sort import sort_with_order
from dovetail._core.sweep.ranks import PACKED_BITS, equality_codes, leaving_room

ROWS = (1 << 24) + 2
"""The numbers of so many distinct values take 25 bits, beside which keys of 40 bits have no room."""
FAR = 1 << 39


def test_codes_are_ranked_where_they_leave_no_room() -> None:
    codes = [np.array([FAR, 7]), np.array([7, 0, FAR])]
    assert leaving_room(codes, PACKED_BITS - 40)[0].tolist() == [FAR, 7]
    ours, theirs = leaving_room(codes, PACKED_BITS - 39)
    assert (ours.tolist(), theirs.tolist()) == ([2, 1], [1, 0, 2])


@pytest.mark.slow
def test_two_keys_of_many_distinct_values_stay_apart() -> None:
    second = np.full(ROWS, FAR)
    second[-1] = 0
    codes = sort_with_order(equality_codes([np.arange(ROWS) << 38, second]))[0]
    assert (codes[1:] != codes[:-1]).all()


@pytest.mark.slow
def test_wide_keys_of_many_rows_stay_apart() -> None:
    left = pa.table({"k": [0, FAR], "x": [0, 0]})
    right = pa.table({"k": np.append(np.zeros(ROWS - 1, np.int64), 1), "x": np.arange(ROWS) << 38})
    counted = dv.join(left, right, on="l.k = r.k AND l.x <= r.x", agg={"n": "count(*)"}, per="l")
    assert counted.column("n").to_pylist() == [ROWS - 1, 0]
    assert dv.asof_join(left, right, on="x", keys="k").column("r_x").to_pylist() == [0, None]
    summed = dv.window_join(left, right, on="x", keys="k", preceding=0, following=1 << 40, agg={"n": "count(*)"})
    assert summed.column("n").to_pylist() == [5, 0]
