"""Doubles added pair by pair, with what rounding loses beside every sum."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dovetail._core.kernels.adding import add_by_pairs, reaches

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=40)


def _added(values: list[float], pairs: list[tuple[int, int]], rows: int) -> tuple[list[float], list[float]]:
    own, other = np.array(pairs, np.int64).reshape(-1, 2).T
    out, lost = np.zeros(rows), np.zeros(rows)
    add_by_pairs(np.array(values), own.copy(), other.copy(), out, lost)
    return out.tolist(), lost.tolist()


@given(st.lists(st.floats(-1e30, 1e30), min_size=10, max_size=10), PAIRS)
def test_every_row_gets_the_sum_of_its_pairs(values: list[float], pairs: list[tuple[int, int]]) -> None:
    out, lost = _added(values, pairs, rows=4)
    for row in range(4):
        met = [values[position] for own, position in pairs if own == row]
        want = math.fsum(met)
        assert abs(out[row] + lost[row] - want) <= math.ulp(want) + math.fsum(map(abs, met)) * 2.0**-96


def test_pairs_do_not_forget_small_numbers() -> None:
    out, lost = _added([1e16, 1.0, 1.0, -1e16], [(0, 0), (1, 1), (0, 1), (0, 2), (0, 3)], rows=2)
    assert [out[0] + lost[0], out[1] + lost[1]] == [2.0, 1.0]


def test_pairs_meet_infinity_and_not_a_number() -> None:
    values = [1.0, math.inf, -math.inf, math.nan]
    out, _ = _added(values, [(0, 0), (0, 1), (0, 0), (1, 1), (1, 2), (2, 3), (2, 1), (3, 2), (3, 0)], rows=5)
    assert out[0] == math.inf
    assert math.isnan(out[1])
    assert math.isnan(out[2])
    assert out[3:] == [-math.inf, 0.0]


@given(st.lists(st.floats(width=64) | st.sampled_from([5.0, -5.0]), max_size=20))
def test_a_large_value_is_found_on_either_side_of_zero(values: list[float]) -> None:
    assert reaches(np.array(values), 5.0) == any(abs(value) >= 5.0 for value in values)
