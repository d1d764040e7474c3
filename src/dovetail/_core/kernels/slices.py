"""Pairs of a row with every position of its slice `[low, high)`: a range of sorted positions is all its partners."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def fill_slice_pairs(
    low: NDArray[np.int64],
    ends: NDArray[np.int64],
    first_pair: np.int64,
    out_row: NDArray[np.int64],
    out_position: NDArray[np.int64],
) -> None:
    """Write the pairs numbered from `first_pair` on, as many as the outputs hold.

    `ends` is the running total of pairs up to and with each row, so a chunk may begin and end inside a row's slice.
    """
    row = np.int64(np.searchsorted(ends, first_pair, side="right"))
    written = np.int64(0)
    skip = first_pair - (ends[row - 1] if row > 0 else np.int64(0))
    while written < out_row.size:
        taken = (ends[row - 1] if row > 0 else np.int64(0)) + skip
        count = min(ends[row] - taken, out_row.size - written)
        position = low[row] + skip
        for i in range(count):
            out_row[written + i] = row
            out_position[written + i] = position + i
        written += count
        skip = np.int64(0)
        row += 1


@kernel
def mark_covered(low: NDArray[np.int64], high: NDArray[np.int64], out_steps: NDArray[np.int64]) -> None:
    """Add +1 where a slice begins and -1 where it ends; the running total says how many slices cover a position."""
    for row in range(low.size):
        if low[row] < high[row]:
            out_steps[low[row]] += 1
            out_steps[high[row]] -= 1
