"""Snapshot reducibility: at every instant, what is valid of the result is the join of what is valid of the inputs."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.testing import assert_same_rows, naive_join
from tests.amount import one_in
from tests.streams.drawn import temporal_cases

if TYPE_CHECKING:
    from tests.streams.drawn import TemporalCase


def _valid(start: Any, end: Any, instant: Any) -> bool:
    return start is not None and start <= instant and (end is None or instant < end)


def _snapshot(table: pa.Table, ends: tuple[str, str], instant: Any) -> pa.Table:
    starts, stops = (table.column(name).to_pylist() for name in ends)
    return table.filter(pa.array([_valid(*own, instant) for own in zip(starts, stops, strict=True)], pa.bool_()))


@pytest.mark.parametrize("algorithm", ["auto", "buffer-input", "buffer-output"])
@settings(max_examples=one_in(12, 10))
@given(temporal_cases().filter(lambda case: "valid" in case.options), st.integers(0, 2**32))
def test_every_snapshot_is_a_join_of_snapshots(algorithm: str, case: TemporalCase, seed: int) -> None:
    if case.tables["a"].schema.field("s").type in ("float", "double"):
        return  # NaN has no place among instants that are compared here
    found = dv.temporal_join(**case.tables, **case.options, algorithm=algorithm)
    tables = list(case.tables.values())
    every = {own for table in tables for name in "se" for own in table.column(name).to_pylist() if own is not None}
    for instant in random.Random(seed).sample(sorted(every), min(len(every), 8)):
        left, right = (_snapshot(table, ("s", "e"), instant) for table in tables)
        want = naive_join(left, right, case.options["on"], case.options["how"], names=("a", "b"))
        then = _snapshot(found, ("valid_start", "valid_end"), instant)
        assert_same_rows(then.drop_columns(["valid_start", "valid_end"]), want)
