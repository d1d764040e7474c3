"""Rows that wait come out when they are due, by their times, whole, whatever their columns and however they came."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from dovetail._core.columns.axis import MOST
from dovetail._hosts.online.waiting import AT, DUE, OWN, Waiting

if TYPE_CHECKING:
    from dovetail._hosts.online.waiting import Due

SCHEMA = pa.schema([("at", pa.int64()), ("seen", pa.timestamp("us")), ("name", pa.string()), ("v", pa.float64())])


def _batch(times: list[int], schema: pa.Schema) -> pa.RecordBatch:
    columns = {
        "at": pa.array(times, pa.int64()),
        "seen": pa.array([None if at % 3 == 0 else at for at in times], pa.timestamp("us")),
        "name": pa.array([str(at) for at in times]),
        "v": pa.array([None if at % 5 == 0 else at / 2 for at in times], pa.float64()),
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _kept(waiting: Waiting, times: list[int], schema: pa.Schema, *, least: bool = False) -> None:
    words = waiting.room(len(times))
    words[: OWN + least] = np.array(times) if times else 0
    words[DUE] += 10
    waiting.append(_batch(times, schema), words)


def _taken(waiting: Waiting, bound: int | None) -> Due | None:
    due, before = waiting.due(bound), len(waiting)
    if due is not None:
        waiting.let_go(due)
        assert len(waiting) == before - due.words.shape[1]
    return due


@pytest.mark.parametrize("schema", [SCHEMA, pa.schema([SCHEMA.field("at"), SCHEMA.field("v")])])
def test_rows_come_out_by_time_as_they_went_in(schema: pa.Schema) -> None:
    dice, waiting, bound = random.Random(5), Waiting(schema, 0), 0
    left: list[int] = []
    for turn in range(300):
        times = [10 * turn + dice.randrange(200) for _ in range(dice.randrange(12))]
        _kept(waiting, times, schema)
        left += times
        bound = max(bound, 10 * turn - 100)
        due = sorted(at for at in left if at + 10 < bound)
        left = [at for at in left if at + 10 >= bound]
        taken = _taken(waiting, bound)
        assert (taken is None) == (not due)
        if taken is not None:
            assert taken.words[AT].tolist() == due
            assert pa.RecordBatch.from_arrays(taken.columns, schema=schema).equals(_batch(due, schema))
    assert len(waiting) == len(left)
    dumped = list(waiting.dump())
    again = Waiting(schema, 0)
    again.load(*dumped)
    for own in (waiting, again):
        taken = _taken(own, None)
        assert taken is not None
        assert taken.words[AT].tolist() == sorted(left)
        assert len(own) == 0


def test_the_least_key_is_that_of_the_rows_left() -> None:
    waiting = Waiting(SCHEMA, 1)
    assert waiting.least == MOST
    for times in ([5, 1, 9], [3], []):
        _kept(waiting, times, SCHEMA, least=True)
    assert waiting.least == 1
    _taken(waiting, 14)
    assert waiting.least == 5
    _taken(waiting, 16)
    assert waiting.least == 9


def test_rows_that_are_due_stay_until_they_are_let_go() -> None:
    waiting = Waiting(SCHEMA, 0)
    for times in ([5, 1, 9], [3]):
        _kept(waiting, times, SCHEMA)
    for own in (waiting.due(14), _taken(waiting, 14)):
        assert own is not None
        assert own.words[AT].tolist() == [1, 3]
    assert len(waiting) == 2
    assert waiting.due(14) is None
