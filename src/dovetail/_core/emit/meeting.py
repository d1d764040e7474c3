"""A part of the side that stays, and the parts of the other side that come by: pairs, marks, and rows left over.

Meaning      the join of a stored part with all parts that it meets; a part that has met all stored parts knows which of
             its rows have a partner anywhere, and a stored part that has met all others likewise.
Needs        every part meets every stored part exactly once; in what order, does not matter.
How          stored {b, c}   meets part [a b]: pair b, marks [. x]      then part [c d]: pair c, marks [x .]
             stored {a}      meets part [a b]: pair a, marks [x x]      left over of all: d
Edges        rows that cannot match are never marked, so they are left over; an empty part meets everything in no time.
State        the stored part in the order of its keys, a mark for each of its rows, and the part that is being met.
Worst case   O(n log n) once, then O(part x log n + pairs) for each part.
Source       the third document, steps 1, 2 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.columns.table import one_chunk
from dovetail._core.emit.rows import Marks, SideRows, pair_batches, rows_of_a_batch, side_batches
from dovetail._core.sweep.key_index import KeyIndex
from dovetail._core.sweep.matches import has_partner
from dovetail._core.sweep.residual import residual_test
from dovetail._core.sweep.slice_join import SliceJoin
from dovetail._core.sweep.tested import TestedPairs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Protocol

    from numpy.typing import NDArray

    from dovetail._core.columns.table import Columns
    from dovetail._core.condition.values import Condition
    from dovetail._core.plan.outer import Kept
    from dovetail._core.sweep.matches import Matches, Pairs
    from dovetail._core.sweep.prepare import SideColumns

    class Reader(Protocol):
        """How a side's table is read: what the condition compares, what residuals read, and what the result shows."""

        def keys(self, table: pa.Table) -> SideColumns:
            """The side's keys and filters."""

        def carried(self, table: pa.Table) -> list[str]:
            """The columns that the two below read: all that is needed once the keys are known."""

        def columns(self, table: pa.Table) -> Columns:
            """The columns that residuals may read, by their own names."""

        def shown(self, table: pa.Table) -> list[pa.Array]:
            """The columns that the result shows."""

    class Stored(Protocol):
        """A part of the side that stays, which gives pieces of the result."""

        def meet(self, part: Part) -> Iterator[Any]:
            """The pairs with a part, if they are wanted; the rows of both are marked."""

        def left_over(self, nothing: pa.Table) -> Iterator[Any]:
            """The wanted rows of this part, once it has met every other."""

        def left_over_of(self, part: Part) -> Iterator[Any]:
            """The wanted rows of a part that has met every stored part."""


LIGHTER = 4
"""A batch weighs so many times less than elsewhere: a worker's memory is what these joins are to spare."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some rows of the side that travels, and which of them have found a partner so far."""

    table: pa.Table
    marked: NDArray[np.bool_]

    @classmethod
    def of(cls, table: pa.Table) -> Part:
        """Rows that have met no one yet."""
        return cls(table, np.zeros(table.num_rows, np.bool_))


@dataclass(frozen=True)
class Meeting:
    """What every worker knows of the join: the condition, how either side is read, and which rows are wanted.

    The travelling side is the left one of `condition`.
    """

    condition: Condition
    travelling: Reader
    stored: Reader
    kept: Kept

    def stored_part(self, table: pa.Table) -> Stored:
        """Take up a part of the side that stays."""
        return StoredPart(self, table)


class StoredPart:
    """A worker's part of the side that stays, in the order of its keys."""

    def __init__(self, meeting: Meeting, table: pa.Table) -> None:
        self._meeting = meeting
        safe = [key.null_safe for key in meeting.condition.keys]
        self._index = KeyIndex.build(meeting.stored.keys(table), safe)
        self._matching = self._index.rows.size
        places = pa.array(_whole(self._index.rows, table.num_rows))
        self._index = replace(self._index, rows=np.empty(0, np.int64))  # the order is in the table from now on
        ordered = pa.table({name: one_chunk(table.column(name)).take(places) for name in meeting.stored.carried(table)})
        self._columns = meeting.stored.columns(ordered)
        self._side = SideRows(tuple(meeting.stored.shown(ordered)), table.num_rows, self._index.positions)
        self._marked = np.zeros(table.num_rows, np.bool_)

    def meet(self, part: Part) -> Iterator[pa.RecordBatch]:
        """Yield the pairs with a part, if they are wanted, and mark the rows of both."""
        meeting = self._meeting
        found, rows = self._index.probe(meeting.travelling.keys(part.table))
        pairs = self._tested(SliceJoin(found, "right"), part, rows)
        if meeting.kept.pairs:
            yield from self._pairs(pairs, part, rows)
            return
        part.marked[rows[has_partner(pairs, "left", rows.size)]] = True
        if meeting.kept.stored is not None:
            self._marked[: self._matching] |= has_partner(pairs, "right", self._matching)

    def _pairs(self, pairs: Pairs, part: Part, rows: NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
        kept = self._meeting.kept
        ours_seen = Marks.of(pairs, "left", rows.size) if kept.travelling is not None else None
        theirs_seen = Marks.of(pairs, "right", self._matching) if kept.stored is not None else None
        marks = [own for own in (ours_seen, theirs_seen) if own is not None]
        ours = SideRows(tuple(self._meeting.travelling.shown(part.table)), part.table.num_rows, rows)
        first = tuple(column.slice(0, self._matching) for column in self._side.columns)
        theirs = SideRows(first, self._matching, self._index.positions)
        yield from pair_batches(pairs, ours, theirs, marks, *self._batches(ours), 1)
        if ours_seen is not None:
            part.marked[rows[ours_seen.marked]] = True
        if theirs_seen is not None:
            self._marked[: self._matching] |= theirs_seen.marked

    def _tested(self, pairs: Pairs, part: Part, rows: NDArray[np.int64]) -> Pairs:
        """The pairs that pass the residuals, too."""
        meeting = self._meeting
        test = residual_test(meeting.condition.residuals, meeting.travelling.columns(part.table), self._columns)
        if test is None:
            return pairs

        def on_positions(found: Matches) -> NDArray[np.bool_]:
            return test(rows[found.left_rows], found.right_rows)

        return TestedPairs(pairs, on_positions)

    def left_over(self, nothing: pa.Table) -> Iterator[pa.RecordBatch]:
        """The wanted rows of this part, once it has met every other; `nothing` is a part without rows."""
        kept = self._meeting.kept.stored
        if kept is None:
            return
        beside = SideRows(tuple(self._meeting.travelling.shown(nothing)), 0, np.arange(0))
        rows = np.flatnonzero(self._marked == (kept == "matched"))
        yield from side_batches(self._side, beside, rows, *self._batches(beside), shown="right")

    def left_over_of(self, part: Part) -> Iterator[pa.RecordBatch]:
        """The wanted rows of a part that has met every stored part."""
        meeting = self._meeting
        if meeting.kept.travelling is None:
            return
        ours = SideRows(tuple(meeting.travelling.shown(part.table)), part.table.num_rows, np.arange(0))
        rows = np.flatnonzero(part.marked == (meeting.kept.travelling == "matched"))
        yield from side_batches(ours, self._side, rows, *self._batches(ours))

    def _batches(self, ours: SideRows) -> tuple[list[str], int]:
        """The names of the columns, those of the travelling side first, and how many rows make a batch."""
        columns = (*ours.columns, *self._side.columns)
        names = [f"a{i}" for i in range(len(ours.columns))] + [f"o{i}" for i in range(len(self._side.columns))]
        return names, max(1, rows_of_a_batch(columns, 1) // LIGHTER)


def _whole(rows: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Some rows of so many, then all others."""
    if rows.size == size:
        return rows
    others = np.ones(size, np.bool_)
    others[rows] = False
    return np.concatenate([rows, np.flatnonzero(others)])
