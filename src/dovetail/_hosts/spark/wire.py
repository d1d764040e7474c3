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
