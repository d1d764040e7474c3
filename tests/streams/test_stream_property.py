"""However batches are cut and mixed, a stream join gives the naive rows, in the order of their validity."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail import stream
from dovetail.testing import assert_same_rows
from tests.streams.drawn import temporal_cases
from tests.streams.flows import batches_of, by_start, is_in_order, pushed

if TYPE_CHECKING:
    from tests.streams.drawn import TemporalCase

EXAMPLES = max(20, int(os.environ.get("DOVETAIL_EXAMPLES", "200")) // 4)
SEEDS = st.integers(0, 2**32)


def _check(case: TemporalCase, algorithm: str, seed: int) -> None:
    dice = random.Random(seed)
    schemas = {name: table.schema for name, table in case.tables.items()}
    operator = stream.temporal_operator(schemas, **case.options, algorithm=algorithm)
    feeds = {name: batches_of(by_start(table), dice) for name, table in case.tables.items()}
    found = pushed(operator, feeds, dice)
    assert_same_rows(found, case.naive())
    assert is_in_order(found)


@pytest.mark.parametrize("algorithm", ["buffer-input", "buffer-output"])
@settings(max_examples=EXAMPLES)
@given(temporal_cases(), SEEDS)
def test_two_streams_give_the_naive_rows_in_order(algorithm: str, case: TemporalCase, seed: int) -> None:
    _check(case, algorithm, seed)


@pytest.mark.parametrize("algorithm", ["buffer-input", "buffer-output"])
@settings(max_examples=EXAMPLES)
@given(temporal_cases(inputs=3), SEEDS)
def test_three_streams_give_the_naive_rows_in_order(algorithm: str, case: TemporalCase, seed: int) -> None:
    _check(case, algorithm, seed)
