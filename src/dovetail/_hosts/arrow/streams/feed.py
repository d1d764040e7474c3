"""Iterators of batches as inputs of an operator: their columns, and which one is asked next."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail._hosts.arrow.plain import roomy_schema
from dovetail._hosts.arrow.streams.arrivals import checked
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from dovetail._hosts.arrow.streams.temporal import TemporalOperator
    from dovetail._hosts.arrow.streams.tpmj import TpmjOperator

PARTS = 8
"""A batch may take an eighth of memory."""
HIDDEN = 64
"""Bytes that the order keys beside a row take, about."""


def refuse_twice(inputs: dict[str, Any]) -> None:
    """Refuse a reader or iterator that is two inputs at once: its batches would go to one or the other."""
    seen: dict[int, str] = {}
    for name, given in inputs.items():
        if isinstance(given, (pa.RecordBatchReader, Iterator)) and id(given) in seen:
            raise UsageError.stream_twice(seen[id(given)], name)
        seen[id(given)] = name


def open_stream(name: str, given: Any) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The columns of a stream and its batches, made plain; the first batch tells them if nothing else does."""
    given_schema, batches = _open(name, given)
    schema = roomy_schema(given_schema)
    return schema, (checked(name, batch, schema) for batch in batches)


def _open(name: str, given: Any) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    if isinstance(given, pa.Table):
        return given.schema, iter(given.to_batches())
    if isinstance(given, pa.RecordBatch):
        return given.schema, iter([given])
    if isinstance(given, pa.RecordBatchReader):
        return given.schema, iter(given)
    if not hasattr(given, "__iter__") or isinstance(given, (str, bytes, dict)):
        raise UsageError.no_batches(name, type(given).__name__)
    batches = iter(given)
    first = next(batches, None)
    if first is None:
        raise UsageError.no_schema(name)
    if not isinstance(first, pa.RecordBatch):
        raise UsageError.no_batches(name, f"{type(given).__name__} of {type(first).__name__}")
    return first.schema, chain([first], batches)


def in_pieces(batches: Iterator[pa.RecordBatch], memory: int) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of a small part of memory, however many are given at once."""
    for batch in batches:
        rows = max(1, memory * batch.num_rows // (PARTS * (batch.nbytes + HIDDEN * batch.num_rows + 1)))
        for at in range(0, batch.num_rows, rows):
            yield batch.slice(at, rows)


def drive(
    operator: TemporalOperator | TpmjOperator, feeds: dict[str, Iterator[pa.RecordBatch]]
) -> Iterator[pa.RecordBatch]:
    """Ask the input whose time is furthest behind for its next batch, until all have ended.

    Where that makes few rows complete, since another input is hardly further, that one is asked before they are joined.
    """
    feeds = dict(feeds)
    try:
        while feeds:
            name = min(feeds, key=lambda own: operator.arrivals[own].frontier)
            batch = next(feeds[name], None)
            if batch is None:
                del feeds[name]
                yield from operator.on_end(name)
            elif batch.num_rows:
                operator.take(name, batch)
                yield from operator.advance() if operator.due(batch.num_rows) else ()
    finally:
        operator.close()
