"""However batches are cut and mixed, a stream join gives the naive rows, in the order of their validity."""

from __future__ import annotations

import pickle
import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail import stream
from dovetail._hosts.arrow.streams.tpmj import TpmjOperator
from dovetail.testing import assert_same_rows
from tests.amount import one_in
from tests.streams.drawn import temporal_cases
from tests.streams.flows import batches_of, by_start, is_in_order, pushed

if TYPE_CHECKING:
    from tests.streams.drawn import TemporalCase

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
@settings(max_examples=one_in(6))
@given(temporal_cases(), SEEDS)
def test_two_streams_give_the_naive_rows_in_order(algorithm: str, case: TemporalCase, seed: int) -> None:
    _check(case, algorithm, seed)


@pytest.mark.parametrize("algorithm", ["buffer-input", "buffer-output"])
@settings(max_examples=one_in(6))
@given(temporal_cases(inputs=3), SEEDS)
def test_three_streams_give_the_naive_rows_in_order(algorithm: str, case: TemporalCase, seed: int) -> None:
    _check(case, algorithm, seed)


@pytest.mark.parametrize("algorithm", ["buffer-input", "buffer-output"])
@settings(max_examples=one_in(12))
@given(temporal_cases(), SEEDS)
def test_a_restored_operator_goes_on_where_the_other_stopped(algorithm: str, case: TemporalCase, seed: int) -> None:
    dice = random.Random(seed)
    schemas = {name: table.schema for name, table in case.tables.items()}
    feeds = {name: batches_of(by_start(table), dice) for name, table in case.tables.items()}
    first, second = (stream.temporal_operator(schemas, **case.options, algorithm=algorithm) for _ in range(2))
    assert not isinstance(first, TpmjOperator)
    assert not isinstance(second, TpmjOperator)
    results = [batch for name, own in feeds.items() for given in own[:2] for batch in first.on_batch(name, given)]
    state = pickle.loads(pickle.dumps(first.snapshot()))  # noqa: S301 -- our own
    rest = {name: own[2:] for name, own in feeds.items()}
    pushed(first, rest, random.Random(seed))  # whatever becomes of the first, the second does not see it
    second.restore(state)
    results += pushed(second, rest, dice).to_batches()
    found = pa.Table.from_batches(results, second.told.schema)
    assert_same_rows(found, case.naive())
    assert is_in_order(found)
