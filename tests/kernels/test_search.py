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
def test_positions_are_those_of_a_binary_search(keys: list[int], values: list[int]) -> None:
    stored = np.sort(np.array(keys, np.int64))
    wanted = np.array(values, np.int64)
    assert SortedIndex.build(stored).below(wanted).tolist() == np.searchsorted(stored, wanted).tolist()


def test_skew_inside_one_bucket_is_found() -> None:
    keys = np.sort(np.concatenate([np.arange(5000), [10**15]]))
    wanted = np.array([-1, 0, 1, 4999, 5000, 10**15, 10**15 + 1])
    assert SortedIndex.build(keys).below(wanted).tolist() == np.searchsorted(keys, wanted).tolist()
