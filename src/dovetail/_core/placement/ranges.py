"""Ranges of time as cells: cut where both sides together have equally many rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def cut_ranges(
    left: NDArray[np.int64], right: NDArray[np.int64], weights: tuple[float, float], cells: int
) -> list[tuple[int, int]]:
    """Cut samples of times into at most so many cells: the first time of each but the first, as (side, row), ascending.

    A sampled row stands for `weights` rows of its side.
    """
    at = np.concatenate([left, right])
    if at.size == 0:
        return []
    order = np.argsort(at, kind="stable")
    load = np.cumsum(np.repeat(weights, [left.size, right.size])[order])
    places = np.searchsorted(load, load[-1] * np.arange(1, cells) / cells)
    chosen = order[np.minimum(places, at.size - 1)]
    distinct = {int(at[row]): int(row) for row in chosen if at[row] > at.min()}
    return [(0, row) if row < left.size else (1, row - left.size) for _, row in sorted(distinct.items())]
