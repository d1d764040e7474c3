"""Codes that a row meets for the first time, while pairs come row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def count_first_met(
    rows: NDArray[np.int64],
    codes: NDArray[np.int64],
    before: np.int64,
    last: NDArray[np.int64],
    out_count: NDArray[np.int64],
) -> np.int64:
    """Add the codes that each row has not met yet; return the last row, or -1 if the rows do not ascend.

    `before` is the row that came last; `last` holds, for every code, the row that met it last.
    """
    for i in range(rows.size):
        row = rows[i]
        if row < before:
            return np.int64(-1)
        before = np.int64(row)
        if last[codes[i]] != row:
            last[codes[i]] = row
            out_count[row] += 1
    return before
