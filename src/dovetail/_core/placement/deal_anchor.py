"""The cells of the side that stays whole, dealt to tasks: what a cluster needs to know of cell pairs.

The *anchor* is not replicated: each of its cells goes, with all cell pairs that it takes part in, to one task, those
with the most results first. A cell with more than half a task's results is shared out among several. Rows of the other
side go to every task that has an anchor cell for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.placement.deal import deal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dovetail._core.placement.cell_pairs import CellPairs
    from dovetail._core.placement.line import Strip

SHARES_PER_TASK = 2


@dataclass(frozen=True, slots=True)
class Dealt:
    """Anchor cell i begins at position `starts[i]` of the anchor's line and belongs to the tasks `owners[i]`.

    The first cell is open downward and the last one upward, so that values which no sample saw have a cell, too.
    """

    starts: tuple[int, ...]
    owners: tuple[tuple[int, ...], ...]
    tasks: int
    rising: bool

    def reach(self, task: int) -> int | None:
        """The most favourable cell of a task: the lowest if partners lie above, else the highest; None without any."""
        own = [cell for cell, tasks in enumerate(self.owners) if task in tasks]
        if not own:
            return None
        return min(own) if self.rising else max(own)


def deal_anchor(cells: CellPairs, tasks: int, *, rising: bool) -> Dealt:
    """Deal the anchor's cells; it is the low side if `rising`, that is if its partners lie above it."""
    strip, number = (cells.low, cells.pairs.low) if rising else (cells.high, cells.pairs.high)
    if strip.cells == 0:
        return Dealt((0,), (tuple(range(tasks)),), tasks, rising)
    starts, group = _by_value(strip)
    results = _sums(group[number], cells.pairs.results, starts.size)
    rows = _sums(group, strip.sizes, starts.size)
    shares = np.clip(np.ceil(SHARES_PER_TASK * tasks * _part(results)), 1, tasks).astype(np.int64)
    unit = np.repeat(np.arange(starts.size), shares)
    owner = deal((results / shares)[unit].astype(np.int64), (rows / shares)[unit].astype(np.int64), tasks)
    owners = [tuple(int(task) for task in owner[unit == cell]) for cell in range(starts.size)]
    return Dealt(tuple(int(start) for start in starts), tuple(owners), tasks, rising)


def _by_value(strip: Strip) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where cells begin that a value can tell apart, and which of these each cell of the strip lies in."""
    begins = strip.edges[:-1]
    keys = strip.line.keys
    apart = (begins == strip.edges[0]) | (keys[begins] != keys[np.maximum(begins, 1) - 1])
    return begins[apart], np.cumsum(apart) - 1


def _sums(group: NDArray[np.int64], sizes: NDArray[np.int64], number: int) -> NDArray[np.float64]:
    return np.bincount(group, weights=sizes, minlength=number).astype(np.float64)


def _part(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each size as a part of the whole."""
    return sizes / max(1.0, float(sizes.sum()))
