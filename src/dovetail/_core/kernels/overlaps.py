"""Pairs of two inputs in the order of time: rows of both are walked by start, each with a slice of the other input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def ends_rise(key: NDArray[np.int64], end: NDArray[np.int64]) -> bool:
    """Tell whether rows that stand by key and start stand by key and end, too."""
    for i in range(1, key.size):  # noqa: SIM110 -- Numba compiles loops, not generators
        if key[i] == key[i - 1] and end[i] < end[i - 1]:
            return False
    return True


@kernel
def slices_by_walk(
    key: NDArray[np.int64],
    start: NDArray[np.int64],
    order: NDArray[np.int64],
    first_new: np.int64,
    other_key: NDArray[np.int64],
    other_start: NDArray[np.int64],
    other_end: NDArray[np.int64],
    ties: bool,
    out_low: NDArray[np.int64],
    out_high: NDArray[np.int64],
) -> None:
    """Write, per new row, the slice of the other rows of its key that last at its start and have started before it.

    Both sides stand by (key, start), and the other by (key, end) as well. `order` says where each row stood before,
    those from `first_new` on being new. `ties`: a row that starts with it has started.
    """
    low = np.int64(0)
    high = np.int64(0)
    for i in range(key.size):
        own, at = key[i], start[i]
        while low < other_key.size and (other_key[low] < own or (other_key[low] == own and other_end[low] <= at)):
            low += 1
        high = max(low, high)
        while high < other_key.size and (
            other_key[high] < own
            or (other_key[high] == own and (other_start[high] < at or (ties and other_start[high] == at)))
        ):
            high += 1
        row = order[i] - first_new
        if row >= 0:
            out_low[row] = low
            out_high[row] = high


@kernel
def fill_pairs_by_start(
    one_number: NDArray[np.int64],
    one_start: NDArray[np.int64],
    one_end: NDArray[np.int64],
    one_low: NDArray[np.int64],
    one_high: NDArray[np.int64],
    met_by_one_number: NDArray[np.int64],
    met_by_one_end: NDArray[np.int64],
    other_number: NDArray[np.int64],
    other_start: NDArray[np.int64],
    other_end: NDArray[np.int64],
    other_low: NDArray[np.int64],
    other_high: NDArray[np.int64],
    met_by_other_number: NDArray[np.int64],
    met_by_other_end: NDArray[np.int64],
    out_one: NDArray[np.int64],
    out_other: NDArray[np.int64],
    out_start: NDArray[np.int64],
    out_end: NDArray[np.int64],
) -> tuple[int, bool]:
    """Write the pairs of each row with those of its slice that last beyond its start.

    Return how many there are, and whether they stand in the order of (start, end).
    """
    size = 0
    i = 0
    j = 0
    rises = True
    last_start = np.int64(0)
    last_end = np.int64(0)
    while i < one_number.size or j < other_number.size:
        if j == other_number.size or (i < one_number.size and one_start[i] <= other_start[j]):
            start = one_start[i]
            for at in range(one_low[i], one_high[i]):
                if met_by_one_end[at] > start:
                    out_one[size] = one_number[i]
                    out_other[size] = met_by_one_number[at]
                    out_start[size] = start
                    end = min(one_end[i], met_by_one_end[at])
                    out_end[size] = end
                    rises &= size == 0 or start > last_start or end >= last_end
                    last_start = start
                    last_end = end
                    size += 1
            i += 1
        else:
            start = other_start[j]
            for at in range(other_low[j], other_high[j]):
                if met_by_other_end[at] > start:
                    out_one[size] = met_by_other_number[at]
                    out_other[size] = other_number[j]
                    out_start[size] = start
                    end = min(other_end[j], met_by_other_end[at])
                    out_end[size] = end
                    rises &= size == 0 or start > last_start or end >= last_end
                    last_start = start
                    last_end = end
                    size += 1
            j += 1
    return size, rises


@kernel
def ascend_by_both(start: NDArray[np.int64], end: NDArray[np.int64]) -> bool:
    """Tell whether intervals stand in the order of (start, end)."""
    for i in range(1, start.size):
        if start[i - 1] > start[i] or (start[i - 1] == start[i] and end[i - 1] > end[i]):
            return False
    return True
