"""Join by slice and threshold: the positions of a probing row's slice that are also high enough.

Meaning      {(p, s) : lower(p) <= at(s) <= upper(p) and height(s) >= least(p)}, within equal codes.
Needs        nothing of the input's order; sorts the stored side by `at`.
How          at, sorted:   1  3  4  6  8          slice of p: positions 0..3, least 5
             height:       9  2  5  1  7          hits: 0 and 2; blocks whose maximum is below 5 are skipped
Edges        ties are hits; an empty slice has none.
State        the stored order and a tower of maxima over the heights (n / 15 more numbers).
Worst case   O((n + m) log n + pairs * log n); memory O(n + m) + a chunk.
Source       three-sided range reporting (the priority search tree), with blocks of 16 in place of single nodes;
             IEJoin's bit array, the usual choice, walks n / 64 words per probe however few pairs there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import NO_ROW
from dovetail._core.kernels.memory import empty
from dovetail._core.kernels.segments import LEAST, sums_above_threshold
from dovetail._core.kernels.slices import taken
from dovetail._core.kernels.threshold import (
    Tower,
    fill_ends_of_next,
    fill_first_reaching,
    fill_reaching_pairs,
    mark_reaching,
)
from dovetail._core.sweep.bounds import bounds
from dovetail._core.sweep.matches import CHUNK, ListedMatches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Op, Side
    from dovetail._core.sweep.bounds import Slices
    from dovetail._core.sweep.matches import Matches


@dataclass(frozen=True)
class ThresholdJoin:
    """The pairs of probing rows with the positions of their slices that reach their threshold.

    `heights` stand in the stored order; `least` is per probe.
    """

    found: Slices
    heights: NDArray[np.int64]
    least: NDArray[np.int64]
    stored: Side

    @cached_property
    def _tower(self) -> Tower:
        return Tower.build(self.heights)

    def some(self, probes: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]) -> ThresholdJoin:
        """Some of the probes, numbered anew, with other slices."""
        return ThresholdJoin(self.found.some(probes, low, high), self.heights, self.least[probes], self.stored)

    def ends_of_next(self, probes: NDArray[np.int64], low: NDArray[np.int64], number: int) -> NDArray[np.int64]:
        """Where the next so many candidates of some probes end, from a position on."""
        out, tower, high = np.empty(probes.size, np.int64), self._tower, self.found.high[probes]
        fill_ends_of_next(tower.levels, tower.starts, low, high, self.least[probes], np.int64(number), out)
        return out

    def count(self) -> int:
        """Count by a sweep from the greatest threshold down; no pair is made."""
        return int(self.sums(np.ones(self.heights.size, np.int64)).sum())

    def sums(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add up, per probe, the values of its partners; `values` stand in the stored order."""
        out = np.zeros(self.least.size, np.int64)
        sums_above_threshold(
            values,
            self.heights,
            self.by_height,
            self.found.low,
            self.found.high,
            self.least,
            self.by_least,
            np.zeros(2 * max(1, values.size), np.int64),
            out,
        )
        return out

    @cached_property
    def by_height(self) -> NDArray[np.int64]:
        """Stored positions, the highest first."""
        return np.argsort(self.heights, kind="stable")[::-1]

    @cached_property
    def by_least(self) -> NDArray[np.int64]:
        """Probes, the one with the greatest threshold first."""
        return np.argsort(self.least, kind="stable")[::-1]

    @cached_property
    def _hopeful(self) -> NDArray[np.int64]:
        """The probes that may have a partner: those whose slice, taken from its shared end, is high enough somewhere.

        Where all slices begin, or all end, together, one running maximum tells this for all of them at once.
        """
        low, high, size = self.found.low, self.found.high, self.heights.size
        if size and not low.any():
            tops = np.concatenate([[LEAST], np.maximum.accumulate(self.heights)])[high]
        elif size and (high >= size).all():
            tops = np.concatenate([np.maximum.accumulate(self.heights[::-1])[::-1], [LEAST]])[low]
        else:
            return np.flatnonzero(low < high)
        return np.flatnonzero((tops >= self.least) & (low < high))

    def tasks(self, number: int, chunk: int = CHUNK) -> list[Iterator[Matches]]:
        """Split the probes evenly; finer than the threads, since their partners are not known beforehand."""
        edges = np.linspace(0, self._hopeful.size, number * 8 + 1).astype(np.int64)
        return [self._pairs(int(a), int(b), chunk) for a, b in pairwise(edges) if a < b]

    def _pairs(self, first: int, last: int, chunk: int) -> Iterator[Matches]:
        cursor = np.array([first, 0, last], np.int64)
        tower, found = self._tower, self.found
        while cursor[0] < last:
            rows, positions = empty(chunk, np.int64), empty(chunk, np.int64)
            size = fill_reaching_pairs(
                tower.levels, tower.starts, self._hopeful, found.low, found.high, self.least, cursor, rows, positions
            )
            if size:
                pairs = rows[:size], positions[:size]
                yield ListedMatches(*pairs) if self.stored == "right" else ListedMatches(*pairs[::-1])

    def partners(self, side: Side) -> NDArray[np.bool_]:
        """A probe stops at its first hit; a stored row asks the least threshold among the slices around it."""
        if side != self.stored:
            return np.not_equal(self.first(), NO_ROW, dtype=np.bool_)
        marked, free = np.zeros(self.heights.size, np.bool_), np.arange(self.heights.size + 1)
        mark_reaching(self.heights, self.found.low, self.found.high, self.least, self.by_least, free, marked)
        return marked

    def first(self) -> NDArray[np.int64]:
        """The first position of each probe's slice that is high enough; NO_ROW if none is."""
        out = np.full(self.least.size, NO_ROW)
        tower, found = self._tower, self.found
        fill_first_reaching(tower.levels, tower.starts, self._hopeful, found.low, found.high, self.least, out)
        return out


def threshold_join(
    found: Slices,
    values: NDArray[np.int64],
    comparison: tuple[NDArray[np.int64], Op],
    stored: Side,
    threads: int = 1,
) -> ThresholdJoin:
    """Add `probe <op> stored value` to slices; `values` stand in the order of the stored rows as given.

    A bound from above is a bound from below on the integers turned round (`~value` reverses int64 without overflow).
    """
    wanted = bounds([comparison], comparison[0].size)
    lower, upper = wanted.closed()
    turned = not comparison[1].rises
    heights, least = (~values, ~upper) if turned else (values, lower)
    dead = lower > upper
    if dead.any():
        found = replace(found, high=np.where(taken(dead, found.probes, threads), found.low, found.high))
    return ThresholdJoin(found, taken(heights, found.order, threads), taken(least, found.probes, threads), stored)
