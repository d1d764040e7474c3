"""The join of two and more streams by areas: every row looks for its partners in the areas of the other inputs.

Meaning      {(r1, ..., rn) : all links and tests hold, and the intervals of validity share an instant}.
Needs        ordered: batches that hold all rows of every input up to an instant; unordered: any batches.
How          a row of input 2 at instant 7:   area 1 [..]  area 3 [..]  area 4 [..]
             visits one area after the other, with the combinations found so far: first those that have let the fewest
             through, as far as links reach. Ordered, it only looks for rows that have started before it, or at the same
             instant in an input before its own: so its combinations all start with it, and come up once.
Edges        rows of one instant; ends without end; inputs that no link reaches are visited by time alone.
State        the areas; what the visits of each link have let through, which fades by half every few batches.
Worst case   the candidates of the visits; combinations are told piece by piece.
Source       second document, sections 3.1, 5.2 and 6.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from dovetail._core.columns.axis import LEAST, MOST
from dovetail._core.kernels.memory import empty
from dovetail._core.kernels.overlaps import ascend_by_both, fill_pairs_by_start, slices_by_walk
from dovetail._core.kernels.slices import taken
from dovetail._core.kernels.sort import sort_with_order
from dovetail._core.kernels.threads import in_turn, together
from dovetail._core.sweep.areas.area import Area, Hits
from dovetail._core.sweep.areas.by_key import ByKey
from dovetail._core.sweep.areas.rows import AreaRows, Probes
from dovetail._core.sweep.ranks import PACKED_BITS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from dovetail._core.sweep.links import BroughtKeys, Link

    Keys = NDArray[np.int64]
    Bound = dict[int, Keys]

T = TypeVar("T")

PIECE = 1 << 18
"""How many candidates of the first visit become combinations at a time."""
STEP = 64
"""Rows between two instants at which pieces may be cut."""
FADES = 0.5


class Remembered(Protocol):
    """What is known of rows by their numbers, beyond the areas."""

    def brought(self, number: int, link: int, rows: Keys) -> BroughtKeys:
        """The keys and values that rows of an input bring to a link."""
        ...

    def holds(self, bound: Bound, new: int, link: Link | None) -> NDArray[np.bool_] | None:
        """Whether all holds that can be told since an input was bound by a link; None if there is nothing to tell."""
        ...

    def asks(self, link: Link | None) -> bool:
        """Whether anything is to be told of rows that a link has bound, or time alone."""
        ...

    def most(self) -> int:
        """Of how many combinations the columns can be taken at once: one long text may be in all of them."""
        ...


@dataclass(frozen=True, slots=True)
class Arrived:
    """Rows of an input by start, with what they bring to each link: keys and values."""

    number: Keys
    start: Keys
    end: Keys
    links: dict[int, BroughtKeys]

    def rows(self, link: int | None) -> AreaRows:
        """The rows as the area of a link sees them."""
        keys, values = ((), ()) if link is None else self.links[link]
        return AreaRows(self.number, self.start, self.end, keys, values)


@dataclass(frozen=True, slots=True)
class Combined:
    """Combinations of rows: the number of each input's row, and the time that they share."""

    numbers: tuple[Keys, ...]
    start: Keys
    end: Keys

    def pick(self, rows: Keys) -> Combined:
        """Some of the combinations."""
        return Combined(tuple(taken(own, rows) for own in self.numbers), taken(self.start, rows), taken(self.end, rows))

    def cut(self, first: int, last: int) -> Combined:
        """The combinations between two positions."""
        return Combined(tuple(own[first:last] for own in self.numbers), self.start[first:last], self.end[first:last])


@dataclass(slots=True)
class _Visits:
    """How many combinations a link was asked for, and how many came of it."""

    asked: float = 0.0
    found: float = 0.0

    def see(self, asked: int, found: int) -> None:
        self.asked, self.found = self.asked * FADES + asked, self.found * FADES + found

    @property
    def lets_through(self) -> float:
        return self.found / self.asked if self.asked else 1.0


@dataclass(slots=True)
class StreamJoin:
    """Areas for `inputs` inputs, and the links between them."""

    inputs: int
    links: Sequence[Link]
    memory: Remembered
    areas: dict[tuple[int, int | None], Area] = field(init=False)
    visits: dict[tuple[int, int | None], _Visits] = field(init=False)

    def __post_init__(self) -> None:
        """Make an area for either end of every link; and, if links do not connect all inputs, one by time for each."""
        ends: list[tuple[int, int | None]] = [
            (end, i) for i, own in enumerate(self.links) for end in (own.one, own.other)
        ]
        if not self._linked():
            ends += [(number, None) for number in range(self.inputs)]
        self.areas = {(n, i): Area(ByKey() if i is None else self.links[i].kind(n)) for n, i in ends}
        self.visits = {end: _Visits() for end in ends}

    def _linked(self) -> bool:
        """Whether links lead from any input to any other."""
        joined = {0}
        for _ in self.links:
            joined |= {end for own in self.links if {own.one, own.other} & joined for end in (own.one, own.other)}
        return len(joined) == self.inputs

    def insert(self, number: int, rows: Arrived) -> None:
        """Remember rows of an input."""
        for (owner, link), area in self.areas.items():
            if owner == number:
                area.insert(rows.rows(link))

    def expire(self, number: int, before: int) -> None:
        """Forget rows of an input that end at or before an instant."""
        for (owner, _), area in self.areas.items():
            if owner == number:
                area.expire(before)

    def size(self) -> int:
        """How many rows the areas hold, each input counted once."""
        return sum(
            max((a.size for (owner, _), a in self.areas.items() if owner == n), default=0) for n in range(self.inputs)
        )

    def ordered(self, new: Sequence[Arrived], build: Callable[[Combined], T], threads: int = 1) -> Iterator[T]:
        """Insert the rows of all inputs up to an instant; yield what is built of their combinations, in order."""
        searches = self._inserted(new, threads)
        pieces = [partial(self._piece, searches, some, build) for some in _pieces(searches, threads)]
        yield from (built for found in in_turn(threads, pieces) for built in found)

    def in_any_order(self, new: Sequence[Arrived], build: Callable[[Combined], T]) -> Iterator[T]:
        """The same in no order, so that what starts at one instant need not stay together."""
        searches = self._inserted(new, 1)
        for i, own in enumerate(searches):
            for part in _shares(own, 1):
                some = [part if i == j else slice(0, 0) for j in range(len(searches))]
                yield from self._piece(searches, some, build)

    def _inserted(self, new: Sequence[Arrived], threads: int) -> list[_Search]:
        """Insert the rows of all inputs, and look their partners up."""
        together(threads, [partial(self.insert, number, rows) for number, rows in enumerate(new)])
        return together(
            threads, [partial(_Search.of, self, number, rows, in_order=True) for number, rows in enumerate(new)]
        )

    def _piece(self, searches: Sequence[_Search], some: Sequence[slice], build: Callable[[Combined], T]) -> Iterable[T]:
        """What is built of the combinations of some rows of each input."""
        combined = _pairs_by_start(searches, some)
        if combined is None:
            parts = [own.combined(part) for own, part in zip(searches, some, strict=True) if part.start < part.stop]
            whole = _together([part for part in parts if part is not None])
            combined = None if whole is None else in_order(whole)
        return self._built(combined, build)

    def _built(self, combined: Combined | None, build: Callable[[Combined], T]) -> Iterable[T]:
        """What is built of combinations; where they weigh too much, part by part, each when it is asked for."""
        size = 0 if combined is None else combined.start.size
        if combined is None or not size:
            return ()
        most = self.memory.most()
        if size <= most:
            return (build(combined),)
        return (build(combined.cut(at, at + most)) for at in range(0, size, most))

    def unordered(self, number: int, rows: Arrived, build: Callable[[Combined], T], threads: int = 1) -> Iterator[T]:
        """Combine rows of one input with all that came before, then insert them; in no order."""
        search = _Search.of(self, number, rows, in_order=False)
        pieces = [partial(self._found, search, some, build) for some in _shares(search, threads)]
        yield from (built for found in in_turn(threads, pieces) for built in found)
        self.insert(number, rows)

    def _found(self, search: _Search, some: slice, build: Callable[[Combined], T]) -> Iterable[T]:
        return self._built(search.combined(some), build)

    def next_visit(self, bound: set[int]) -> tuple[int, int | None]:
        """Which area to ask next: of those that a link reaches, the one that lets the fewest through."""
        reached = [
            (end, i)
            for i, own in enumerate(self.links)
            for end, start in ((own.one, own.other), (own.other, own.one))
            if start in bound and end not in bound
        ]
        if not reached:
            return next(end for end in self.areas if end[0] not in bound and end[1] is None)
        return min(reached, key=lambda end: self.visits[end].lets_through)


@dataclass(slots=True)
class _Search:
    """The rows of one input on their way through the other areas; the first one is looked up for all at once."""

    join: StreamJoin
    number: int
    rows: Arrived
    in_order: bool
    visit: tuple[int, int | None]
    probes: Probes
    hits: Hits
    ends: Keys

    @classmethod
    def of(cls, join: StreamJoin, number: int, rows: Arrived, *, in_order: bool) -> _Search:
        visit = join.next_visit({number})
        probes = _probes(rows.rows(visit[1]), rows.start, rows.end, number, visit[0], in_order=in_order)
        hits = _walked(join, number, visit, rows) if in_order else None
        hits = hits or join.areas[visit].look_up(probes)
        return cls(join, number, rows, in_order, visit, probes, hits, np.cumsum(hits.counts(rows.number.size)))

    @property
    def plain(self) -> bool:
        """Whether keys and time decide, and the keys' codes tell them apart; in one run, so that a slice is all."""
        link = None if self.visit[1] is None else self.join.links[self.visit[1]]
        kind = self.join.areas[self.visit].kind
        exact = self.hits.exact and all(run.exact for run, _, _ in self.hits.runs)
        return len(self.hits.runs) < 2 and exact and kind == ByKey() and not self.join.memory.asks(link)  # noqa: PLR2004 -- one

    def side(self, some: slice) -> tuple[Keys, ...]:
        """Some of the rows, their slices, and the rows in which the slices lie."""
        own = self.rows.number[some], self.rows.start[some], self.rows.end[some]
        if not self.hits.runs:
            nothing = np.zeros(own[0].size, np.int64)
            return (*own, nothing, nothing, nothing[:0], nothing[:0])
        run, low, high = self.hits.runs[0]
        return (*own, low[some], high[some], run.rows.number, run.rows.end)

    def combined(self, some: slice) -> Combined | None:
        """Visit all areas with some of the rows."""
        found = self.join.areas[self.visit].partners(self.probes, self.hits, some)
        start, end = taken(self.rows.start, found.probing), taken(self.rows.end, found.probing)
        rows, visit = found.probing, self.visit
        bound: Bound = {self.number: taken(self.rows.number, rows), visit[0]: found.number}
        asked = some.stop - some.start
        while True:
            start, end = np.maximum(start, found.start), np.minimum(end, found.end)
            start, end, rows, bound = self._tested(visit, bound, start, end, rows)
            self.join.visits[visit].see(asked, rows.size)
            if not rows.size:
                return None
            if len(bound) == self.join.inputs:
                return Combined(tuple(bound[i] for i in range(self.join.inputs)), start, end)
            asked, visit = rows.size, self.join.next_visit(set(bound))
            found = self.join.areas[visit].probe(self._asking(visit, bound, start, end, rows))
            start, end, rows = (taken(own, found.probing) for own in (start, end, rows))
            bound = {i: taken(own, found.probing) for i, own in bound.items()} | {visit[0]: found.number}

    def _tested(
        self, visit: tuple[int, int | None], bound: Bound, start: Keys, end: Keys, rows: Keys
    ) -> tuple[Keys, Keys, Keys, Bound]:
        """Leave out combinations that share no instant, or that fail what the area could not tell."""
        link = None if visit[1] is None else self.join.links[visit[1]]
        holds = None if self.in_order or bool((start < end).all()) else start < end
        if holds is not None:
            start, end, rows, bound = _kept(np.flatnonzero(holds), start, end, rows, bound)
        told = self.join.memory.holds(bound, visit[0], link) if rows.size and self.join.memory.asks(link) else None
        return (start, end, rows, bound) if told is None else _kept(np.flatnonzero(told), start, end, rows, bound)

    def _asking(self, visit: tuple[int, int | None], bound: Bound, start: Keys, end: Keys, rows: Keys) -> Probes:
        """The combinations so far as probes of the next area, with what their row of the link brings along."""
        keys: tuple[Keys, ...] = ()
        values: tuple[Keys, ...] = ()
        if visit[1] is not None:
            link = self.join.links[visit[1]]
            owner = link.one if visit[0] == link.other else link.other
            keys, values = self.join.memory.brought(owner, visit[1], bound[owner])
        return _probes(
            AreaRows(rows, start, end, keys, values), start, end, self.number, visit[0], in_order=self.in_order
        )


def _kept(holds: Keys, start: Keys, end: Keys, rows: Keys, bound: Bound) -> tuple[Keys, Keys, Keys, Bound]:
    if holds.size == rows.size:
        return start, end, rows, bound
    start, end, rows = (taken(own, holds) for own in (start, end, rows))
    return start, end, rows, {i: taken(own, holds) for i, own in bound.items()}


def _probes(rows: AreaRows, start: Keys, end: Keys, prober: int, visited: int, *, in_order: bool) -> Probes:
    """Ordered: rows that start no later, or before if their input comes after; unordered: rows that overlap."""
    if not in_order:
        return Probes(rows, start, end - (end != MOST))
    if visited < prober:
        return Probes(rows, start, start)
    first = start == LEAST  # nothing starts before it: ask for what lasts beyond the end of time
    return Probes(rows, np.where(first, MOST, start), start - ~first)


def _shares(search: _Search, threads: int) -> list[slice]:
    """The rows of one input in pieces of about as many candidates, no more than PIECE but for a single row's."""
    total = int(search.ends[-1]) if search.ends.size else 0
    if not total:
        return []
    number = -(-total // (threads * PIECE)) * threads
    cuts = np.searchsorted(search.ends, np.arange(1, number) * (total / number), side="right")
    return [slice(*own) for own in pairwise(np.unique([0, *cuts, search.ends.size]).tolist())]


def _pieces(searches: Sequence[_Search], threads: int) -> list[list[slice]]:
    """The rows of all inputs, cut at the same instants into pieces of about as many candidates, some for each thread.

    A piece has no more than PIECE of them, but for what starts within a few rows.
    """
    total = sum(int(own.ends[-1]) for own in searches if own.ends.size)
    if not total:
        return []
    number = -(-total // (threads * PIECE)) * threads
    rows = sum(own.ends.size for own in searches)
    step = min(STEP, max(1, rows * PIECE // (8 * total)))
    instants = np.unique(np.concatenate([own.rows.start[::step] for own in searches]))
    below = np.zeros(instants.size, np.int64)
    for own in searches:
        passed = np.searchsorted(own.rows.start, instants, side="right")
        below += np.where(passed > 0, own.ends[passed - 1], 0) if own.ends.size else 0
    at = np.searchsorted(below, np.arange(1, number) * total // number)
    cuts = np.unique(instants[at[at < instants.size]])
    edges = [[0, *np.searchsorted(own.rows.start, cuts, side="right"), own.rows.start.size] for own in searches]
    return [[slice(*own) for own in part] for part in zip(*map(pairwise, edges), strict=True)]


def _walked(join: StreamJoin, number: int, visit: tuple[int, int | None], rows: Arrived) -> Hits | None:
    """The slices of rows that are in their own area by now, by one walk over both areas; None where that cannot be."""
    ours, theirs = join.areas.get((number, visit[1])), join.areas[visit]
    if ours is None or not rows.number.size or any(own.kind != ByKey() or len(own.runs) != 1 for own in (ours, theirs)):
        return None
    own, other = ours.runs[0], theirs.runs[0]
    if not own.ends_rise or not other.ends_rise:
        return None
    low, high = (empty(rows.number.size, np.int64) for _ in range(2))
    first = np.int64(own.rows.size - rows.number.size)
    met = other.rows.keys[0], other.rows.start, other.rows.end
    slices_by_walk(own.rows.keys[0], own.rows.start, own.order, first, *met, visit[0] < number, low, high)
    return Hits([(other, low, high)], exact=True)


def _pairs_by_start(searches: Sequence[_Search], some: Sequence[slice]) -> Combined | None:
    """The pairs of two inputs in one walk, where equal keys and time decide alone; None where more is asked."""
    if len(searches) != 2 or not all(own.plain for own in searches):  # noqa: PLR2004 -- a pair is of two
        return None
    sides = [own.side(part) for own, part in zip(searches, some, strict=True)]
    size = sum(int((side[4] - side[3]).sum()) for side in sides)
    out = [empty(size, np.int64) for _ in range(4)]
    found, rises = fill_pairs_by_start(*sides[0], *sides[1], *out)
    one, other, start, end = (own[:found] for own in out)
    pairs = Combined((one, other), start, end)
    return pairs if rises else in_order(pairs)


def _together(parts: Sequence[Combined]) -> Combined | None:
    """Combinations of several inputs' rows as one."""
    if len(parts) < 2:  # noqa: PLR2004 -- one is together
        return parts[0] if parts else None
    numbers = tuple(np.concatenate(own) for own in zip(*(part.numbers for part in parts), strict=True))
    return Combined(numbers, np.concatenate([o.start for o in parts]), np.concatenate([o.end for o in parts]))


def in_order(found: Combined) -> Combined:
    """Combinations in the order of (start, end)."""
    order = order_of(found.start, found.end)
    return found if order is None else found.pick(order)


def order_of(start: Keys, end: Keys) -> Keys | None:
    """The order of (start, end); None if they stand in it. Both share a word where they fit it."""
    if ascend_by_both(start, end):
        return None
    finite = end[end != MOST]
    first, last = (int(finite.min()), int(finite.max()) + 1) if finite.size else (0, 0)
    bits = (last - first).bit_length()
    if (int(start.max()) - int(start.min())).bit_length() + bits > PACKED_BITS:
        order: Keys = np.lexsort((end, start))
        return order
    words = ((start - start.min()) << bits) | (np.minimum(end, last) - first)
    return sort_with_order(words)[1]
