"""Joins with runs on disk: with memory for a few rows at a time, the rows are those of a join in memory."""

from __future__ import annotations

import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dovetail import stream
from dovetail._hosts.arrow.streams import tpmj
from dovetail.errors import UsageError
from dovetail.testing import assert_same_rows
from tests.amount import one_in
from tests.strategies import cases
from tests.streams.drawn import temporal_cases
from tests.streams.flows import batches_of, by_start, is_in_order, pushed

if TYPE_CHECKING:
    from tests.strategies import Case
    from tests.streams.drawn import TemporalCase

SEEDS = st.integers(0, 2**32)
STRATEGIES = st.sampled_from(["max-fan-in", "greedy", "adaptive"])
KINDS = ["equality", "one_inequality", "point_in_interval", "band", "overlap", "two_inequalities"]


def _feed(table: pa.Table, dice: random.Random) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(table.schema, batches_of(table, dice))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=one_in(16))
@given(st.data(), SEEDS, STRATEGIES, st.integers(2, 4))
def test_a_progressive_join_is_the_naive_join(
    kind: str, data: st.DataObject, seed: int, strategy: str, fan_in: int
) -> None:
    case: Case = data.draw(cases(kind, ["inner"]))
    dice = random.Random(seed)
    inputs = {"l": _feed(case.left, dice), "r": _feed(case.right, dice)}
    try:
        reader = stream.join(**inputs, on=case.on, memory=8192, strategy=strategy, fan_in=fan_in)
    except UsageError as error:
        assume("one order of values" not in str(error))
        raise
    assert_same_rows(reader.read_all(), case.naive())


@pytest.mark.parametrize("inputs", [2, 3])
@settings(max_examples=one_in(8))
@given(st.data(), SEEDS, STRATEGIES, st.integers(2, 4))
def test_a_tpmj_gives_the_naive_rows_in_order(
    inputs: int, data: st.DataObject, seed: int, strategy: str, fan_in: int
) -> None:
    case: TemporalCase = data.draw(temporal_cases(inputs, ("inner",)))
    dice = random.Random(seed)
    schemas = {name: table.schema for name, table in case.tables.items()}
    with TemporaryDirectory() as path:
        disk: dict[str, Any] = {
            "memory": dice.choice([4096, 8192]),
            "directory": Path(path),
            "strategy": strategy,
            "fan_in": fan_in,
        }
        small = dice.choice([tpmj.SHARE, 1e-6])
        try:
            operator = stream.temporal_operator(schemas, **case.options, algorithm="tpmj", **disk)
        except UsageError as error:
            assume("one order of values" not in str(error))
            raise
        feeds = {name: batches_of(by_start(table), dice) for name, table in case.tables.items()}
        with patch.object(tpmj, "SHARE", small):
            found = pushed(operator, feeds, dice)
        assert_same_rows(found, case.naive())
        assert is_in_order(found)
