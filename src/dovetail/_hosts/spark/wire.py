"""Arrow tables as bytes: for statistics on their way to the driver and broadcast sides on their way to the tasks."""

from __future__ import annotations

import pyarrow as pa

from dovetail._hosts.ring import wire
from dovetail._hosts.ring.wire import unpack

__all__ = ["pack", "unpack", "whole"]


def pack(table: pa.Table) -> bytes:
    """Write a table as an Arrow stream, in a form that travels with a task."""
    return bytes(wire.pack(table))


def whole(table: pa.Table, same: tuple[tuple[str, str], ...]) -> pa.Table:
    """A table with every column of the projection, of which each distinct one travelled once."""
    known = [(name, first) for name, first in same if first in table.column_names]
    return pa.Table.from_arrays([table.column(first) for _, first in known], names=[name for name, _ in known])
