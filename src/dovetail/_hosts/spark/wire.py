"""Arrow tables on their way to the driver or to tasks: as bytes, of types that we know, as narrow as they can be."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from dovetail._hosts.ring import wire
from dovetail._hosts.ring.wire import chunks, unpack

__all__ = ["chunks", "narrowed", "pack", "plain", "unpack", "widened"]

_NARROW = (pa.int8(), pa.int16(), pa.int32())
_WIDE = b"dovetail schema"
"""Where a narrowed table keeps the types that it had."""


_LARGE = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}


def plain(rows: pa.Table) -> pa.Table:
    """Rows, or a batch of them, whose texts have the one type that we know: a session may ask for large ones."""
    for i, field in enumerate(rows.schema):
        if field.type in _LARGE:
            rows = rows.set_column(i, field.name, rows.column(i).cast(_LARGE[field.type]))
    return rows


def pack(table: pa.Table) -> bytes:
    """Write a table as an Arrow stream, in a form that travels with a task."""
    return bytes(wire.pack(table))


def narrowed(table: pa.Table) -> pa.Table:
    """A table whose whole numbers take as few bytes as they need: what goes to every task is copied several times."""
    fields = [field.with_type(_narrow_type(table.column(i))) for i, field in enumerate(table.schema)]
    return _of_schema(table, pa.schema(fields, {_WIDE: table.schema.serialize().to_pybytes()}))


def widened(table: pa.Table) -> pa.Table:
    """A narrowed table as it was."""
    return _of_schema(table, pa.ipc.read_schema(pa.py_buffer(table.schema.metadata[_WIDE])))


def _of_schema(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table whose columns have these types; Arrow casts no struct that is NULL and has fields that never are."""
    both = zip(table.columns, schema.types, strict=True)
    return pa.Table.from_arrays([own if own.type == kind else own.cast(kind) for own, kind in both], schema=schema)


def _narrow_type(column: pa.ChunkedArray) -> pa.DataType:
    if column.type != pa.int64() or column.null_count == len(column):
        return column.type
    least, greatest = (end.as_py() for end in pc.min_max(column).values())
    fitting = (kind for kind in _NARROW if -1 << kind.bit_width - 1 <= least and greatest < 1 << kind.bit_width - 1)
    return next(fitting, column.type)
