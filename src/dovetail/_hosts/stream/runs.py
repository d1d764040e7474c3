"""The rows that a cell remembers of one input, as runs of which the ends are known without reading them.

How          a micro-batch adds one run; eight of like length become one, without the rows that are no longer needed. So
             a row is written again once for every eightfold, and only runs with a possible partner are read.
State        a run stays until its last row has no partner to come: at most as long again as its own rows.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    Kept = Callable[[pa.Table], "pa.Array | NDArray[np.bool_]"]

AT, UNTIL = "dovetail at", "dovetail until"
NEVER = np.iinfo(np.int64).min
FOR_GOOD = np.iinfo(np.int64).max
RUNS = 8
"""So many of like length become one."""


class Span(NamedTuple):
    """A run's number and length, its least AT, and its least and greatest UNTIL."""

    number: int
    rows: int
    first: int
    soon: int
    last: int


class Store(Protocol):
    """Where runs are kept."""

    def spans(self) -> Iterable[Span]:
        """What there is."""

    def read(self, span: Span) -> pa.Table:
        """The rows of a run."""

    def write(self, span: Span, rows: pa.Table) -> None:
        """Keep a run."""

    def remove(self, span: Span) -> None:
        """Forget a run."""


class Runs:
    """The runs of one input, for the length of one step."""

    def __init__(self, store: Store, nothing: pa.Table) -> None:
        self.nothing = nothing
        self._store = store
        self._spans = dict.fromkeys(sorted(store.spans()))
        self._seen: dict[Span, pa.Table] = {}

    @property
    def first(self) -> int:
        """No remembered row is before it."""
        return min((own.first for own in self._spans), default=FOR_GOOD)

    @property
    def soonest_end(self) -> int:
        """The instant whose passing ends a run."""
        return min((own.last for own in self._spans), default=FOR_GOOD)

    def due(self, watermark: int) -> pa.Table:
        """The rows of all runs in which an UNTIL has passed."""
        return self._read([own for own in self._spans if own.soon < watermark])

    def near(self, rows: pa.Table, *, prevailing: bool = False) -> pa.Table:
        """The rows of all runs in which a partner of these can be; where the last row before prevails, of any age."""
        if rows.num_rows == 0:
            return self.nothing
        first, last = NEVER if prevailing else lane(rows, AT).min(), lane(rows, UNTIL).max()
        return self._read([own for own in self._spans if own.first <= last and own.last >= first])

    def next_due(self, watermark: int) -> int:
        """The least UNTIL that has not passed; called after `due`."""
        untils = (own.soon if own.soon >= watermark else _least(self._rows(own), watermark) for own in self._spans)
        return min(untils, default=FOR_GOOD)

    def add(self, rows: pa.Table) -> None:
        """Remember a micro-batch's rows."""
        if rows.num_rows:
            until = lane(rows, UNTIL)
            number = 1 + max((own.number for own in self._spans), default=-1)
            ends = (lane(rows, AT).min(), until.min(), until.max())
            span = Span(number, rows.num_rows, *map(int, ends))
            self._store.write(span, rows)
            self._spans[span] = None
            self._seen[span] = rows

    def end(self, floor: int) -> None:
        """Forget the runs all of whose UNTIL are before an instant."""
        self._forget([own for own in self._spans if own.last < floor])

    def settle(self, kept: Kept) -> None:
        """Write anew what was read and is mostly no longer needed, and runs of like length as one."""
        for span, rows in [*self._seen.items()]:
            left = rows.filter(kept(rows))
            if 2 * left.num_rows < rows.num_rows:
                self._forget([span])
                self.add(left)
        while like := self._like():
            rows = self._read(like)
            self._forget(like)
            self.add(rows.filter(kept(rows)).combine_chunks())

    def _like(self) -> list[Span]:
        """Runs of like length, if they are many."""
        found: dict[int, list[Span]] = defaultdict(list)
        for own in self._spans:
            found[(own.rows.bit_length() - 1) // 3].append(own)
        return next((own for own in found.values() if len(own) >= RUNS), [])

    def _forget(self, spans: list[Span]) -> None:
        for own in spans:
            self._store.remove(own)
            del self._spans[own]
            self._seen.pop(own, None)

    def _read(self, spans: list[Span]) -> pa.Table:
        return pa.concat_tables([self.nothing, *map(self._rows, spans)])

    def _rows(self, span: Span) -> pa.Table:
        if span not in self._seen:
            self._seen[span] = self._store.read(span)
        return self._seen[span]


def _least(rows: pa.Table, watermark: int) -> int:
    until = lane(rows, UNTIL)
    return int(until[until >= watermark].min(initial=FOR_GOOD))


def lane(rows: pa.Table, name: str) -> NDArray[np.int64]:
    """Instants; NEVER where there is none."""
    values: NDArray[np.int64] = pc.fill_null(rows.column(name), NEVER).combine_chunks().to_numpy(zero_copy_only=False)
    return values
