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


REACHING = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(-1, 6)), min_size=1, max_size=8)


def _totals_above(values: list[float], heights: list[int], asked: list[tuple[int, int, int]]) -> list[list[float]]:
    """The sums, and what rounding has lost of each."""
    low, high, least = np.array(asked).T.copy()
    by_height, by_least = (np.argsort(own, kind="stable")[::-1] for own in (np.array(heights), least))
    total, lost = np.zeros(2 * len(values)), np.zeros(2 * len(values))
    out = np.empty((2, least.size))
    segments.totals_above_threshold(
        np.array(values), np.array(heights), by_height, low, high, least, by_least, total, lost, out[0], out[1]
    )
    return [own.tolist() for own in out]


@given(
    st.lists(st.floats(-1e30, 1e30), min_size=20, max_size=20),
    st.lists(st.integers(0, 5), min_size=20, max_size=20),
    REACHING,
)
def test_every_threshold_gets_the_sum_of_what_reaches_it(
    values: list[float], heights: list[int], asked: list[tuple[int, int, int]]
) -> None:
    sums, rests = _totals_above(values, heights, asked)
    for sum_, rest, (low, high, least) in zip(sums, rests, asked, strict=True):
        met = [values[i] for i in range(low, high) if heights[i] >= least]
        want = math.fsum(met)
        assert abs(sum_ + rest - want) <= math.ulp(want) + math.fsum(map(abs, met)) * 2.0**-96


def test_a_threshold_does_not_forget_small_numbers() -> None:
    values, heights = [1e16, 1.0, 7.0, 1.0, -1e16], [3, 3, 1, 2, 3]
    sums, rests = _totals_above(values, heights, [(0, 5, 2), (0, 5, 3), (1, 5, 1), (0, 5, 4)])
    assert [sum_ + rest for sum_, rest in zip(sums, rests, strict=True)] == [2.0, 1.0, 9.0 - 1e16, 0.0]


def test_an_infinity_spoils_only_the_thresholds_that_it_reaches() -> None:
    sums, _ = _totals_above([1.0, np.inf, 2.0, -np.inf], [3, 2, 3, 1], [(0, 4, 3), (0, 4, 2), (0, 4, 1), (3, 4, 1)])
    assert sums[0] == 3.0
    assert sums[1] == np.inf
    assert np.isnan(sums[2])
    assert sums[3] == -np.inf
