"""Arrow tables on their way: as bytes from worker to worker, and put together where they come in batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.emit.meeting import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MARK = "dovetail mark"
"""The column that says which rows of a part have found a partner."""


def pack(table: pa.Table) -> pa.Buffer:
    """Write a table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def unpack(data: pa.Buffer | bytes) -> pa.Table:
    """Read a table from an Arrow stream, without copying it."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()


def chunks(batches: Iterable[pa.RecordBatch], rows: int, size: int) -> Iterator[pa.Table]:
    """Batches put together until there are so many rows or bytes."""
    waiting: list[pa.RecordBatch] = []
    left = rows, size
    for batch in batches:
        waiting.append(batch)
        left = left[0] - batch.num_rows, left[1] - batch.nbytes
        if min(left) <= 0:
            yield pa.Table.from_batches(waiting)
            waiting, left = [], (rows, size)
    if waiting:
        yield pa.Table.from_batches(waiting)


def with_marks(part: Part) -> pa.Table:
    """A part as one table; its marks take a bit each."""
    return part.table.append_column(MARK, pa.array(part.marked))


def without_marks(table: pa.Table) -> Part:
    """A part from its table."""
    marked = table.column(MARK).combine_chunks().to_numpy(zero_copy_only=False)
    return Part(table.drop_columns(MARK), np.array(marked, np.bool_))
