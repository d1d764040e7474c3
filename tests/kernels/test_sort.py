"""The radix sort is NumPy's stable sort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dovetail._core.kernels.sort import SMALL, sort_with_order

INT64 = np.iinfo(np.int64)


@given(arrays(np.int64, st.integers(0, 50), elements=st.integers(INT64.min, INT64.max)))
def test_any_keys_sort_with_their_rows(keys: np.ndarray) -> None:
    found, rows = sort_with_order(keys)
    order = np.argsort(keys, kind="stable")
    assert found.tolist() == keys[order].tolist()
    assert rows.tolist() == order.tolist()


@pytest.mark.parametrize("high", [1, 2, 2**11, 2**12, 2**33, 2**49, 2**50, 2**63 - 1])
def test_many_keys_take_the_radix_passes_and_stay_stable(high: int) -> None:
    random = np.random.default_rng(3)
    keys = random.integers(-high, high, 3 * SMALL)
    before = keys.copy()
    found, rows = sort_with_order(keys)
    order = np.argsort(keys, kind="stable")
    assert (found == keys[order]).all()
    assert (rows == order).all()
    assert (keys == before).all()


def test_keys_over_the_whole_range_do_not_wrap() -> None:
    keys = np.tile(np.array([INT64.max, 0, INT64.min]), SMALL)
    found, _ = sort_with_order(keys)
    assert (found == np.sort(keys)).all()


@pytest.mark.parametrize("outlier", [INT64.max, 2**50])
def test_an_outlier_that_takes_the_leading_bits_costs_time_not_order(outlier: int) -> None:
    keys = np.random.default_rng(5).integers(-1000, 1000, 3 * SMALL)
    keys[7] = outlier
    found, rows = sort_with_order(keys)
    assert (rows == np.argsort(keys, kind="stable")).all()
    assert (found == keys[rows]).all()
