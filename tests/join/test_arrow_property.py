"""Every kind of join, every type and edge value, on the Arrow host: the rows are those of the naive reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

import dovetail as dv
from dovetail.testing import assert_same_rows
from tests.strategies import KINDS, cases

if TYPE_CHECKING:
    from tests.strategies import Case


def _check(case: Case) -> None:
    assert_same_rows(dv.join(case.left, case.right, on=case.on, how=case.how), case.naive())


@pytest.mark.parametrize("kind", KINDS)
def test_a_join_is_the_naive_join(kind: str) -> None:
    given(cases(kind))(_check)()
