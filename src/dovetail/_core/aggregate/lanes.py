"""Lanes: columns of int64 or float64 that fold by addition or by maximum, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dovetail._core.kernels.adding import add_by_pairs
from dovetail._core.kernels.memory import empty, zeros
from dovetail._core.kernels.segments import (
    BLOCK,
    LEAST,
    fill_max_tree,
    fill_running_totals,
    fill_total_tree,
    maxima_above_threshold,
    maxima_of_slices,
    sums_above_threshold,
    totals_above_threshold,
    totals_of_slices,
)
from dovetail._core.kernels.slices import taken
from dovetail._core.kernels.threads import shares, together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Side
    from dovetail._core.sweep.matches import Matches
    from dovetail._core.sweep.threshold_join import ThresholdJoin

    Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Lane:
    """One number per partner row, and how numbers of several rows become one.

    A sum of int64 never overflows: whoever prepares a lane splits wide values. A total adds doubles and folds to two
    columns, the sum and what rounding has lost. The maximum of nothing is LEAST. A count adds up ones, which need not
    be looked at.
    """

    fold: Literal["sum", "total", "max", "count"]
    values: NDArray[Any]

    def empty(self, size: int) -> NDArray[Any]:
        """The fold of nothing, `size` times."""
        if self.fold == "total":
            return zeros(2 * size, np.float64).reshape(size, 2)
        return np.full(size, LEAST) if self.fold == "max" else zeros(size, np.int64)

    def arranged(self, rows: NDArray[np.int64], threads: int = 1) -> Lane:
        """The lane in another order of the rows."""
        if self.fold == "count":
            return self
        return Lane(self.fold, taken(self.values, rows, threads))


@dataclass(frozen=True)
class SliceFolds:
    """Folds of slices of a lane that stands in the slices' order; what they share is built once."""

    lane: Lane
    threads: int = 1

    def over(self, low: Positions, high: Positions) -> NDArray[Any]:
        """Fold every slice `[low, high)`."""
        if self.lane.fold == "count":
            return high - low
        if self.lane.fold == "sum":
            sums: NDArray[np.int64] = taken(self._running, high) - taken(self._running, low)
            return sums
        out = self.lane.empty(low.size)
        if self.lane.values.size == 0:
            return out
        if self.lane.fold == "total" and (end := _shared_end(low, high, self.lane.values.size)) is not None:
            return _running_totals(self.lane.values, low, high, end)
        fold: Callable[..., None] = maxima_of_slices if self.lane.fold == "max" else totals_of_slices
        tree, columns = self._tree, [out] if out.ndim == 1 else list(out.T)

        def fold_share(own: slice) -> None:
            fold(self.lane.values, *tree, low[own], high[own], *(column[own] for column in columns))

        together(self.threads, [partial(fold_share, own) for own in shares(low.size, self.threads)])
        return out

    @cached_property
    def _running(self) -> NDArray[np.int64]:
        running = zeros(self.lane.values.size + 1, np.int64)
        np.cumsum(self.lane.values, out=running[1:])
        return running

    @cached_property
    def _tree(self) -> list[NDArray[Any]]:
        """The tree over the lane's blocks: of maxima, or of sums and what they have lost."""
        size = 2 * -(-self.lane.values.size // BLOCK)
        if self.lane.fold == "max":
            tree = np.empty(size, np.int64)
            fill_max_tree(self.lane.values, tree)
            return [tree]
        total, lost = np.empty(size), np.empty(size)
        fill_total_tree(self.lane.values, total, lost)
        return [total, lost]


def _shared_end(low: Positions, high: Positions, size: int) -> Literal["first", "last"] | None:
    """The end of the stored side that every slice reaches; None if there is no such end."""
    if not low.any():
        return "first"
    return "last" if (high >= size).all() else None


def _running_totals(
    values: NDArray[np.float64], low: Positions, high: Positions, end: Literal["first", "last"]
) -> NDArray[np.float64]:
    """Sums of slices that all begin, or all end, together: one running sum, no difference of two."""
    sums = empty(2 * values.size + 2, np.float64).reshape(-1, 2)
    sums[0] = 0.0
    fill_running_totals(values if end == "first" else values[::-1], sums[1:, 0], sums[1:, 1])
    return taken(words(sums), high if end == "first" else values.size - low).view(np.float64).reshape(-1, 2)


def words(folded: NDArray[Any]) -> NDArray[Any]:
    """Folds of one column as they are; of two, both numbers of a row as one word, which moves at once."""
    return folded if folded.ndim == 1 else folded.view(np.complex128)[:, 0]


def fold_threshold(lane: Lane, join: ThresholdJoin) -> NDArray[Any]:
    """Fold, per probe, the rows of its slice that reach its threshold; the lane stands in the stored order."""
    out = lane.empty(join.least.size)
    if lane.values.size == 0:
        return out
    found, nodes = join.found, 2 * lane.values.size
    reached = (join.heights, join.by_height, found.low, found.high, join.least, join.by_least)
    if lane.fold == "total":
        totals_above_threshold(lane.values, *reached, np.zeros(nodes), np.zeros(nodes), out[:, 0], out[:, 1])
    elif lane.fold == "max":
        maxima_above_threshold(lane.values, *reached, np.full(nodes, LEAST), out)
    else:
        sums_above_threshold(lane.values, *reached, np.zeros(nodes, np.int64), out)
    return out


def fold_pairs(lanes: list[Lane], pieces: Iterable[Matches], per: Side, size: int) -> list[NDArray[Any]]:
    """Fold pairs as they are found; lanes stand in the positions of the other side."""
    out = [lane.empty(size) for lane in lanes]
    for found in pieces:
        own, other = (found.left_rows, found.right_rows) if per == "left" else (found.right_rows, found.left_rows)
        for lane, folded in zip(lanes, out, strict=True):
            if lane.fold == "total":
                add_by_pairs(lane.values, own, other, folded[:, 0], folded[:, 1])
            else:
                (np.maximum if lane.fold == "max" else np.add).at(folded, own, lane.values[other])
    return out
