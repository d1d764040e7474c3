"""Arrow tables as bytes: for statistics on their way to the driver and broadcast sides on their way to the tasks."""

from __future__ import annotations

import pyarrow as pa


def pack(table: pa.Table) -> bytes:
    """Write a table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def unpack(data: bytes) -> pa.Table:
    """Read a table from an Arrow stream, without copying it."""
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        return reader.read_all()


def whole(table: pa.Table, same: tuple[tuple[str, str], ...]) -> pa.Table:
    """A table with every column of the projection, of which each distinct one travelled once."""
    known = [(name, first) for name, first in same if first in table.column_names]
    return pa.Table.from_arrays([table.column(first) for _, first in known], names=[name for name, _ in known])
