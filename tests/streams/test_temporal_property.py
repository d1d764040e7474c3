"""A temporal join of tables is the naive one, and at every instant the join of what is valid then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings

import dovetail as dv
from dovetail.testing import assert_same_rows
from tests.amount import one_in
from tests.streams.drawn import temporal_cases

if TYPE_CHECKING:
    from tests.streams.drawn import TemporalCase


@settings(max_examples=one_in(6))
@given(temporal_cases())
def test_a_temporal_join_of_two_tables_is_the_naive_one(case: TemporalCase) -> None:
    assert_same_rows(dv.temporal_join(**case.tables, **case.options), case.naive())


@settings(max_examples=one_in(12))
@given(temporal_cases(inputs=3))
def test_a_temporal_join_of_three_tables_is_the_naive_one(case: TemporalCase) -> None:
    assert_same_rows(dv.temporal_join(**case.tables, **case.options), case.naive())
