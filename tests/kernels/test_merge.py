"""The walk over two sorted arrays finds what a binary search would."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dovetail._core.kernels import merge
from dovetail._core.kernels.compile import NO_ROW

INT64 = np.iinfo(np.int64)
WHOLE = st.integers(-20, 20) | st.integers(INT64.min, INT64.max)
KEYS = st.lists(WHOLE, min_size=1, max_size=40).map(lambda keys: np.sort(np.array(keys, np.int64)))
NONE = np.empty(0, np.int64)


@given(KEYS, st.lists(WHOLE, max_size=20), st.randoms())
def test_positions_are_those_of_a_binary_search_in_any_order(keys: np.ndarray, values: list[int], dice: object) -> None:
    wanted = np.array(values, np.int64)
    rows = np.array(dice.sample(range(len(values)), len(values)), np.int64)  # type: ignore[attr-defined]
    out = np.empty(rows.size, np.int64)
    merge.positions_below(keys, wanted, rows, out)
    assert out.tolist() == np.searchsorted(keys, wanted[rows]).tolist()


@given(KEYS, st.lists(st.tuples(WHOLE, WHOLE), min_size=1, max_size=20))
def test_a_pick_is_the_nearest_key_within_its_limit(keys: np.ndarray, asked: list[tuple[int, int]]) -> None:
    places, limits = (np.array(own, np.int64) for own in zip(*sorted(asked), strict=True))
    rows, before, after = np.arange(places.size), *(np.empty(places.size, np.int64) for _ in range(2))
    merge.pick_before(keys, places, limits, np.int64(0), rows, before)
    merge.pick_after(keys, places, limits, np.int64(0), rows, after)
    for place, limit, one, other in zip(places, limits, before, after, strict=True):
        earlier, later = np.flatnonzero(keys <= place), np.flatnonzero(keys >= place)
        assert one == (earlier[-1] if earlier.size and keys[earlier[-1]] >= limit else NO_ROW)
        assert other == (later[0] if later.size and keys[later[0]] <= limit else NO_ROW)


def test_without_limits_a_pick_stays_within_its_code() -> None:
    keys = np.array([(1 << 4) + 3, (2 << 4) + 5, (2 << 4) + 9])
    places = np.array([(1 << 4) + 2, (2 << 4) + 4, (2 << 4) + 6, (3 << 4) + 1])
    rows, out = np.arange(4), np.empty(4, np.int64)
    merge.pick_before(keys, places, NONE, np.int64(4), rows, out)
    assert out.tolist() == [NO_ROW, NO_ROW, 1, NO_ROW]
    merge.pick_after(keys, places, NONE, np.int64(4), rows, out)
    assert out.tolist() == [0, 1, 2, NO_ROW]


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(-30, 30)), min_size=1, max_size=20))
def test_places_order_by_code_and_time_and_never_leave_their_code(rows: list[tuple[int, int]]) -> None:
    codes, at = (np.array(own, np.int64) for own in zip(*rows, strict=True))
    out = np.empty(codes.size, np.int64)
    merge.fill_places(codes, at, np.int64(-10), np.int64(10), np.int64(5), out)
    assert (out >> 5).tolist() == codes.tolist()
    assert (out & 31).tolist() == [0 if t < -10 else 22 if t > 10 else t + 11 for t in at.tolist()]
