"""Pairs of rows whose keys have one number, in the order of the rows that are stored.

The probing rows of a number are a chain: its first row, and behind every row the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail._core.kernels.compile import NO_ROW, kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@kernel
def chain_rows(numbers: NDArray[np.int64], out_first: NDArray[np.int32], out_next: NDArray[np.int32]) -> None:
    """Chain the probing rows of each number, in their order; `out_first` is NO_ROW throughout."""
    for row in range(numbers.size - 1, -1, -1):
        if numbers[row] != NO_ROW:
            out_next[row] = out_first[numbers[row]]
            out_first[numbers[row]] = row


@kernel
def next_pairs(
    numbers: NDArray[np.int32],
    first: NDArray[np.int32],
    following: NDArray[np.int32],
    row: np.int64,
    partner: np.int64,
    out_probing: NDArray[np.int32],
    out_stored: NDArray[np.int32],
) -> tuple[int, np.int64, np.int64]:
    """Write pairs from a stored row and its next partner on, NO_ROW for its first; return how many, and where to go on.

    The last of `first` is that of rows without a number: NO_ROW.
    """
    size = 0
    while row < numbers.size and size < out_stored.size:
        if partner == NO_ROW:
            partner = first[numbers[row]]
        while partner != NO_ROW and size < out_stored.size:
            out_probing[size] = partner
            out_stored[size] = row
            size += 1
            partner = following[partner]
        if partner == NO_ROW:
            row += 1
    return size, row, partner
