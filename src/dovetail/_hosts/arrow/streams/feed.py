"""Iterators of batches as inputs of an operator: their columns, and which one is asked next."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail._hosts.arrow.streams.arrivals import checked
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dovetail._hosts.arrow.streams.temporal import TemporalOperator
    from dovetail._hosts.arrow.streams.tpmj import TpmjOperator


def open_stream(name: str, given: Any) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The columns of a stream and its batches; the first batch tells them if nothing else does."""
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
    return first.schema, (checked(name, batch, first.schema) for batch in chain([first], batches))


def drive(
    operator: TemporalOperator | TpmjOperator, feeds: dict[str, Iterator[pa.RecordBatch]]
) -> Iterator[pa.RecordBatch]:
    """Ask the input whose time is furthest behind for its next batch, until all have ended.

    Where that makes few rows complete, since another input is hardly further, that one is asked before they are joined.
    """
    feeds = dict(feeds)
    while feeds:
        name = min(feeds, key=lambda own: operator.arrivals[own].frontier)
        batch = next(feeds[name], None)
        if batch is None:
            del feeds[name]
            yield from operator.on_end(name)
        elif batch.num_rows:
            operator.take(name, batch)
            yield from operator.advance() if operator.due(batch.num_rows) else ()
