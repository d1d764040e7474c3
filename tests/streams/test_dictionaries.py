"""Dictionaries of a stream's batches: each may bring values of its own, and none outlives its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail import stream

if TYPE_CHECKING:
    from collections.abc import Iterator

BATCHES, ROWS = 30, 1000
TOGETHER = 3 * ROWS
"""How many values a dictionary of a result may have: those of the rows that were at hand together."""


def _named(name: str) -> Iterator[pa.RecordBatch]:
    """Yield batches whose texts are all new."""
    for first in range(0, BATCHES * ROWS, ROWS):
        texts = [f"{name}{i}" for i in range(first, first + ROWS)]
        codes = pa.DictionaryArray.from_arrays(pa.array(range(ROWS), pa.int16()), texts)
        yield pa.record_batch({"ts": pa.array(range(first, first + ROWS)), "d": codes})


@pytest.mark.parametrize("algorithm", ["buffer-input", "buffer-output"])
@pytest.mark.parametrize("how", ["inner", "left", "anti"])
def test_results_do_not_carry_along_what_has_ended(how: str, algorithm: str) -> None:
    call: dict[str, Any] = {"on": "a.ts = b.ts + 1", "ts": "ts", "window": dv.sliding(3)}
    found = list(stream.temporal_join(a=_named("a"), b=_named("b"), how=how, algorithm=algorithm, **call))
    assert max(len(batch.column("d").dictionary) for batch in found) <= TOGETHER
    texts = {text for batch in found for text in batch.column("d").to_pylist()}
    assert texts == {f"a{i}" for i in range(1 if how == "inner" else 0, BATCHES * ROWS)}


@pytest.mark.parametrize("algorithm", ["tpmj", "progressive"])
def test_runs_hold_the_dictionaries_of_many_batches(algorithm: str) -> None:
    feeds: dict[str, Any] = {"a": _named("a"), "b": _named("b")}
    disk: dict[str, Any] = {"memory": 1 << 18, "fan_in": 2}
    if algorithm == "progressive":
        got = stream.join(**feeds, on="a.ts = b.ts", **disk).read_all()
    else:
        call: dict[str, Any] = {"ts": "ts", "window": dv.sliding(5000), "algorithm": "tpmj"}
        got = stream.temporal_join(**feeds, on="a.ts = b.ts", **call, **disk).read_all()
    got = got.sort_by("ts")
    assert got["d"].to_pylist() == [f"a{i}" for i in range(BATCHES * ROWS)]
    assert got["b_d"].to_pylist() == [f"b{i}" for i in range(BATCHES * ROWS)]
