"""Arrow tables on their way: as bytes to the driver or to tasks, and put together where they come in batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from dovetail._hosts.ring import wire
from dovetail._hosts.ring.wire import unpack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["chunks", "pack", "unpack", "whole"]


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


def pack(table: pa.Table) -> bytes:
    """Write a table as an Arrow stream, in a form that travels with a task."""
    return bytes(wire.pack(table))


def whole(table: pa.Table, same: tuple[tuple[str, str], ...]) -> pa.Table:
    """A table with every column of the projection, of which each distinct one travelled once."""
    known = [(name, first) for name, first in same if first in table.column_names]
    return pa.Table.from_arrays([table.column(first) for _, first in known], names=[name for name, _ in known])
