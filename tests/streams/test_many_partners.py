"""Rows with very many partners: their results come in batches of bounded size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail import stream
from dovetail._core.columns import long_texts
from dovetail._core.sweep.stream_join import PIECE

if TYPE_CHECKING:
    from collections.abc import Iterator


def _joined(call: str, how: str, on: str) -> Iterator[pa.RecordBatch]:
    left = pa.table({"k": [1, 1, 2], "t": ["x" * 1000, "y", "z"], "ts": [1, 1, 1]})
    right = pa.table({"k": [1] * 100, "n": range(100), "ts": [1] * 100})
    if call == "progressive":
        return iter(stream.join(a=left, b=right, on=on))
    window: dict[str, Any] = {"ts": "ts", "window": dv.sliding(3)}
    return iter(stream.temporal_join(a=left, b=right, on=on, how=how, algorithm=call, **window))


@pytest.mark.parametrize("on", ["a.k = b.k", "a.k = b.k AND concat(a.t, b.n) <> 'y7'"])
@pytest.mark.parametrize(
    ("call", "how"),
    [
        ("progressive", "inner"),
        ("tpmj", "inner"),
        *((call, how) for call in ("buffer-input", "buffer-output") for how in ("inner", "left", "full")),
    ],
)
def test_a_long_text_with_many_partners_makes_small_batches(
    call: str, how: str, on: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_texts, "MOST_BYTES", 5000)
    found = list(_joined(call, how, on))
    assert max(batch.num_rows for batch in found) <= 5
    rows = [(text, n) for batch in found for text, n in zip(*map(batch.column, ("t", "n")), strict=True)]
    unmatched = 0 if how == "inner" else 1
    assert len(rows) == len(set(rows)) == (199 if "<>" in on else 200) + unmatched


def test_rows_of_one_key_are_joined_some_at_a_time() -> None:
    rows = pa.table({"k": [1] * 1500, "n": range(1500)})
    found = [batch.num_rows for batch in stream.join(a=rows, b=rows, on="a.k = b.k")]
    assert sum(found) == 1500 * 1500
    assert max(found) <= PIECE + 1500
