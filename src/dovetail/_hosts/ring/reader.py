"""How a worker reads a side: keys `k0`..., `fits` if the side has filters, and the input's columns `p0`..."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dovetail._core.columns.table import Columns, one_chunk
from dovetail._core.sweep.prepare import SideColumns

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Projected:
    """A side's projection: `payload` are the input's columns behind `p0`, `p1`, ..., `showing` the places shown.

    `same` names, for every column, the one that travelled in its place; without it, all did.
    """

    name: str
    payload: tuple[str, ...]
    showing: tuple[str, ...]
    same: tuple[tuple[str, str], ...] = ()

    def keys(self, table: pa.Table) -> SideColumns:
        """The side's keys and filters."""
        places = self._places(table)
        keys = [name for name in places if name[0] == "k" and name[1:].isdigit()]
        fits = one_chunk(table.column(places["fits"])) if "fits" in places else None
        return SideColumns(table.num_rows, fits, tuple(one_chunk(table.column(places[name])) for name in keys), ())

    def carried(self, table: pa.Table) -> list[str]:
        """The places of the payload."""
        places = self._places(table)
        return list(dict.fromkeys(places[f"p{i}"] for i in range(len(self.payload))))

    def columns(self, table: pa.Table) -> Columns:
        """The payload under its own names."""
        places = self._places(table)
        arrays = {(self.name, own): table.column(places[f"p{i}"]) for i, own in enumerate(self.payload)}
        return Columns({key: one_chunk(array) for key, array in arrays.items()}, table.num_rows)

    def shown(self, table: pa.Table) -> list[pa.Array]:
        """The columns that the result shows."""
        places = self._places(table)
        return [one_chunk(table.column(places[name])) for name in self.showing]

    def _places(self, table: pa.Table) -> dict[str, str]:
        """Where each column of the projection stands."""
        return dict(self.same) or {name: name for name in table.column_names}
