"""Pairs of a row with every position of its slice `[low, high)`: a range of sorted positions is all its partners.

The pairs are numbered row by row; `ends` is the running total of pairs up to and with each row. A kernel starts at a
pair of any number, so a chunk may begin and end inside a row's slice.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import kernel
from dovetail._core.kernels.memory import empty
from dovetail._core.kernels.threads import shares, together

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

STRIDE = 4
"""Short runs are written in steps of four, over their end: the next run writes over what was too much."""


@kernel
def repeat_values(values: NDArray[Any], ends: NDArray[np.int64], first_pair: np.int64, out: NDArray[Any]) -> None:
    """Write the value of each pair's row: a run of one value per row."""
    row = np.int64(np.searchsorted(ends, first_pair, side="right"))
    written = np.int64(0)
    while written < out.size:
        until = min(ends[row] - first_pair, out.size)
        value = values[row]
        if until <= out.size - STRIDE:
            for i in range(written, until, STRIDE):
                out[i] = value
                out[i + 1] = value
                out[i + 2] = value
                out[i + 3] = value
        else:
            for i in range(written, until):
                out[i] = value
        written = until
        row += 1


@kernel
def copy_slices(
    values: NDArray[Any],
    low: NDArray[np.int64],
    ends: NDArray[np.int64],
    first_pair: np.int64,
    out: NDArray[Any],
) -> None:
    """Write the value at each pair's position: a stretch of memory per row."""
    row = np.int64(np.searchsorted(ends, first_pair, side="right"))
    before = ends[row - 1] if row > 0 else np.int64(0)
    written = np.int64(0)
    while written < out.size:
        until = min(ends[row] - first_pair, out.size)
        shift = low[row] + first_pair - before
        if until <= out.size - STRIDE and shift + until <= values.size - STRIDE:
            for i in range(written, until, STRIDE):
                out[i] = values[shift + i]
                out[i + 1] = values[shift + i + 1]
                out[i + 2] = values[shift + i + 2]
                out[i + 3] = values[shift + i + 3]
        else:
            for i in range(written, until):
                out[i] = values[shift + i]
        before = ends[row]
        written = until
        row += 1


@kernel
def take_values(values: NDArray[Any], rows: NDArray[np.int64], out: NDArray[Any]) -> None:
    """Write the value of each row."""
    for i in range(rows.size):
        out[i] = values[rows[i]]


@kernel
def put_values(values: NDArray[Any], rows: NDArray[np.int64], out: NDArray[Any]) -> None:
    """Write each value to its row."""
    for i in range(rows.size):
        out[rows[i]] = values[i]


@kernel
def take_numbered(values: NDArray[Any], numbers: NDArray[np.int64], first: np.int64, out: NDArray[Any]) -> None:
    """Write the value of each row, where rows are numbered from `first`."""
    for i in range(numbers.size):
        out[i] = values[numbers[i] - first]


def taken(values: NDArray[Any], rows: NDArray[np.int64], threads: int = 1) -> NDArray[Any]:
    """The values of some rows."""
    out = empty(rows.size, values.dtype)
    together(threads, [partial(take_values, values, rows[own], out[own]) for own in shares(rows.size, threads)])
    return out


@kernel
def follow_on(rows: NDArray[np.int64]) -> bool:
    """Tell whether each row is the one after the row before it."""
    for i in range(1, rows.size):  # noqa: SIM110 -- Numba compiles loops, not generators
        if rows[i] != rows[i - 1] + 1:
            return False
    return True


@kernel
def mark_covered(low: NDArray[np.int64], high: NDArray[np.int64], out_steps: NDArray[np.int64]) -> None:
    """Add +1 where a slice begins and -1 where it ends; the running total says how many slices cover a position."""
    for row in range(low.size):
        if low[row] < high[row]:
            out_steps[low[row]] += 1
            out_steps[high[row]] -= 1
