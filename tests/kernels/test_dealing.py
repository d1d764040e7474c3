"""Rows are dealt to joiners by their partitions' parts, and kept together by joiner in the order they came in."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail._core.kernels.dealing import deal_rows, group_by_owner


def test_rows_of_a_joiner_stand_together_in_the_order_given() -> None:
    owners = np.array([1, 0, 2, 1, 0])
    begins, rows = np.array([0, 2, 4]), np.empty(5, np.int64)
    group_by_owner(np.array([4, 3, 2, 1, 0]), owners, begins, rows)
    assert rows.tolist() == [4, 1, 3, 0, 2]
    assert begins.tolist() == [2, 4, 5]


@pytest.mark.parametrize(("up_to", "shares"), [([1.0, 1.0], [1, 0, 0]), ([0.0, 0.25], [0, 0.25, 0.75])])
def test_every_joiner_gets_its_part_of_a_partition(up_to: list[float], shares: list[float]) -> None:
    seen, loads, owners = np.zeros(1), np.zeros(3), np.empty(10_000, np.int64)
    deal_rows(np.arange(10_000) - 1, np.array([up_to]), 0, seen, loads, owners)
    assert seen.tolist() == [10_000]
    assert np.bincount(owners, minlength=3).tolist() == loads.tolist()
    assert loads / 10_000 == pytest.approx(np.array(shares), abs=0.01)
