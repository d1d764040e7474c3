"""A side on its way to be joined: keys `k0`..., compared values `v0`..., `fits` if it has filters, its columns `p0`...

Columns of one text travel once; `same` names, for every column, the one that travelled in its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from dovetail._core.columns.table import Columns, one_chunk
from dovetail._core.sweep.prepare import SideColumns

if TYPE_CHECKING:
    Same = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Projection:
    """How to read a side: `payload` are the input's columns behind `p0`, `p1`, ..., `showing` the places shown.

    Without `same`, all columns travelled.
    """

    name: str
    payload: tuple[str, ...]
    showing: tuple[str, ...]
    same: Same = ()

    def keys(self, table: pa.Table) -> SideColumns:
        """The side's keys and filters."""
        found = side_columns(self.whole(table))
        return SideColumns(found.rows, found.fits, found.keys, ())

    def carried(self, table: pa.Table) -> list[str]:
        """The places of the payload."""
        places = dict(self.same) or {name: name for name in table.column_names}
        return list(dict.fromkeys(places[f"p{i}"] for i in range(len(self.payload))))

    def columns(self, table: pa.Table) -> Columns:
        """The payload under its own names."""
        rows = self.whole(table)
        arrays = {(self.name, own): one_chunk(rows.column(f"p{i}")) for i, own in enumerate(self.payload)}
        return Columns(arrays, table.num_rows)

    def shown(self, table: pa.Table) -> list[pa.Array]:
        """The columns that the result shows."""
        rows = self.whole(table)
        return [one_chunk(rows.column(name)) for name in self.showing]

    def whole(self, table: pa.Table) -> pa.Table:
        """All columns, from those that travelled."""
        return whole(table, self.same) if self.same else table


def whole(table: pa.Table, same: Same) -> pa.Table:
    """A table with every column of the projection, of which each distinct one travelled once."""
    there = set(table.column_names)
    known = [(name, first) for name, first in same if first in there]
    return pa.Table.from_arrays([table.column(first) for _, first in known], names=[name for name, _ in known])


def side_columns(table: pa.Table) -> SideColumns:
    """A projection as the sweep needs it."""
    fits = one_chunk(table.column("fits")) if "fits" in table.column_names else None
    keys, values = (tuple(one_chunk(table.column(name)) for name in named(table.column_names, own)) for own in "kv")
    return SideColumns(table.num_rows, fits, keys, values)


def named(columns: list[str], letter: str) -> list[str]:
    """The columns of one group: `k`, `v` or `p`."""
    return [name for name in columns if name[0] == letter and name[1:].isdigit()]
