"""Digests: what rows bring to the aggregates of every row that they all match, folded, in place of the rows.

Of a sum, a digest holds the folds of its lanes; of a least, greatest, first or last value, the row that has it.
Digests of different rows can be joined, and added to what other rows bring.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dovetail._core.aggregate.functions import Extreme, family, prepare
from dovetail._core.aggregate.lanes import SliceFolds
from dovetail._core.aggregate.precise import add
from dovetail._core.columns.stable_keys import has_stable_order
from dovetail._core.columns.table import one_chunk
from dovetail._core.kernels.segments import LEAST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail._core.aggregate.functions import Fold
    from dovetail._core.aggregate.lanes import Lane
    from dovetail._core.aggregate.run import Argument
    from dovetail._core.placement.boxes import Cover
    from dovetail._core.plan.aggregates import Aggregate

    Ints = NDArray[np.int64]
    Folded = NDArray[Any]


def has_digest(aggregates: Sequence[Aggregate], sequence: pa.DataType | None) -> bool:
    """Whether all aggregates can be digested; `sequence` is the type by which `first` and `last` go, if there is one.

    Different values have no digest shorter than themselves, and the order keys of most types are another task's own.
    """
    never = {"count_distinct"}
    if sequence is not None and not has_stable_order(sequence):
        never |= {"first", "last"}
    return not any(own.function in never for own in aggregates)


def digests(
    aggregates: Sequence[Aggregate], arguments: Sequence[Argument], sequence: Ints, covers: Sequence[Cover], cells: int
) -> tuple[Ints, pa.Table]:
    """The cells that are covered, of so many, and a row of digest for each."""
    met = np.zeros(cells, np.bool_)
    for cover in covers:
        met[cover.first : cover.end] = True
    columns: dict[str, pa.Array] = {}
    seen = set()
    for number, (aggregate, (values, where)) in enumerate(zip(aggregates, arguments, strict=True)):
        if family(aggregate) not in seen:
            seen.add(family(aggregate))
            own = prepare(aggregate, values, where, sequence, sequence.size, alike=True)
            folded = [_by_cell(lane, covers, cells)[met] for lane in own.lanes]
            columns |= _columns(number, own, folded, sequence)
    return np.flatnonzero(met), pa.table(columns)


def _by_cell(lane: Lane, covers: Sequence[Cover], cells: int) -> Folded:
    """The folds of a lane over the rows that cover each cell."""
    out = lane.empty(cells)
    high = np.cumsum([cover.rows.size for cover in covers])
    low = np.append(0, high[:-1])
    arranged = lane.arranged(np.concatenate([cover.rows for cover in covers]))
    for cover, folded in zip(covers, SliceFolds(arranged).over(low, high), strict=True):
        out[cover.first : cover.end] = _both(lane, out[cover.first : cover.end], folded)
    return out


def _both(lane: Lane, one: Folded, other: Folded) -> Folded:
    """Two folds of a lane as one."""
    if lane.fold == "max":
        return np.asarray(np.maximum(one, other))
    if lane.fold != "total":
        return np.asarray(one + other)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.stack(add((one[..., 0], one[..., 1]), (other[..., 0], other[..., 1])), axis=-1)


def _columns(number: int, own: Fold, folded: list[Folded], sequence: Ints) -> dict[str, pa.Array]:
    """The columns of one family: the folds of its lanes, two numbers as a list; or the rows that have the extremes."""
    if isinstance(own, Extreme):
        there = folded[0] != LEAST
        at = sequence[own.rows(folded[0])] if there.any() else np.zeros(there.size, np.int64)
        return {
            f"{number} there": pa.array(there),
            f"{number} value": own.finish(folded, ""),
            f"{number} at": pa.array(at),
        }
    pairs = partial(pa.FixedSizeListArray.from_arrays, list_size=2)
    return {f"{number} {i}": pa.array(f) if f.ndim == 1 else pairs(pa.array(f.ravel())) for i, f in enumerate(folded)}


@dataclass(frozen=True)
class Digest:
    """The digests that a cell has got, to be joined with what its own rows bring."""

    table: pa.Table

    def prepare(self, number: int, aggregate: Aggregate, argument: Argument, sequence: Ints) -> Fold:
        """Prepare an aggregate over the rows of the cell and, after them, those that digests brought."""
        values, where = argument
        if f"{number} there" in self.table.column_names:
            brought = self.table.filter(self.table.column(f"{number} there"))
            values = pa.concat_arrays([values, one_chunk(brought.column(f"{number} value"))])
            sequence = np.concatenate([sequence, brought.column(f"{number} at").to_numpy()])
            if where is not None:
                where = pa.concat_arrays([where, pa.array([True] * brought.num_rows, where.type)])
        return prepare(aggregate, values, where, sequence, sequence.size, alike=True)

    def joined(self, number: int, own: Fold, folded: list[Folded], rows: int) -> list[Folded]:
        """The folds over partners among the `rows` of the cell, and those of the digests with them."""
        return [
            _both(lane, one, self._brought(f"{number} {i}", lane, rows))
            for i, (lane, one) in enumerate(zip(own.lanes, folded, strict=True))
        ]

    def _brought(self, name: str, lane: Lane, rows: int) -> Folded:
        """What all digests bring to a lane."""
        if lane.fold == "max":
            return np.asarray(lane.values[rows:].max(initial=LEAST))
        column = one_chunk(self.table.column(name))
        if lane.fold != "total":
            return np.asarray(column.to_numpy().sum())
        return reduce(partial(_both, lane), column.values.to_numpy().reshape(-1, 2), np.zeros(2))
