"""Join overlapping intervals by two slice joins, since of two that overlap one starts inside the other.

Meaning      {(l, r) : l.start <op> r.end and r.start <op> l.end}, within equal codes.
Needs        starts and ends of both sides on one axis; sorts both sides by start.
How          either r starts in l:   l [--------)          or l starts after r, in r:       l [-----)
                                     r      [-----)                                      r [-----)
             the first is a slice of r's starts per l, the second a slice of l's starts per r; no pair is both.
Edges        that holds only for rows whose start lies before their end (on it, if ends are closed). The others, empty
             or turned round, are joined by slice and threshold, which asks for nothing.
State        both orders, two positions per row.
Worst case   O((n + m) log(n + m) + pairs); memory O(n + m) + a chunk.
Source       forward-scan plane sweep, with the scan replaced by a search.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.condition.values import Op
from dovetail._core.kernels.slices import taken
from dovetail._core.kernels.sort import sort_with_order
from dovetail._core.sweep.bounds import bounds, slices
from dovetail._core.sweep.matches import CHUNK, ListedMatches, has_partner
from dovetail._core.sweep.slice_join import SliceJoin
from dovetail._core.sweep.threshold_join import threshold_join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Side
    from dovetail._core.sweep.matches import Matches, Pairs


@dataclass(frozen=True, slots=True)
class Spans:
    """Intervals of one side; `ends_open`: an interval does not reach another that starts at its end."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    codes: NDArray[np.int64] | None
    ends_open: bool

    def pick(self, rows: NDArray[np.int64]) -> Spans:
        """Some of the intervals."""
        codes = None if self.codes is None else taken(self.codes, rows)
        return Spans(taken(self.start, rows), taken(self.end, rows), codes, self.ends_open)

    def sorted(self) -> tuple[Spans, NDArray[np.int64]]:
        """The intervals by (code, start), and the row of each."""
        start, rows = sort_with_order(self.start)
        if self.codes is None:
            return Spans(start, taken(self.end, rows), None, self.ends_open), rows
        rows = taken(rows, sort_with_order(taken(self.codes, rows))[1])
        return self.pick(rows), rows

    def proper(self) -> NDArray[np.bool_]:
        """Whether each start lies before its end, or on it if ends are closed."""
        return self.start < self.end if self.ends_open else self.start <= self.end

    def reach(self) -> Op:
        """How another start must lie to this end."""
        return Op.GT if self.ends_open else Op.GE


@dataclass(frozen=True, slots=True)
class Part:
    """Pairs between some rows of each side, told in the positions of all rows."""

    pairs: Pairs
    left: NDArray[np.int64] | None = None
    right: NDArray[np.int64] | None = None

    def tasks(self, number: int, chunk: int = CHUNK) -> list[Iterator[Matches]]:
        """The shares of the pairs, in the positions of all rows."""
        return [self._placed(task) for task in self.pairs.tasks(number, chunk)]

    def _placed(self, task: Iterator[Matches]) -> Iterator[Matches]:
        if self.left is None and self.right is None:
            yield from task
            return
        for found in task:
            yield ListedMatches(_at(self.left, found.left_rows), _at(self.right, found.right_rows))


def _at(rows: NDArray[np.int64] | None, positions: NDArray[np.int64]) -> NDArray[np.int64]:
    return positions if rows is None else rows[positions]


@dataclass(frozen=True, slots=True)
class OverlapJoin:
    """Parts that together hold every pair once."""

    parts: tuple[Part, ...]
    left_size: int
    right_size: int

    def count(self) -> int:
        """How many pairs there are."""
        return sum(part.pairs.count() for part in self.parts)

    def tasks(self, number: int, chunk: int = CHUNK) -> list[Iterator[Matches]]:
        """The shares of every part."""
        return [task for part in self.parts for task in part.tasks(number, chunk)]

    def partners(self, side: Side) -> NDArray[np.bool_]:
        """Whether any part knows a partner."""
        found = np.zeros(self.left_size if side == "left" else self.right_size, np.bool_)
        for part in self.parts:
            rows = part.left if side == "left" else part.right
            every = slice(None) if rows is None else rows
            found[every] |= has_partner(part.pairs, side, found[every].size)
        return found


def overlap_join(left: Spans, right: Spans, threads: int = 1) -> OverlapJoin:
    """Join intervals that are sorted by (code, start) on both sides."""
    fine = left.proper(), right.proper()
    sizes = left.start.size, right.start.size
    if fine[0].all() and fine[1].all():
        return OverlapJoin(_starts_inside(left, right, None, None, threads), *sizes)
    left_fine, left_odd = np.flatnonzero(fine[0]), np.flatnonzero(~fine[0])
    right_fine, right_odd = np.flatnonzero(fine[1]), np.flatnonzero(~fine[1])
    parts = _starts_inside(left.pick(left_fine), right.pick(right_fine), left_fine, right_fine, threads)
    odd_left = Part(_by_threshold(left.pick(left_odd), right, "right"), left_odd, None)
    odd_right = Part(_by_threshold(right.pick(right_odd), left.pick(left_fine), "left"), left_fine, right_odd)
    return OverlapJoin((*parts, odd_left, odd_right), *sizes)


def _starts_inside(
    left: Spans,
    right: Spans,
    left_rows: NDArray[np.int64] | None,
    right_rows: NDArray[np.int64] | None,
    threads: int,
) -> tuple[Part, Part]:
    """Right starts within left ones, then left starts strictly within right ones."""
    in_left = _slice_join(left, right, Op.LE, "right", threads)
    in_right = _slice_join(right, left, Op.LT, "left", threads)
    return Part(in_left, left_rows, right_rows), Part(in_right, left_rows, right_rows)


def _slice_join(probes: Spans, stored: Spans, after: Op, side: Side, threads: int) -> SliceJoin:
    """The stored starts that lie after each probe's start and within its end."""
    wanted = bounds([(probes.start, after), (probes.end, probes.reach())], probes.start.size)
    return SliceJoin(slices(stored.start, wanted, stored.codes, probes.codes, threads), side)


def _by_threshold(probes: Spans, stored: Spans, side: Side) -> Pairs:
    """The stored intervals that start within each probe's end and end within its start, whatever their form."""
    wanted = bounds([(probes.end, probes.reach())], probes.start.size)
    found = slices(stored.start, wanted, stored.codes, probes.codes)
    return threshold_join(found, stored.end, (probes.start, stored.reach().flip()), side)
