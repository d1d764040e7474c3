"""Every option of the as-of join, over every type of axis: the rows are those of the naive reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given

import dovetail as dv
from dovetail.testing import assert_same_rows
from tests.temporal.drawn import asof_cases

if TYPE_CHECKING:
    from tests.temporal.drawn import AsOfCase


@given(asof_cases())
def test_an_asof_join_is_the_naive_one(case: AsOfCase) -> None:
    assert_same_rows(dv.asof_join(case.left, case.right, **case.options), case.naive())
