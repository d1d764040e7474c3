"""Every option of the window join, over every type of axis: the rows are those of the naive reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given

import dovetail as dv
from dovetail.testing import assert_same_rows
from tests.temporal.drawn import window_cases

if TYPE_CHECKING:
    from tests.temporal.drawn import WindowCase


@given(window_cases())
def test_a_window_join_is_the_naive_one(case: WindowCase) -> None:
    got = dv.window_join(case.left, case.right, windows=case.windows, **case.options)
    assert_same_rows(got, case.naive(), tolerance=1e-12)
