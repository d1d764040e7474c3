"""Sums and maxima of slices."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dovetail._core.kernels import segments

SLICES = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)).map(sorted), min_size=1, max_size=8)


@given(st.lists(st.integers(-50, 50), min_size=100, max_size=100), SLICES)
def test_every_slice_gets_its_maximum(values: list[int], slices: list[list[int]]) -> None:
    tree = np.empty(2 * -(-len(values) // segments.BLOCK), np.int64)
    segments.fill_max_tree(np.array(values), tree)
    low, high = np.array(slices).T
    out = np.empty(low.size, np.int64)
    segments.maxima_of_slices(np.array(values), tree, low, high, out)
    assert out.tolist() == [max(values[a:b], default=segments.LEAST) for a, b in slices]


@given(st.lists(st.floats(-1e9, 1e9), min_size=100, max_size=100), SLICES)
def test_every_slice_gets_its_sum(values: list[float], slices: list[list[int]]) -> None:
    total, lost = (np.empty(2 * -(-len(values) // segments.BLOCK)) for _ in range(2))
    segments.fill_total_tree(np.array(values), total, lost)
    low, high = np.array(slices).T
    out, rest = np.empty(low.size), np.empty(low.size)
    segments.totals_of_slices(np.array(values), total, lost, low, high, out, rest)
    for got, (a, b) in zip(out + rest, slices, strict=True):
        assert math.isclose(got, math.fsum(values[a:b]), rel_tol=1e-12)


def test_a_running_sum_does_not_forget_small_numbers() -> None:
    values = np.array([1e16, 1.0, 1.0, -1e16])
    out, lost = np.empty(4), np.empty(4)
    segments.fill_running_totals(values, out, lost)
    assert (out + lost)[-1] == 2.0


def test_a_running_sum_meets_infinity_and_not_a_number() -> None:
    out, lost = np.empty(4), np.empty(4)
    segments.fill_running_totals(np.array([1.0, np.inf, 2.0, -np.inf]), out, lost)
    assert out[:3].tolist() == [1.0, np.inf, np.inf]
    assert np.isnan(out[3])
