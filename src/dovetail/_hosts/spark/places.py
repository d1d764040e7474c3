"""Where a row goes, as one number: its cell, whether it is a guest there, and which side it is of.

A guest is there for the sake of the cell's own rows; so are digests. A place below 0 is not known yet: it says which
cuts will tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from dovetail._core.placement.boxes import Cover
    from dovetail._hosts.spark.digests import Digester

    Ints = NDArray[np.int64]

PLACE = "place"
"""The column of places: four times the cell, 2 more for a guest, and 1 more for a row of the anchor."""
CELL = f"shiftright({PLACE}, 2)"
"""The cell of a place, as Spark SQL."""


class Seats(NamedTuple):
    """Rows, a cell that each of them goes to, and whether it is a guest there; `covers` are digested instead."""

    rows: Ints
    cells: Ints
    guests: NDArray[np.bool_]
    covers: tuple[Cover, ...] = ()


class Locator(Protocol):
    """Cuts by which tasks find the cells of the rows that they send on."""

    @property
    def digester(self) -> Digester | None:
        """What makes a digest of rows that match all of a cell; None: they go there."""
        ...

    @property
    def ours(self) -> tuple[str, ...]:
        """The columns by which rows of the anchor are placed."""
        ...

    @property
    def theirs(self) -> tuple[str, ...]:
        """The columns by which rows of the other side are placed."""
        ...

    def seats(self, cuts: int, rows: pa.Table, *, anchor: bool) -> Seats:
        """Where rows go by the cuts of this number."""
        ...


def place_text(*, anchor: bool) -> str:
    """The place of a row, as Spark SQL; a `cell` below 0 stands for cuts, whose number is counted down from -1."""
    return f"CAST(IF(cell >= 0, 4 * cell + {int(anchor)}, 2 * cell + {1 - anchor}) AS INT)"


def located(locator: Locator, rows: pa.Table, places: Ints) -> tuple[Ints, Ints, list[Cover]]:
    """Rows of a table and their places, as many of either, of which a row may have several or none; and covers."""
    known = np.flatnonzero(places >= 0)
    taken, found, covers = [known], [places[known]], []
    for unknown in np.flatnonzero(np.bincount(-places[places < 0])).tolist():
        cuts, anchor = divmod(unknown - 1, 2)
        own = np.flatnonzero(places == -unknown)
        read = rows.select(list(dict.fromkeys(locator.ours if anchor else locator.theirs)))
        seats = locator.seats(cuts, read.take(own), anchor=bool(anchor))
        taken.append(own[seats.rows])
        found.append(4 * seats.cells + 2 * seats.guests + anchor)
        covers += [cover._replace(rows=own[cover.rows]) for cover in seats.covers]
    return np.concatenate(taken), np.concatenate(found), covers


def digest_places(cells: Ints) -> Ints:
    """Where digests of the other side go."""
    return 4 * cells + 2


def cell_of(places: Ints) -> Ints:
    """The cells of places."""
    return places >> 2


def is_anchor(place: int) -> bool:
    """Whether a row is of the anchor."""
    return bool(place & 1)


def is_guest(place: int) -> bool:
    """Whether a row is in its cell for the sake of others."""
    return bool(place & 2)
