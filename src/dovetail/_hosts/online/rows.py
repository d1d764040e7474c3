"""The caller's rows as Arrow batches of a known schema, and results in the form in which the rows came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail._hosts.arrow.frames import Frame, open_frame
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator


def open_rows(side: str, schema: pa.Schema, given: Any) -> tuple[pa.RecordBatch, Frame]:
    """Read a mapping, a list of them, or a frame; the frame tells how to hand results back."""
    if isinstance(given, pa.RecordBatch) and given.schema.equals(schema):
        return given, Frame(given, _as_table)
    if isinstance(given, Mapping):
        return _from_mappings(side, schema, [given]), Frame(given, _as_list)
    if isinstance(given, (list, tuple)) and all(isinstance(row, Mapping) for row in given):
        return _from_mappings(side, schema, list(given)), Frame(given, _as_list)
    frame = open_frame(side, given)
    return _fitted(side, schema, frame.table), frame


def empty_batch(schema: pa.Schema) -> pa.RecordBatch:
    """No rows of a schema."""
    return pa.RecordBatch.from_pylist([], schema)


def _as_table(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> pa.Table:
    return pa.Table.from_batches(batches, schema)


def _as_list(_schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> list[dict[str, Any]]:
    return [row for batch in batches for row in batch.to_pylist()]


def _from_mappings(side: str, schema: pa.Schema, rows: list[Mapping[str, Any]]) -> pa.RecordBatch:
    try:
        return pa.RecordBatch.from_pylist(rows, schema)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise UsageError.bad_rows(side, _line(error)) from None


def _fitted(side: str, schema: pa.Schema, table: pa.Table) -> pa.RecordBatch:
    """The columns of a schema, whatever their order in the table; no type is changed that could lose a value."""
    for name in schema.names:
        if name not in table.column_names:
            raise UsageError.unknown_column(name, side, table.column_names)
    try:
        fitted = table.select(schema.names).cast(schema).combine_chunks()
    except (pa.ArrowException, ValueError) as error:
        raise UsageError.bad_rows(side, _line(error)) from None
    batches = fitted.to_batches()
    return batches[0] if batches else empty_batch(schema)


def _line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".")
