"""A temporal join of tables is the naive one, and at every instant the join of what is valid then."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hypothesis import given, settings

import dovetail as dv
from dovetail.testing import assert_same_rows
from tests.streams.drawn import temporal_cases

if TYPE_CHECKING:
    from tests.streams.drawn import TemporalCase

EXAMPLES = max(20, int(os.environ.get("DOVETAIL_EXAMPLES", "200")) // 6)


@settings(max_examples=EXAMPLES)
@given(temporal_cases())
def test_a_temporal_join_of_two_tables_is_the_naive_one(case: TemporalCase) -> None:
    assert_same_rows(dv.temporal_join(**case.tables, **case.options), case.naive())


@settings(max_examples=EXAMPLES // 2)
@given(temporal_cases(inputs=3))
def test_a_temporal_join_of_three_tables_is_the_naive_one(case: TemporalCase) -> None:
    assert_same_rows(dv.temporal_join(**case.tables, **case.options), case.naive())
