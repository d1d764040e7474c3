"""Joins of which only Spark can test the residuals: what tasks make of candidates once Spark has tested them.

Meaning      the rows of a join, or the folds of each anchor row's partners, from candidates that `hold` or do not.
Needs        of every anchor row first its candidates (`paired`), then the row by itself, in one task; `row` numbers
             anchor rows and ascends among those that come by themselves.
How          row  paired  holds          left join: the pair of 0, and 1 unmatched
             0    yes     yes            count(*):  0 has 1, 1 has 0
             1    yes     no
             0    no
             1    no
Edges        a candidate for which a residual is NULL does not hold.
State        of a join a bit for each anchor row; of a fold the pairs whose anchor row is still to come.
Worst case   a fold holds what its aggregates read of all pairs of a cell, or of a million anchor rows.
Source       our own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.aggregate.run import fold
from dovetail._core.columns.order_keys import order_keys
from dovetail._core.columns.table import one_chunk
from dovetail._core.sweep.bounds import Bounds, ordered_slices
from dovetail._core.sweep.build import Join
from dovetail._core.sweep.matches import SideKeys
from dovetail._core.sweep.slice_join import SliceJoin
from dovetail._hosts.spark.task import arguments_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from dovetail._core.plan.aggregates import Aggregate
    from dovetail._core.plan.query import How

    Batches = Iterator[pa.RecordBatch]

TOLD = ("row", "paired", "holds")
"""The columns that tell candidates apart, beside those of the inputs."""
SEQUENCE = "v0"
"""The other side's value in the first comparison."""


def settle(how: How) -> Callable[[Batches], Batches]:
    """Finish a join: what has not been seen to hold by the time an anchor row comes by itself has no partner."""

    def run(batches: Batches) -> Batches:
        seen = np.zeros(1 << 16, np.bool_)
        for batch in batches:
            rows, paired, holds = _told(batch)
            while rows.size and rows.max() >= seen.size:
                seen = np.concatenate([seen, np.zeros_like(seen)])
            seen[rows[holds]] = True
            kept = ~paired & (seen[rows] if how == "semi" else ~seen[rows])
            if how == "inner":
                kept = holds
            elif how == "left":
                kept |= holds
            if kept.any():
                yield batch.filter(pa.array(kept)).drop_columns(list(TOLD))

    return run


@dataclass(frozen=True)
class Folding:
    """Fold the pairs of every anchor row.

    `ours` are the columns of the anchor row; `read` those that the aggregates read, by the names of the projection:
    `g0`... are arguments, `h0`... filters, and SEQUENCE is what `first` and `last` go by.
    """

    aggregates: tuple[Aggregate, ...]
    ours: tuple[str, ...]
    read: tuple[tuple[str, str], ...]

    def __call__(self, batches: Batches) -> Batches:
        """Anchor rows with their folds, as these come by themselves."""
        waiting: list[pa.Table] = []
        for batch in batches:
            rows, paired, holds = _told(batch)
            if holds.any() or not waiting:
                waiting.append(self._read(batch, holds))
            if paired.all():
                continue
            pairs = waiting[0] if len(waiting) == 1 else _by_row(pa.concat_tables(waiting))
            ready = int(np.searchsorted(pairs.column("row").to_numpy(), rows[~paired][-1], "right"))
            yield self._folded(batch.filter(pa.array(~paired)), pairs.slice(0, ready))
            waiting = [pairs.slice(ready)]

    def _read(self, batch: pa.RecordBatch, holds: NDArray[np.bool_]) -> pa.Table:
        """What the aggregates read of the pairs of a batch."""
        names = {"row": "row", **dict(self.read)}
        columns = [batch.column(own) for own in names.values()]
        return _by_row(pa.Table.from_arrays(columns, names=list(names)).filter(pa.array(holds)))

    def _folded(self, anchors: pa.RecordBatch, pairs: pa.Table) -> pa.RecordBatch:
        at, size = anchors.column("row").to_numpy(), anchors.num_rows
        sequence = np.zeros(pairs.num_rows, np.int64)
        if SEQUENCE in pairs.column_names:
            sequence = order_keys([one_chunk(pairs.column(SEQUENCE))])[0]
        found = ordered_slices(pairs.column("row").to_numpy(), Bounds(size, at, at), None, None)
        join = Join(SliceJoin(found, "right"), found.probes, found.order)
        ours, theirs = SideKeys(np.arange(size), None, ()), SideKeys(np.arange(pairs.num_rows), None, (sequence,))
        arguments = arguments_of(self.aggregates, pairs)
        folded = fold(self.aggregates, arguments, join, "left", {"left": ours, "right": theirs}, size, ordered=True)
        names = [*self.ours, *(f"o{i}" for i in range(len(folded)))]
        return pa.RecordBatch.from_arrays([*(anchors.column(own) for own in self.ours), *folded], names=names)


def _by_row(pairs: pa.Table) -> pa.Table:
    """Pairs in the order of their anchor rows."""
    order = np.argsort(pairs.column("row").to_numpy(), kind="stable")
    return pairs.take(pa.array(order))


def _told(batch: pa.RecordBatch) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """The number of each anchor row, whether this is a candidate of it, and whether it is one that holds."""
    rows = batch.column("row").to_numpy(zero_copy_only=False)
    paired = batch.column("paired").to_numpy(zero_copy_only=False)
    holds = batch.column("holds").fill_null(False).to_numpy(zero_copy_only=False)  # noqa: FBT003
    return rows, paired, paired & holds
