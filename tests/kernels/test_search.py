"""The bucket search is a binary search."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dovetail._core.kernels.search import SortedIndex

INT64 = np.iinfo(np.int64)
WHOLE = st.integers(INT64.min, INT64.max)
NEAR = st.integers(-20, 20)


@given(st.lists(NEAR | WHOLE, max_size=60), st.lists(NEAR | WHOLE, max_size=30))
def test_counts_are_those_of_a_binary_search(keys: list[int], values: list[int]) -> None:
    _agrees(np.sort(np.array(keys, np.int64)), np.array(values, np.int64))


def test_skew_inside_one_bucket_is_found() -> None:
    keys = np.sort(np.concatenate([np.arange(5000), [10**15]]))
    _agrees(keys, np.array([-1, 0, 1, 4999, 5000, 10**15, 10**15 + 1]))


def _agrees(keys: np.ndarray, wanted: np.ndarray) -> None:
    index, found = SortedIndex.build(keys), np.empty(wanted.size, np.int64)
    index.below(wanted, found)
    assert found.tolist() == np.searchsorted(keys, wanted, side="left").tolist()
    index.up_to(wanted, found)
    assert found.tolist() == np.searchsorted(keys, wanted, side="right").tolist()
