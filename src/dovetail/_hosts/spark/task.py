"""What runs inside a Spark task: Arrow batches in, the joined rows of a cell out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.aggregate.digest import Digest
from dovetail._core.aggregate.run import Argument
from dovetail._core.columns.table import one_chunk
from dovetail._core.emit.cell import Cell
from dovetail._core.sweep.residual import residual_test
from dovetail._hosts.ring.projection import side_columns
from dovetail._hosts.spark.parcels import arrived
from dovetail._hosts.spark.places import is_guest
from dovetail._hosts.spark.wire import chunks, unpack, widened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Condition
    from dovetail._core.plan.aggregates import Aggregate
    from dovetail._core.plan.query import How
    from dovetail._core.sweep.residual import RowTest
    from dovetail._hosts.ring.projection import Projection
    from dovetail._hosts.spark.overlay import Overlay

    Batches = Iterator[pa.RecordBatch]

CHUNK_ROWS = 1 << 20
CHUNK_BYTES = 256 << 20
BITS_OF_WORD = 64
NOTHING = "nothing"
"""The column of rows that show none."""


@dataclass(frozen=True)
class CellTask:
    """The join of one cell; the anchor is the left side."""

    condition: Condition
    how: How
    left: Projection
    right: Projection
    aggregates: tuple[Aggregate, ...] = ()
    numbered: bool = False
    output: tuple[tuple[str, str], ...] = ()
    """What the result shows, by name, if that is no more than some of these columns."""

    def rows(self, left: pa.Table, right: pa.Table, first: int = 0, digest: Digest | None = None) -> Batches:
        """The joined rows of a cell: anchor columns `a0`..., other columns `o0`... or aggregates.

        `numbered` asks for candidates of a residual that only Spark can test: pairs with the number of their anchor
        row, from `first` up, and after them every anchor row by itself, in which `paired` is false. A `digest` is of
        further rows of the other side, which match all anchor rows that can match.
        """
        ours, theirs = self.left.shown(left), self.right.shown(right)
        left, right = self.left.whole(left), self.right.whole(right)
        cell = Cell.of(self.condition, side_columns(left), side_columns(right))
        if self.aggregates:
            if left.num_rows:
                yield self._folded(cell, left, right, ours, digest)
            return
        if self.numbered:
            ours.append(pa.array(np.arange(first, first + left.num_rows)))
        test = None if self.numbered else self._test(left, right)
        how = "inner" if self.numbered else self.how
        sizes = (left.num_rows, right.num_rows)
        for batch in cell.rows(how, ours, theirs, sizes, test):
            if batch.num_rows:  # a residual may leave nothing of a piece
                yield self._named(batch.columns, batch.num_rows, paired=True)
        if self.numbered and left.num_rows:
            nothing = [pa.nulls(left.num_rows, array.type) for array in theirs]
            yield self._named([*ours, *nothing], left.num_rows, paired=False)

    def matched(self, left: pa.Table, right: pa.Table) -> NDArray[np.int64]:
        """The numbers of the anchor rows that have a partner."""
        ours, theirs = self.left.whole(left), self.right.whole(right)
        cell = Cell.of(self.condition, side_columns(ours), side_columns(theirs))
        numbers, sizes = [pa.array(np.arange(left.num_rows))], (left.num_rows, right.num_rows)
        found = [
            batch.column(0).to_numpy() for batch in cell.rows("semi", numbers, [], sizes, self._test(ours, theirs))
        ]
        return np.concatenate([np.empty(0, np.int64), *found])

    def _test(self, left: pa.Table, right: pa.Table) -> RowTest | None:
        if not self.condition.residuals:
            return None
        return residual_test(self.condition.residuals, self.left.columns(left), self.right.columns(right))

    def _folded(
        self, cell: Cell, left: pa.Table, right: pa.Table, ours: list[pa.Array], digest: Digest | None
    ) -> pa.RecordBatch:
        arguments = arguments_of(self.aggregates, right)
        folded = cell.fold(self.aggregates, arguments, "left", left.num_rows, self._test(left, right), digest)
        names = [f"a{i}" for i in range(len(ours))] + [f"o{i}" for i in range(len(folded))]
        return self._shown(pa.RecordBatch.from_arrays([*ours, *folded], names=names))

    def _named(self, columns: list[pa.Array], rows: int, *, paired: bool) -> pa.RecordBatch:
        ours = len(self.left.showing)
        names = [f"a{i}" for i in range(ours)]
        extra = []
        if self.numbered:
            names.append("row")
            extra = [pa.array(np.full(rows, paired))]
        names += [f"o{i}" for i in range(len(columns) - len(names))]
        if extra:
            names.append("paired")
        return self._shown(counted([*columns, *extra], names, rows))

    def _shown(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if not self.output:
            return batch
        columns = [batch.column(own) for _, own in self.output]
        return pa.RecordBatch.from_arrays(columns, names=[name for name, _ in self.output])


def counted(columns: list[pa.Array], names: list[str], rows: int) -> pa.RecordBatch:
    """A batch of some columns; without any, of one that says nothing: Spark takes a batch's rows from its columns."""
    if not columns:
        columns, names = [pa.nulls(rows, pa.bool_())], [NOTHING]
    return pa.RecordBatch.from_arrays(columns, names=names)


def arguments_of(aggregates: tuple[Aggregate, ...], table: pa.Table) -> list[Argument]:
    """What each aggregate reads of the folded side: `g0`... are arguments, `h0`... filters."""
    return [
        Argument(
            None if own.argument is None else one_chunk(table.column(f"g{i}")),
            None if own.where is None else one_chunk(table.column(f"h{i}")),
        )
        for i, own in enumerate(aggregates)
    ]


def broadcast_task(task: CellTask, other: bytes) -> Callable[[Batches], Batches]:
    """Join a task's anchor rows, some at a time, with all of the other side."""

    def run(batches: Batches) -> Batches:
        right = widened(unpack(other))
        first = 0
        for table in chunks(batches, max(CHUNK_ROWS, 2 * right.num_rows), CHUNK_BYTES):
            yield from task.rows(table, right, first)
            first += table.num_rows

    return run


def marking_task(task: CellTask, anchors: bytes) -> Callable[[Batches], Batches]:
    """Look for partners of all anchor rows among the rows of a task, some at a time: a bit for each, 64 to a word."""

    def run(batches: Batches) -> Batches:
        left = widened(unpack(anchors))
        unmatched = np.arange(left.num_rows)
        for table in chunks(batches, max(CHUNK_ROWS, 2 * left.num_rows), CHUNK_BYTES):
            unmatched = np.delete(unmatched, task.matched(left.take(pa.array(unmatched)), table))
        seen = np.ones(-(-left.num_rows // BITS_OF_WORD) * BITS_OF_WORD, np.bool_)
        seen[left.num_rows :] = False
        seen[unmatched] = False
        words = np.packbits(seen, bitorder="little").view(np.int64)
        found = np.flatnonzero(words)
        yield pa.RecordBatch.from_arrays([pa.array(found), pa.array(words[found])], names=["word", "bits"])

    return run


def cell_task(task: CellTask, overlay: Overlay) -> Callable[[Batches], Batches]:
    """Join the anchor rows and the other rows that were placed into a task's cell."""

    def run(batches: Batches) -> Batches:
        parcels = list(arrived(batches))
        both = overlay.sides((place, table) for place, table in parcels if not is_guest(place))
        digests = [table for place, table in parcels if is_guest(place)]
        if both is not None:
            yield from task.rows(*both, digest=Digest(pa.concat_tables(digests)) if digests else None)

    return run
