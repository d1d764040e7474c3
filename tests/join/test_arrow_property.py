"""Every kind of join, every type and edge value, on the Arrow host: the rows are those of the naive reference."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
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


def test_bounds_of_different_scales_lie_on_axes_of_their_own() -> None:
    table = pa.table({"x": pa.array([Decimal(-1), Decimal("1.5"), Decimal(2)], pa.decimal128(10, 2))})
    got = dv.join(table, table, on="r.x >= l.x - 0.25 AND r.x <= l.x + 0.001")
    assert_same_rows(got, [(x, x) for x in table.column("x").to_pylist()])
