"""The nearest right row in time for every left row.

Meaning      backward: the right row with the greatest r.at <= l.at (strict: <), within the tolerance and the same key;
             forward: the least r.at >= l.at; nearest: the closer of the two.
Needs        nothing of the input's order; sorts both sides by (key, time).
How          right, sorted:   1  3  3  7         l.at 4: backward 3, forward 7, nearest 3
             left,  sorted:      2    4  8       l.at 8: backward 7, forward none
             one walk over both finds where each left row falls; its neighbours are the candidates.
Edges        rows of one time are tied: the last or first by the tie-break keys, all of them, or an error. With a test
             of pairs, candidates are tried from the nearest outward, twice as many in each round, until one passes;
             those that fail one comparison of it are skipped by a tower of maxima.
State        both orders and one position per left row.
Worst case   O((n + m) log(n + m)), also with one more comparison; with others, as many tests again as candidates fail.
Source       the merge as-of of column stores; the rounds are our own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.columns.axis import LEAST, MOST, bound, comparable, distances
from dovetail._core.kernels.compile import NO_ROW
from dovetail._core.kernels.memory import empty
from dovetail._core.kernels.merge import pick_after, pick_before
from dovetail._core.kernels.slices import taken
from dovetail._core.kernels.threads import shares, together
from dovetail._core.sweep.bounds import Slices
from dovetail._core.sweep.picked import PickedPairs
from dovetail._core.sweep.rounds import first_passing, passing
from dovetail._core.sweep.threshold_join import threshold_join
from dovetail._core.sweep.timeline import Timeline, fitted
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from dovetail._core.columns.axis import Steps, Ticks
    from dovetail._core.condition.values import Op
    from dovetail._core.plan.timed import AsOf
    from dovetail._core.sweep.rounds import PairTest

    TieKeys = Callable[[NDArray[np.int64]], Sequence[NDArray[np.int64]]]

_NONE = np.empty(0, np.int64)


@dataclass(frozen=True)
class TimedSide:
    """Rows that can match at all: their codes, the order keys of their times, and ticks where distances count."""

    codes: NDArray[np.int64] | None
    at: NDArray[np.int64]
    ticks: Ticks | None = None


@dataclass(frozen=True)
class Where:
    """What a pair must pass beyond key and time; `compared` is one comparison of it, by which to skip candidates."""

    test: PairTest
    compared: tuple[NDArray[np.int64], Op, NDArray[np.int64]] | None


def asof_pairs(
    asked: AsOf,
    left: TimedSide,
    right: TimedSide,
    reach: Steps | None,
    tie_keys: TieKeys,
    where: Where | None,
    threads: int = 1,
) -> PickedPairs:
    """Pick the right rows; `tie_keys` gives what orders some of them, and is only asked where times are tied."""
    search = _Search.of(left, right, reach, threads)
    if asked.ties in ("last", "first") and search.line.has_ties:
        line = search.line
        search = replace(search, line=line.arranged(tie_keys(line.order[line.tied_rows()])))
    found = {
        direction: search.find(direction, where, strict=asked.strict)
        for direction in ("backward", "forward")
        if asked.direction in (direction, "nearest")
    }
    if asked.direction == "nearest":
        rows = search.line.order, left.ticks, right.ticks
        position = _nearer(*rows, found["backward"], found["forward"], prefer=asked.nearest_tie)
    else:
        position = found[asked.direction]
    return _expanded(asked, search, position, where, right.at.size)


@dataclass(frozen=True)
class _Tied:
    """Some left rows, and the places from and to which their candidates are tied."""

    rows: NDArray[np.int64]
    first: NDArray[np.int64]
    after: NDArray[np.int64]

    def pick(self, some: NDArray[np.int64]) -> _Tied:
        """Some of the rows."""
        return _Tied(self.rows[some], self.first[some], self.after[some])

    def passing(self, order: NDArray[np.int64], where: Where | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Every row with every place of its candidates that passes."""
        return passing(self.rows, self.first, self.after, order, None if where is None else where.test)


@dataclass(frozen=True)
class _Search:
    """The right side in order, and what each left row can reach, as places; rows in `none` reach nothing.

    `rows` are the left rows in order, `places` where they stand.
    """

    line: Timeline
    places: NDArray[np.int64]
    rows: NDArray[np.int64]
    codes: NDArray[np.int64] | None
    at: NDArray[np.int64]
    lower: NDArray[np.int64] | None
    upper: NDArray[np.int64] | None
    none: NDArray[np.bool_] | None

    @classmethod
    def of(cls, left: TimedSide, right: TimedSide, reach: Steps | None, threads: int) -> _Search:
        asked, stored, none = [left.at], right.at, None
        if reach is not None and left.ticks is not None and right.ticks is not None:
            ends = [bound(left.ticks, reach, sign) for sign in (-1, 1)]
            stored, *asked = comparable(right.ticks, left.ticks, *(end.ticks for end in ends))
            masks = [end.none for end in ends if end.none is not None]
            none = np.logical_or.reduce(masks) if masks else None
        (stored, at, *bounds), (ours, theirs) = fitted(stored, asked, (left.codes, right.codes))
        line, places, rows = Timeline.of(stored, theirs, at, ours, threads)
        lower, upper = (line.places(ours, own) for own in bounds) if bounds else (None, None)
        return cls(line, places, rows, ours, at, lower, upper, none)

    def find(self, direction: str, where: Where | None, *, strict: bool) -> NDArray[np.int64]:
        """The position of the nearest right row in one direction, for each left row; NO_ROW if there is none."""
        if self.line.keys.size == 0:
            return np.full(self.at.size, NO_ROW)
        backward = direction == "backward"
        end = LEAST if backward else MOST
        shifted = self.at + (self.at != end) * (-1 if backward else 1) if strict else None
        if where is None:
            found = self._picked(shifted, backward=backward)
        else:
            found = self._tested(self.at if shifted is None else shifted, where, backward=backward)
        if self.none is not None:
            found[self.none] = NO_ROW
        if strict:
            found[self.at == end] = NO_ROW
        return found

    def _picked(self, shifted: NDArray[np.int64] | None, *, backward: bool) -> NDArray[np.int64]:
        """One walk over both sides, in as many shares as there are threads; a step to the side keeps their order."""
        line, rows, out = self.line, self.rows, empty(self.at.size, np.int64)
        places = self.places if shifted is None else taken(line.places(self.codes, shifted), rows, line.threads)
        pick, limits = (pick_before, self.lower) if backward else (pick_after, self.upper)
        ends = _NONE if limits is None else limits
        calls = [
            partial(pick, line.keys, places[own], ends, np.int64(line.bits), rows[own], out)
            for own in shares(rows.size, line.threads)
        ]
        together(line.threads, calls)
        return out

    def _tested(self, at: NDArray[np.int64], where: Where, *, backward: bool) -> NDArray[np.int64]:
        """All candidates of each left row as a slice, tried from the nearest outward."""
        line, rows, places = self.line, np.arange(at.size), self.line.places(self.codes, at)
        code = (places >> line.bits) << line.bits
        if backward:
            floor = code if self.lower is None and line.bits else self.lower
            low = np.zeros(rows.size, np.int64) if floor is None else line.below(floor, rows)
            high = line.up_to(places, rows)
        else:
            ceiling = code + (1 << line.bits) - 1 if self.upper is None and line.bits else self.upper
            low = line.below(places, rows)
            high = np.full(rows.size, line.keys.size) if ceiling is None else line.up_to(ceiling, rows)
        return self._passing(low, high, where, backward=backward)

    def end_of_ties(self, tied: _Tied, where: Where | None, *, last: bool) -> NDArray[np.int64]:
        """Of each row's tied candidates, the last or the first that passes; there is one."""
        if where is None:
            return tied.after - 1 if last else tied.first
        low, high = np.zeros([2, self.at.size], np.int64)
        low[tied.rows], high[tied.rows] = tied.first, tied.after
        return self._passing(low, high, where, backward=last)[tied.rows]

    def _passing(
        self, low: NDArray[np.int64], high: NDArray[np.int64], where: Where, *, backward: bool
    ) -> NDArray[np.int64]:
        """The last or the first position of each left row's slice that passes."""
        if where.compared is not None:
            low, high = self._skipped(low, high, *where.compared, backward=backward)
        return first_passing(low, high, self.line.order, where.test, backward=backward)

    def _skipped(
        self,
        low: NDArray[np.int64],
        high: NDArray[np.int64],
        ours: NDArray[np.int64],
        op: Op,
        theirs: NDArray[np.int64],
        *,
        backward: bool,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The slices without the candidates before the nearest for which a comparison holds; empty if there is none."""
        order, size = self.line.order, self.line.order.size
        if backward:
            order, low, high = order[::-1], size - high, size - low
        first = threshold_join(Slices(order, np.arange(low.size), low, high), theirs, (ours, op), "right").first()
        low = np.where(first == NO_ROW, high, first)
        return (size - high, size - low) if backward else (low, high)


def _nearer(
    order: NDArray[np.int64],
    left: Ticks | None,
    right: Ticks | None,
    before: NDArray[np.int64],
    after: NDArray[np.int64],
    *,
    prefer: str,
) -> NDArray[np.int64]:
    """The closer of two candidates; at one distance, the preferred direction."""
    assert left is not None
    assert right is not None
    out = np.where(before == NO_ROW, after, before)
    both = np.flatnonzero((before != NO_ROW) & (after != NO_ROW))
    to_before = distances(left[both], right[order[before[both]]])
    to_after = distances(left[both], right[order[after[both]]])
    later = to_after < to_before if prefer == "backward" else to_after <= to_before
    out[both] = np.where(later, after[both], before[both])
    return out


def _expanded(
    asked: AsOf, search: _Search, position: NDArray[np.int64], where: Where | None, right_size: int
) -> PickedPairs:
    """From the nearest position of each left row to its pairs: one of the tied rows, or all of them."""
    line = search.line
    rows = np.flatnonzero(position != NO_ROW)
    at = position if rows.size == position.size else taken(position, rows)
    if not line.has_ties or (asked.direction, asked.ties) in (("backward", "last"), ("forward", "first")):
        return PickedPairs(rows, taken(line.order, at, line.threads), position.size, right_size)
    tied = _Tied(rows, line.first_tied(at), line.after_tied(at))
    if asked.ties == "all":
        pairs, positions = tied.passing(line.order, where)
        return PickedPairs(pairs, line.order[positions], position.size, right_size)
    if asked.ties == "error":
        _refuse_ties(asked.query.inputs.right.name, search, tied, where)
    ends = search.end_of_ties(tied, where, last=asked.ties == "last")
    return PickedPairs(rows, line.order[ends], position.size, right_size)


def _refuse_ties(name: str, search: _Search, tied: _Tied, where: Where | None) -> None:
    """Refuse rows for which several candidates pass; all of them are counted for one row alone."""
    first, last = (search.end_of_ties(tied, where, last=last) for last in (False, True))
    several = np.flatnonzero(first != last)[:1]
    if several.size:
        found, _ = tied.pick(several).passing(search.line.order, where)
        raise UsageError.tied_rows(name, found.size)
