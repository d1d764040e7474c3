"""Look-ups by buckets and by a walk are binary searches."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dovetail._core.columns.axis import LEAST, MOST
from dovetail._core.kernels.search import SortedIndex, Walk, step

INT64 = np.iinfo(np.int64)
WHOLE = st.integers(INT64.min, INT64.max)
NEAR = st.integers(-20, 20)


@given(st.lists(NEAR | WHOLE, max_size=60), st.lists(NEAR | WHOLE, max_size=30))
def test_counts_are_those_of_a_binary_search(keys: list[int], values: list[int]) -> None:
    _agrees(np.sort(np.array(keys, np.int64)), np.array(values, np.int64))


def test_skew_inside_one_bucket_is_found() -> None:
    keys = np.sort(np.concatenate([np.arange(5000), [10**15]]))
    _agrees(keys, np.array([-1, 0, 1, 4999, 5000, 10**15, 10**15 + 1]))


@given(st.lists(NEAR | WHOLE | st.sampled_from([LEAST, MOST]), max_size=30))
def test_a_step_saturates_at_its_end_and_says_so(values: list[int]) -> None:
    out = np.empty(len(values), np.int64)
    assert step(np.array(values, np.int64), np.int64(1), np.int64(MOST), out) == (MOST in values)
    assert out.tolist() == [min(value + 1, MOST) for value in values]
    assert step(np.array(values, np.int64), np.int64(-1), np.int64(LEAST), out) == (LEAST in values)
    assert out.tolist() == [max(value - 1, LEAST) for value in values]


def _agrees(keys: np.ndarray, wanted: np.ndarray) -> None:
    for index, values in ((SortedIndex.build(keys), wanted), (Walk(keys), np.sort(wanted))):
        found = np.empty(values.size, np.int64)
        index.below(values, found)
        assert found.tolist() == np.searchsorted(keys, values, side="left").tolist()
        index.up_to(values, found)
        assert found.tolist() == np.searchsorted(keys, values, side="right").tolist()
