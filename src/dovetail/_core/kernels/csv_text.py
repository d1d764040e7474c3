"""Find the rows and first fields of CSV text, and read first fields that are plain integers.

Commas and line ends between quotes are part of a field; a doubled quote ends and begins one, which comes to the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dovetail._core.kernels.compile import kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COMMA, NEWLINE, QUOTE, MINUS, ZERO = 44, 10, 34, 45, 48
MOST_DIGITS = 18
"""So many always fit 64 bits."""


@kernel
def count_lines(data: NDArray[np.uint8]) -> int:
    """Count the line ends, between quotes or not."""
    lines = 0
    for at in range(data.size):
        lines += data[at] == NEWLINE
    return lines


@kernel
def split_rows(
    data: NDArray[np.uint8],
    columns: np.int64,
    out_start: NDArray[Any],
    out_key_end: NDArray[Any],
    out_end: NDArray[Any],
    out_ragged: NDArray[np.int64],
) -> tuple[int, int]:
    """Write where each row begins, its first field ends, and the row ends; return how many rows there are, and ragged.

    The text ends with a line end. Empty lines are no rows. The first ragged rows are noted.
    """
    rows, ragged, start, key_end, commas = 0, 0, 0, -1, 0
    quoted = False
    for at in range(data.size):
        letter = data[at]
        if letter == QUOTE:
            quoted = not quoted
        elif quoted:
            continue
        elif letter == COMMA:
            commas += 1
            if key_end < 0:
                key_end = at
        elif letter == NEWLINE:
            if at > start:
                out_start[rows] = start
                out_key_end[rows] = key_end if key_end >= 0 else at
                out_end[rows] = at
                if commas + 1 != columns:
                    if ragged < out_ragged.size:
                        out_ragged[ragged] = start
                    ragged += 1
                rows += 1
            start, key_end, commas = at + 1, -1, 0
    return rows, ragged


@kernel
def read_integers(
    data: NDArray[np.uint8], start: NDArray[Any], end: NDArray[Any], out_values: NDArray[np.int64]
) -> bool:
    """Write the integers between the positions; False if one of them is none, or may be too long."""
    for row in range(start.size):
        at, last, value = start[row], end[row], 0
        negative = at < last and data[at] == MINUS
        if negative:
            at += 1
        if at == last or last - at > MOST_DIGITS:
            return False
        for place in range(at, last):
            digit = int(data[place]) - ZERO
            if digit < 0 or digit > 9:  # noqa: PLR2004 -- the digits
                return False
            value = value * 10 + digit
        out_values[row] = -value if negative else value
    return True
