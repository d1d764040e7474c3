"""The caller's rows as Arrow batches of a known schema, and results in the form in which the rows came."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail._hosts.arrow.frames import Frame, open_frame
from dovetail._hosts.arrow.plain import no_rows
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator


class RowReader:
    """Reads what callers give as rows of one side."""

    def __init__(self, side: str, schema: pa.Schema) -> None:
        self.side, self.schema = side, schema
        self._loose = [number for number, kind in enumerate(schema.types) if not _is_fixed(kind)]
        self._any_dictionary = any(map(_has_dictionary, schema.types))

    def open(self, given: Any) -> tuple[pa.RecordBatch, Frame]:
        """Read a mapping, a list of them, or a frame; the frame tells how to hand results back."""
        if isinstance(given, pa.RecordBatch) and given.schema.equals(self.schema):
            return self._whole(given), Frame(given, as_table)
        if isinstance(given, Mapping):
            return _from_mappings(self.side, self.schema, [given]), Frame(given, _as_list)
        if isinstance(given, (list, tuple)) and all(isinstance(row, Mapping) for row in given):
            return _from_mappings(self.side, self.schema, list(given)), Frame(given, _as_list)
        frame = open_frame(self.side, given)
        return self._whole(_fitted(self.side, self.schema, frame.table)), frame

    def to_bytes(self, batch: pa.RecordBatch) -> bytes:
        """Rows for a file: a message, or a stream where dictionaries must come before it."""
        return stream_bytes(batch) if self._any_dictionary else bytes(batch.serialize().to_pybytes())

    def from_bytes(self, content: bytes) -> pa.RecordBatch:
        """The rows back."""
        if self._any_dictionary:
            return stream_batch(content)
        return pa.ipc.read_record_batch(pa.py_buffer(content), self.schema)

    def _whole(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Refuse bytes that are no text, and whatever else Arrow would only find when a value is read."""
        for number in self._loose:
            try:
                batch.column(number).validate(full=True)
            except (pa.ArrowException, ValueError) as error:
                raise UsageError.bad_rows(self.side, f"{self.schema.names[number]!r}: {_line(error)}") from None
        return batch


def stream_bytes(batch: pa.RecordBatch) -> bytes:
    """Rows with their schema."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


def stream_batch(content: bytes) -> pa.RecordBatch:
    """The rows back."""
    return pa.ipc.open_stream(content).read_next_batch()


def _is_fixed(kind: pa.DataType) -> bool:
    """Whether any bits are a value of a type."""
    return bool(pa.types.is_primitive(kind) or pa.types.is_decimal(kind))


def _has_dictionary(kind: pa.DataType) -> bool:
    """Whether some values of a type are told by their numbers."""
    inner = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
    return pa.types.is_dictionary(inner) or any(_has_dictionary(inner.field(i).type) for i in range(inner.num_fields))


def as_table(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> pa.Table:
    return pa.Table.from_batches(batches, schema)


def _as_list(_schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> list[dict[str, Any]]:
    return [row for batch in batches for row in batch.to_pylist()]


def _from_mappings(side: str, schema: pa.Schema, rows: list[Mapping[str, Any]]) -> pa.RecordBatch:
    """The columns of a schema; as with frames, all must be there, and no value is changed on its way."""
    for row in rows:
        for name in schema.names:
            if name not in row:
                raise UsageError.unknown_column(name, side, [str(own) for own in row])
    columns = [_column(side, field, [row[field.name] for row in rows]) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _column(side: str, field: pa.Field, values: list[Any]) -> pa.Array:
    kind = field.type
    try:
        column = pa.array(values, kind, from_pandas=pa.types.is_temporal(kind))  # pandas' NaT is no time
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise UsageError.bad_rows(side, f"{field.name!r}: {_line(error)}") from None
    if pa.types.is_integer(kind) or pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and kind.unit != "ns"):
        for given, kept in zip(values, column.to_pylist(), strict=True):
            if kept is not None and not _is_kept(given, kept):
                raise UsageError.bad_rows(side, f"{field.name!r}: {given} is more than a value of type {kind} holds")
    return column


def _is_kept(given: Any, kept: Any) -> bool:
    """Whether a whole number or moment is what was given; moments without a zone are those of UTC."""
    if not isinstance(kept, dt.date):
        return bool(given == kept)
    if not isinstance(given, dt.datetime):
        return True
    moments = [own if isinstance(own, dt.datetime) else dt.datetime.combine(own, dt.time()) for own in (given, kept)]
    one, other = (own if own.tzinfo else own.replace(tzinfo=dt.UTC) for own in moments)
    return bool(one == other)


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
    return batches[0] if batches else no_rows(schema)


def _line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".")
