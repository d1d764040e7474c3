"""Lanes: columns of int64 or float64 that fold by addition or by maximum, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dovetail._core.kernels.memory import zeros
from dovetail._core.kernels.segments import (
    LEAST,
    fill_max_tree,
    fill_running_sums,
    fill_sum_tree,
    maxima_above_threshold,
    maxima_of_slices,
    sums_above_threshold,
    sums_of_slices,
)
from dovetail._core.kernels.slices import taken

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Side
    from dovetail._core.sweep.bounds import Slices
    from dovetail._core.sweep.matches import Matches
    from dovetail._core.sweep.threshold_join import ThresholdJoin


@dataclass(frozen=True, slots=True)
class Lane:
    """One number per partner row, and how numbers of several rows become one.

    A sum of int64 never overflows: whoever prepares a lane splits wide values. The maximum of nothing is LEAST. A count
    adds up ones, which need not be looked at.
    """

    fold: Literal["sum", "max", "count"]
    values: NDArray[Any]

    def empty(self, size: int) -> NDArray[Any]:
        """The fold of nothing, `size` times."""
        return np.full(size, LEAST) if self.fold == "max" else zeros(size, self.values.dtype)

    def arranged(self, rows: NDArray[np.int64]) -> Lane:
        """The lane in another order of the rows."""
        return self if self.fold == "count" else Lane(self.fold, taken(self.values, rows))


def fold_slices(lane: Lane, found: Slices) -> NDArray[Any]:
    """Fold every slice of a lane that stands in the slices' order."""
    if lane.fold == "count":
        return found.high - found.low
    if lane.fold == "sum" and lane.values.dtype == np.int64:
        running = zeros(lane.values.size + 1, np.int64)
        np.cumsum(lane.values, out=running[1:])
        sums: NDArray[np.int64] = taken(running, found.high) - taken(running, found.low)
        return sums
    out = lane.empty(found.low.size)
    if lane.values.size == 0:
        return out
    if lane.fold == "sum" and (end := _shared_end(found, lane.values.size)) is not None:
        return _running_sums(lane.values, found, end)
    tree = np.concatenate([lane.empty(lane.values.size), lane.values])
    if lane.fold == "max":
        fill_max_tree(tree)
        maxima_of_slices(tree, found.low, found.high, out)
    else:
        fill_sum_tree(tree)
        sums_of_slices(tree, found.low, found.high, out)
    return out


def _shared_end(found: Slices, size: int) -> Literal["first", "last"] | None:
    """The end of the stored side that every slice reaches; None if there is no such end."""
    if not found.low.any():
        return "first"
    return "last" if (found.high >= size).all() else None


def _running_sums(values: NDArray[np.float64], found: Slices, end: Literal["first", "last"]) -> NDArray[np.float64]:
    """Sums of slices that all begin, or all end, together: one running sum, no difference of two."""
    sums = zeros(values.size + 1, np.float64)
    if end == "first":
        fill_running_sums(values, sums[1:])
        return taken(sums, found.high)
    fill_running_sums(values[::-1], sums[1:])
    return taken(sums, values.size - found.low)


def fold_threshold(lane: Lane, join: ThresholdJoin) -> NDArray[Any]:
    """Fold, per probe, the rows of its slice that reach its threshold; the lane stands in the stored order."""
    out = lane.empty(join.least.size)
    if lane.values.size == 0:
        return out
    kernel = maxima_above_threshold if lane.fold == "max" else sums_above_threshold
    kernel(
        lane.values,
        join.heights,
        join.by_height,
        join.found.low,
        join.found.high,
        join.least,
        join.by_least,
        lane.empty(2 * lane.values.size),
        out,
    )
    return out


def fold_pairs(lanes: list[Lane], pieces: Iterable[Matches], per: Side, size: int) -> list[NDArray[Any]]:
    """Fold pairs as they are found; lanes stand in the positions of the other side."""
    out = [lane.empty(size) for lane in lanes]
    for found in pieces:
        own, other = (found.left_rows, found.right_rows) if per == "left" else (found.right_rows, found.left_rows)
        for lane, folded in zip(lanes, out, strict=True):
            (np.maximum if lane.fold == "max" else np.add).at(folded, own, lane.values[other])
    return out
