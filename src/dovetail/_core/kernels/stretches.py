"""Walks over intervals in the order of (row, start): where they cover their row, and where they leave it uncovered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail._core.kernels.compile import kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@kernel
def merge_touching(
    rows: NDArray[np.int64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    out_row: NDArray[np.int64],
    out_start: NDArray[np.int64],
    out_end: NDArray[np.int64],
) -> int:
    """Write intervals of one row that overlap or touch as one; return how many are left.

    The output may be the input itself: no interval is written before it was read.
    """
    size = 0
    for i in range(rows.size):
        if size > 0 and out_row[size - 1] == rows[i] and start[i] <= out_end[size - 1]:
            out_end[size - 1] = max(out_end[size - 1], end[i])
        else:
            out_row[size] = rows[i]
            out_start[size] = start[i]
            out_end[size] = end[i]
            size += 1
    return size


@kernel
def find_islands(
    rows: NDArray[np.int64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    out_first: NDArray[np.int64],
    out_last: NDArray[np.int64],
) -> int:
    """Of intervals of one row that overlap or touch, write where the first to start and the last to end stand."""
    size = 0
    for i in range(rows.size):
        if size > 0 and rows[out_first[size - 1]] == rows[i] and start[i] <= end[out_last[size - 1]]:
            if end[i] > end[out_last[size - 1]]:
                out_last[size - 1] = i
        else:
            out_first[size] = i
            out_last[size] = i
            size += 1
    return size


@kernel
def fill_gaps(
    rows: NDArray[np.int64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    covered_row: NDArray[np.int64],
    covered_start: NDArray[np.int64],
    covered_end: NDArray[np.int64],
    out_row: NDArray[np.int64],
    out_start: NDArray[np.int64],
    out_end: NDArray[np.int64],
) -> int:
    """Write what the covered stretches leave of every row's interval; return how many gaps there are.

    `rows` ascend; the covered stretches lie within their rows, ascend and do not touch. There is room for one gap per
    row and one per stretch.
    """
    size = 0
    at = 0
    for i in range(rows.size):
        reached = start[i]
        while at < covered_row.size and covered_row[at] == rows[i]:
            if covered_start[at] > reached:
                out_row[size] = rows[i]
                out_start[size] = reached
                out_end[size] = covered_start[at]
                size += 1
            reached = covered_end[at]
            at += 1
        if reached < end[i]:
            out_row[size] = rows[i]
            out_start[size] = reached
            out_end[size] = end[i]
            size += 1
    return size
