"""Which cells of two sides meet, what that costs, and who does the work.

Both sides are lines in ascending order, named by their part in the comparison: `low < high`, or `low <= high`. So the
cells that may hold a match for a low cell are the high cells from some number on, and those in which every pair
matches the ones from some later number on:

    high cells   0   1   2   3   4   5
    low cell         |   |           ---- all pairs match: no comparison
                     |   +--------------- some may
                     +------------------- performed, by an algorithm that skips less
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.placement.deal import loads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dovetail._core.placement.deal import Dealing
    from dovetail._core.placement.line import Strip


@dataclass(frozen=True, slots=True)
class Pairs:
    """Cell pairs that are performed: the low and the high cell of each, the rows they bring, the results they hold."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    rows_in: NDArray[np.int64]
    products: NDArray[np.int64]
    results: NDArray[np.int64]


@dataclass(frozen=True)
class CellPairs:
    """The cells of both sides; each low cell meets the high cells from `first` on."""

    low: Strip
    high: Strip
    strict: bool
    first: NDArray[np.int64]
    dealing: Dealing = "largest"

    @classmethod
    def all_of(cls, low: Strip, high: Strip, *, strict: bool, dealing: Dealing = "largest") -> CellPairs:
        """Every low cell with every high cell."""
        return cls(low, high, strict, np.zeros(low.cells, np.int64), dealing)

    @classmethod
    def that_may_match(cls, low: Strip, high: Strip, *, strict: bool) -> CellPairs:
        """The cell pairs whose own extremes allow one match."""
        return cls(low, high, strict, np.searchsorted(high.most, low.least, side="right" if strict else "left"))

    @property
    def cells(self) -> int:
        """How many cell pairs are performed."""
        return int((self.high.cells - self.first).sum())

    @property
    def products(self) -> int:
        """The number of Cartesian products: the pairs of rows that meet."""
        return int(self.low.sizes @ (self.high.edges[-1] - self.high.edges[self.first])) if self.cells else 0

    @property
    def results(self) -> int:
        """How many pairs of rows match."""
        return (
            int((self.high.edges[-1] - self.reach[self.low.edges[0] : self.low.edges[-1]]).sum()) if self.cells else 0
        )

    @cached_property
    def reach(self) -> NDArray[np.int64]:
        """For every low row, the position of its first partner among the high rows; all later ones are partners."""
        return np.searchsorted(self.high.line.keys, self.low.line.keys, side="right" if self.strict else "left")

    @cached_property
    def pairs(self) -> Pairs:
        """Every performed cell pair."""
        counts = self.high.cells - self.first
        low = np.repeat(np.arange(self.low.cells), counts)
        high = np.arange(low.size) - np.repeat(np.cumsum(counts) - counts - self.first, counts)
        ours, theirs = self.low.sizes[low], self.high.sizes[high]
        return Pairs(low, high, ours + theirs, ours * theirs, self._results(low, high))

    def _results(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int64]:
        """The matches in each of some cell pairs, from running totals: no row is looked at twice.

        Of the rows of a low cell, those that reach the start of the high cell match all of it, and those that reach
        into it the rest of it; reaches rise with the rows.
        """
        reach = self.reach
        total = np.concatenate([[0], np.cumsum(reach)])
        start, end = self.high.edges[high], self.high.edges[high + 1]
        begin, stop = self.low.edges[low], self.low.edges[low + 1]
        whole = np.clip(np.searchsorted(reach, start, side="right"), begin, stop)
        some = np.clip(np.searchsorted(reach, end, side="left"), whole, stop)
        return np.asarray((whole - begin) * (end - start) + (some - whole) * end - (total[some] - total[whole]))

    def loads(self, workers: int) -> tuple[float, float]:
        """The greatest load over the mean: rows in, results out, with the cell pairs dealt to some workers."""
        return loads(self.pairs.results, self.pairs.rows_in, workers, self.dealing)
