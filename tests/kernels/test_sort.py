"""The radix sort is NumPy's stable sort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dovetail._core.kernels.sort import SMALL, sort_with_rows

INT64 = np.iinfo(np.int64)


@given(arrays(np.int64, st.integers(0, 50), elements=st.integers(INT64.min, INT64.max)))
def test_any_keys_sort_with_their_rows(keys: np.ndarray) -> None:
    found, rows = sort_with_rows(keys, np.arange(keys.size))
    order = np.argsort(keys, kind="stable")
    assert found.tolist() == keys[order].tolist()
    assert rows.tolist() == order.tolist()


@pytest.mark.parametrize("high", [1, 2, 2**11, 2**12, 2**33, 2**63 - 1])
def test_many_keys_take_the_radix_passes_and_stay_stable(high: int) -> None:
    random = np.random.default_rng(3)
    keys = random.integers(-high, high, 3 * SMALL)
    before = keys.copy()
    found, rows = sort_with_rows(keys, np.arange(keys.size))
    order = np.argsort(keys, kind="stable")
    assert (found == keys[order]).all()
    assert (rows == order).all()
    assert (keys == before).all()


def test_keys_over_the_whole_range_do_not_wrap() -> None:
    keys = np.tile(np.array([INT64.max, 0, INT64.min]), SMALL)
    found, _ = sort_with_rows(keys, np.arange(keys.size))
    assert (found == np.sort(keys)).all()
