"""Counting different values, which no lane can: a value counts where it is met for the first time.

In a slice, that is where its previous occurrence lies before the slice: the previous position is a height, the start of
the slice a threshold, and one sweep from the greatest threshold down counts for all slices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.segments import LEAST, sums_above_threshold
from dovetail._core.kernels.sort import sort_with_order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Side
    from dovetail._core.sweep.matches import Matches


def distinct_in_slices(codes: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the different codes in each slice; `codes` stand in the slices' order, -1 does not count."""
    out = np.zeros(low.size, np.int64)
    if codes.size == 0:
        return out
    heights, least = _heights(codes), -low
    by_height, by_least = (np.argsort(own, kind="stable")[::-1] for own in (heights, least))
    counted = by_height[: np.count_nonzero(heights != LEAST)]
    ones, tree = np.ones(codes.size, np.int64), np.zeros(2 * codes.size, np.int64)
    sums_above_threshold(ones, heights, counted, low, high, least, by_least, tree, out)
    return out


def _heights(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The previous position of the same code, turned round: 0 for the first one, lower the later the previous one."""
    keys, positions = sort_with_order(codes)
    heights = np.zeros(codes.size, np.int64)
    again = np.flatnonzero(keys[1:] == keys[:-1]) + 1
    heights[positions[again]] = -1 - positions[again - 1]
    heights[codes < 0] = LEAST
    return heights


def distinct_in_pairs(codes: NDArray[np.int64], pieces: Iterable[Matches], per: Side, size: int) -> NDArray[np.int64]:
    """Count the different codes among each row's partners; `codes` stand in the positions of the other side."""
    seen = np.empty(0, np.int64)
    base = int(codes.max(initial=0)) + 1
    for found in pieces:
        own, other = (found.left_rows, found.right_rows) if per == "left" else (found.right_rows, found.left_rows)
        counted = codes[other] >= 0
        seen = np.union1d(seen, own[counted] * base + codes[other[counted]])
    return np.bincount(seen // base, minlength=size)[:size]
