"""Sums of doubles in twice their precision: beside every sum stands what rounding has lost of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail._core.kernels.compile import kernel, piece

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@piece
def lost_by_adding(total: float, value: float) -> float:
    """Return what rounding loses when two doubles are added, exactly."""
    longer = total + value
    part = longer - total
    return (total - (longer - part)) + (value - part)


@kernel
def reaches(values: NDArray[np.float64], size: float) -> bool:
    """Tell whether any value is so large, or so far below zero; NaN is not."""
    found = False
    for i in range(values.size):
        found |= abs(values[i]) >= size
    return found


@kernel
def add_by_pairs(
    values: NDArray[np.float64],
    rows: NDArray[np.int64],
    positions: NDArray[np.int64],
    out_total: NDArray[np.float64],
    out_lost: NDArray[np.float64],
) -> None:
    """Add, pair by pair, the value at its position to the sum of its row, and what rounding loses beside it."""
    for pair in range(rows.size):
        row = rows[pair]
        value = values[positions[pair]]
        out_lost[row] += lost_by_adding(out_total[row], value)
        out_total[row] += value
