"""Pairs and unmatched rows as record batches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._core.columns.dictionaries import nulls_like
from dovetail._core.columns.long_texts import rows_of_longest
from dovetail._core.emit.fixed import Fixed
from dovetail._core.emit.parallel import each
from dovetail._core.kernels.memory import empty
from dovetail._core.kernels.slices import take_numbered, taken
from dovetail._core.kernels.sort import ascends
from dovetail._core.kernels.threads import together
from dovetail._core.sweep.matches import has_partner

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Side
    from dovetail._core.plan.query import How
    from dovetail._core.sweep.matches import Matches, Pairs

BATCH_BYTES = 4 << 20
"""What a batch weighs in a task, whose reader takes it up while the next is made."""
SHARED_BATCH_BYTES = 16 << 20
"""What a batch weighs where several threads make them: with fewer hand-overs, they wait less for each other."""
MIN_BATCH, MAX_BATCH = 1 << 10, 1 << 20


@dataclass(frozen=True, slots=True)
class SideRows:
    """What one side shows: its columns, and the row that stands at each of the sweep's positions."""

    columns: tuple[pa.Array, ...]
    size: int
    rows: NDArray[np.int64]

    def take(self, rows: NDArray[np.int64]) -> tuple[pa.Array, ...]:
        """The columns of some rows."""
        return tuple(taken_rows(column, rows) for column in self.columns)

    def nothing(self, size: int) -> tuple[pa.Array, ...]:
        """NULL in every column."""
        return tuple(nulls_like(column, size) for column in self.columns)

    def unmatched(self, marked: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The rows of the table at no marked position."""
        if self.rows.size == self.size and marked.all():
            return np.empty(0, np.int64)
        unmatched = np.ones(self.size, np.bool_)
        unmatched[self.rows[marked]] = False
        return np.flatnonzero(unmatched)

    def matched(self, marked: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The rows of the table at marked positions, in the table's order."""
        found = np.zeros(self.size, np.bool_)
        found[self.rows[marked]] = True
        return np.flatnonzero(found)


def taken_rows(column: pa.Array, rows: NDArray[np.int64]) -> pa.Array:
    """A column of some rows."""
    fixed = Fixed.of(column)
    if fixed is None:
        return pc.take(column, pa.array(rows), boundscheck=False)
    return fixed.column(taken(fixed.values, rows))


def numbered_rows(column: pa.Array, numbers: NDArray[np.int64], first: int) -> pa.Array:
    """A column of some rows, which are numbered from `first`."""
    fixed = Fixed.of(column)
    if fixed is None:
        return pc.take(column, pa.array(numbers - first), boundscheck=False)
    out = empty(numbers.size, fixed.values.dtype)
    take_numbered(fixed.values, numbers, np.int64(first), out)
    return fixed.column(out)


@dataclass(frozen=True, slots=True)
class Arranged:
    """The columns of a side in the order of its positions, so that slices of positions are slices of memory."""

    side: Side
    columns: tuple[Fixed | pa.Array, ...]

    @classmethod
    def of(cls, side: Side, shown: SideRows, threads: int) -> Arranged:
        """Arrange the columns, unless they stand so already."""
        columns = shown.columns
        if not (shown.rows.size == shown.size and ascends(shown.rows)):
            columns = tuple(together(threads, [partial(taken_rows, column, shown.rows) for column in columns]))
        return cls(side, tuple(Fixed.of(column) or column for column in columns))

    def spread(self, found: Matches) -> list[pa.Array]:
        """The columns of pairs; positions are only made for columns that cannot do without."""
        out = []
        for column in self.columns:
            if isinstance(column, Fixed):
                out.append(column.column(found.spread(self.side, column.values)))
            else:
                rows = found.left_rows if self.side == "left" else found.right_rows
                out.append(pc.take(column, pa.array(rows), boundscheck=False))
        return out


def emit(
    pairs: Pairs, left: SideRows, right: SideRows, how: How, names: list[str], threads: int
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a join, batch by batch; columns of the left side first."""
    if how in ("semi", "anti"):
        chunk = rows_of_a_batch(left.columns, threads)
        marked = has_partner(pairs, "left", left.rows.size)
        rows = left.matched(marked) if how == "semi" else left.unmatched(marked)
        yield from side_batches(left, None, rows, names, chunk)
        return
    chunk = rows_of_a_batch((*left.columns, *right.columns), threads)
    marks = [
        Marks.of(pairs, "left", left.rows.size) if how in ("left", "full") else None,
        Marks.of(pairs, "right", right.rows.size) if how in ("right", "full") else None,
    ]
    yield from pair_batches(pairs, left, right, [own for own in marks if own is not None], names, chunk, threads)
    if marks[0] is not None:
        yield from side_batches(left, right, left.unmatched(marks[0].marked), names, chunk)
    if marks[1] is not None:
        yield from side_batches(right, left, right.unmatched(marks[1].marked), names, chunk, shown="right")


def pair_batches(
    pairs: Pairs, left: SideRows, right: SideRows, marks: Sequence[Marks], names: list[str], chunk: int, threads: int
) -> Iterator[pa.RecordBatch]:
    """Yield the pairs, columns of the left side first, and mark what is in them."""
    ours, theirs = Arranged.of("left", left, threads), Arranged.of("right", right, threads)

    def build(found: Matches) -> pa.RecordBatch:
        for own in marks:
            own.see(found)
        return _batch((*ours.spread(found), *theirs.spread(found)), names, found.size)

    yield from each(pairs.tasks(4 * threads if threads > 1 else 1, chunk), build, threads)


def rows_of_a_batch(columns: Sequence[pa.Array], threads: int) -> int:
    """How many rows of these columns make a batch of the right weight."""
    width = sum(column.nbytes / max(1, len(column)) for column in columns)
    fitting = (BATCH_BYTES if threads == 1 else SHARED_BATCH_BYTES) / max(1, width)
    return int(min(MAX_BATCH, max(MIN_BATCH, fitting), rows_of_longest(columns)))


@dataclass(frozen=True, slots=True)
class Marks:
    """Which positions of a kept side have a partner; `known` before the first pair, or learned from the pairs."""

    side: Side
    marked: NDArray[np.bool_]
    known: bool

    @classmethod
    def of(cls, pairs: Pairs, side: Side, size: int) -> Marks:
        """What the pairs can tell without being made; nothing else yet."""
        known = pairs.partners(side)
        return cls(side, np.zeros(size, np.bool_) if known is None else known, known is not None)

    def see(self, found: Matches) -> None:
        """Note a piece of pairs; threads may do so at once, since a mark is only ever set."""
        if not self.known:
            self.marked[found.left_rows if self.side == "left" else found.right_rows] = True


def side_batches(
    own: SideRows,
    other: SideRows | None,
    rows: NDArray[np.int64],
    names: list[str],
    chunk: int,
    *,
    shown: Side = "left",
) -> Iterator[pa.RecordBatch]:
    """Rows of one side, the other side's columns, if any, NULL."""
    for start in range(0, rows.size, chunk):
        some = rows[start : start + chunk]
        mine, rest = own.take(some), other.nothing(some.size) if other is not None else ()
        yield _batch((*mine, *rest) if shown == "left" else (*rest, *mine), names, some.size)


def _batch(columns: tuple[pa.Array, ...], names: list[str], size: int) -> pa.RecordBatch:
    """A batch of named columns; without any, one that only has a length."""
    if columns:
        return pa.RecordBatch.from_arrays(list(columns), names=names)
    return pa.RecordBatch.from_struct_array(pa.array([{}] * size, pa.struct([])))
