"""Pairs in the order of time, noted on the rows that they cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail._core.kernels.compile import kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@kernel
def cover(
    rows: NDArray[np.int64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    begun: NDArray[np.int64],
    reached: NDArray[np.int64],
    out_row: NDArray[np.int64],
    out_from: NDArray[np.int64],
    out_gap: NDArray[np.int64],
    out_until: NDArray[np.int64],
) -> int:
    """Note pairs, by start, on their rows; return how many gaps they leave behind.

    A row is covered from `begun` to `reached`. A pair that starts later leaves a gap, written as the row, where it
    was covered before (`out_from` to `out_gap`), and where it is covered again.
    """
    size = 0
    for i in range(rows.size):
        row = rows[i]
        if start[i] > reached[row]:
            out_row[size] = row
            out_from[size] = begun[row]
            out_gap[size] = reached[row]
            out_until[size] = start[i]
            size += 1
            begun[row] = start[i]
        reached[row] = max(reached[row], end[i])
    return size
