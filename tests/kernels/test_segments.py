"""Sums and maxima of slices."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dovetail._core.kernels import segments

SLICES = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)).map(sorted), min_size=1, max_size=8)


@given(st.lists(st.integers(-50, 50), min_size=20, max_size=20), SLICES)
def test_every_slice_gets_its_maximum(values: list[int], slices: list[list[int]]) -> None:
    tree = np.concatenate([np.full(20, segments.LEAST), np.array(values)])
    segments.fill_max_tree(tree)
    low, high = np.array(slices).T
    out = np.empty(low.size, np.int64)
    segments.maxima_of_slices(tree, low, high, out)
    assert out.tolist() == [max(values[a:b], default=segments.LEAST) for a, b in slices]


@given(st.lists(st.floats(-1e9, 1e9), min_size=20, max_size=20), SLICES)
def test_every_slice_gets_its_sum(values: list[float], slices: list[list[int]]) -> None:
    tree = np.concatenate([np.zeros(20), np.array(values)])
    segments.fill_sum_tree(tree)
    low, high = np.array(slices).T
    out = np.empty(low.size)
    segments.sums_of_slices(tree, low, high, out)
    for got, (a, b) in zip(out, slices, strict=True):
        assert math.isclose(got, math.fsum(values[a:b]), rel_tol=1e-12, abs_tol=1e-6)


def test_a_running_sum_does_not_forget_small_numbers() -> None:
    values = np.array([1e16, 1.0, 1.0, -1e16])
    out = np.empty(4)
    segments.fill_running_sums(values, out)
    assert out[-1] == 2.0


def test_a_running_sum_meets_infinity_and_not_a_number() -> None:
    out = np.empty(4)
    segments.fill_running_sums(np.array([1.0, np.inf, 2.0, -np.inf]), out)
    assert out[:3].tolist() == [1.0, np.inf, np.inf]
    assert np.isnan(out[3])
