"""Pairs of two inputs in the order of time: rows of both are walked by start, each with a slice of the other input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail._core.kernels.compile import kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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
) -> int:
    """Write the pairs of each row with those of its slice that last beyond its start; return how many there are."""
    size = 0
    i = 0
    j = 0
    while i < one_number.size or j < other_number.size:
        if j == other_number.size or (i < one_number.size and one_start[i] <= other_start[j]):
            start = one_start[i]
            for at in range(one_low[i], one_high[i]):
                if met_by_one_end[at] > start:
                    out_one[size] = one_number[i]
                    out_other[size] = met_by_one_number[at]
                    out_start[size] = start
                    out_end[size] = min(one_end[i], met_by_one_end[at])
                    size += 1
            i += 1
        else:
            start = other_start[j]
            for at in range(other_low[j], other_high[j]):
                if met_by_other_end[at] > start:
                    out_one[size] = met_by_other_number[at]
                    out_other[size] = other_number[j]
                    out_start[size] = start
                    out_end[size] = min(other_end[j], met_by_other_end[at])
                    size += 1
            j += 1
    return size


@kernel
def ascend_by_both(start: NDArray[np.int64], end: NDArray[np.int64]) -> bool:
    """Tell whether intervals stand in the order of (start, end)."""
    for i in range(1, start.size):
        if start[i - 1] > start[i] or (start[i - 1] == start[i] and end[i - 1] > end[i]):
            return False
    return True
