"""Pairs and unmatched rows as record batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._core.emit.parallel import each

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Side
    from dovetail._core.plan.query import How
    from dovetail._core.sweep.matches import Matches, Pairs

BATCH = 1 << 17


@dataclass(frozen=True, slots=True)
class SideRows:
    """What one side shows: its columns, and the row that stands at each of the sweep's positions."""

    columns: tuple[pa.Array, ...]
    size: int
    rows: NDArray[np.int64]

    def arranged(self) -> SideRows:
        """The columns in the order of the positions, so that slices of positions are slices of memory."""
        if self.rows.size == self.size and (self.rows == np.arange(self.size)).all():
            return self
        return SideRows(self.take(self.rows), self.rows.size, np.arange(self.rows.size))

    def take(self, rows: NDArray[np.int64]) -> tuple[pa.Array, ...]:
        """The columns of some rows."""
        index = pa.array(rows)
        return tuple(pc.take(column, index, boundscheck=False) for column in self.columns)

    def nothing(self, size: int) -> tuple[pa.Array, ...]:
        """NULL in every column."""
        return tuple(pa.nulls(size, column.type) for column in self.columns)

    def without_partner(self, marked: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The rows of the table at no marked position."""
        alone = np.ones(self.size, np.bool_)
        alone[self.rows[marked]] = False
        return np.flatnonzero(alone)

    def with_partner(self, marked: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The rows of the table at marked positions, in the table's order."""
        found = np.zeros(self.size, np.bool_)
        found[self.rows[marked]] = True
        return np.flatnonzero(found)


def emit(
    pairs: Pairs, left: SideRows, right: SideRows, how: How, names: list[str], threads: int
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a join, batch by batch; columns of the left side first."""
    if how in ("semi", "anti"):
        marked = pairs.has_partner("left")
        rows = left.with_partner(marked) if how == "semi" else left.without_partner(marked)
        yield from _batches(left, None, rows, names)
        return
    marks = Marks.for_join(how, left, right)
    ours, theirs = left.arranged(), right.arranged()

    def build(found: Matches) -> pa.RecordBatch:
        marks.mark(found)
        columns = (*ours.take(found.left_rows), *theirs.take(found.right_rows))
        return _batch(columns, names, found.left_rows.size)

    yield from each(pairs.tasks(threads), build, threads)
    if marks.left is not None:
        yield from _batches(left, right, left.without_partner(marks.left), names)
    if marks.right is not None:
        yield from _batches(right, left, right.without_partner(marks.right), names, shown="right")


@dataclass(frozen=True, slots=True)
class Marks:
    """Which positions of a preserved side have been seen in a pair; None: that side is not preserved."""

    left: NDArray[np.bool_] | None
    right: NDArray[np.bool_] | None

    @classmethod
    def for_join(cls, how: How, left: SideRows, right: SideRows) -> Marks:
        """Marks for the sides that a join type preserves."""
        return cls(
            np.zeros(left.rows.size, np.bool_) if how in ("left", "full") else None,
            np.zeros(right.rows.size, np.bool_) if how in ("right", "full") else None,
        )

    def mark(self, found: Matches) -> None:
        """Note a piece of pairs; threads may do so at once, since a mark is only ever set."""
        if self.left is not None:
            self.left[found.left_rows] = True
        if self.right is not None:
            self.right[found.right_rows] = True


def _batches(
    own: SideRows, other: SideRows | None, rows: NDArray[np.int64], names: list[str], *, shown: Side = "left"
) -> Iterator[pa.RecordBatch]:
    """Rows of one side, the other side's columns, if any, NULL."""
    for start in range(0, rows.size, BATCH):
        some = rows[start : start + BATCH]
        mine, rest = own.take(some), other.nothing(some.size) if other is not None else ()
        yield _batch((*mine, *rest) if shown == "left" else (*rest, *mine), names, some.size)


def _batch(columns: tuple[pa.Array, ...], names: list[str], size: int) -> pa.RecordBatch:
    """A batch of named columns; without any, one of rows alone."""
    if columns:
        return pa.RecordBatch.from_arrays(list(columns), names=names)
    return pa.RecordBatch.from_struct_array(pa.array([{}] * size, pa.struct([])))
