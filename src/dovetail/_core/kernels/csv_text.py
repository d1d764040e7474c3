"""Find the rows and first fields of CSV text, read first fields that are plain integers, and put lines together.

Commas and line ends between quotes are part of a field. A quote opens at the start of a field, or right after one that
closed: a doubled quote closes and opens, which comes to the same. Anywhere else it is a letter like others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail._core.kernels.compile import NO_ROW, kernel
from dovetail._core.kernels.copying import copy_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

COMMA, NEWLINE, RETURN, QUOTE = np.uint8(44), np.uint8(10), np.uint8(13), np.uint8(34)
MINUS, ZERO = 45, 48
GATHERED, TOP_BYTE = np.uint64(0x0102_0408_1020_4080), np.uint64(56)
"""Eight bytes that are 0 or 1, the first lowest, times this have their bits in the top byte, the first lowest."""
BIT_COUNTS = np.array([bits.bit_count() for bits in range(256)])
BIT_PLACES = np.array([[*(i for i in range(8) if bits >> i & 1), *[0] * 8][:8] for bits in range(256)])
"""Where the bits of a byte stand that are set."""
MOST_DIGITS = 18
"""So many always fit 64 bits."""


@kernel
def count_letter(data: NDArray[np.uint8], letter: np.uint8) -> int:
    """Count a letter, between quotes or not."""
    times = 0
    for at in range(data.size):
        times += data[at] == letter
    return times


@kernel
def row_end(data: NDArray[np.uint8], begin: int, at: int) -> int:
    """Return the first place after the row in which `at` lies, or the text's end; a row begins at `begin`."""
    quoted, field, closed = False, begin, begin - 2
    for place in range(begin, data.size):
        letter = data[place]
        if letter == QUOTE:
            if quoted:
                closed = place
            quoted = not quoted and (place == field or place == closed + 1)
        elif quoted:
            continue
        elif letter == COMMA:
            field = place + 1
        elif letter == NEWLINE:
            if place >= at:
                return place + 1
            field = place + 1
    return data.size


@kernel
def drop_returns(data: NDArray[np.uint8], out: NDArray[np.uint8]) -> int:
    """Copy a text without the returns before its line ends, but for those between quotes; return how long it is."""
    quoted, field, closed, size = False, 0, -2, 0
    for at in range(data.size):
        letter = data[at]
        if letter == QUOTE:
            if quoted:
                closed = at
            quoted = not quoted and (at == field or at == closed + 1)
        elif quoted:
            pass
        elif letter in (COMMA, NEWLINE):
            field = at + 1
        elif letter == RETURN and at + 1 < data.size and data[at + 1] == NEWLINE:
            continue
        out[size] = letter
        size += 1
    return size


@kernel
def split_rows(
    data: NDArray[np.uint8],
    columns: np.int64,
    flags: NDArray[np.uint8],
    words: NDArray[np.uint64],
    out_start: NDArray[Any],
    out_key_end: NDArray[Any],
    out_end: NDArray[Any],
    out_ragged: NDArray[np.int64],
) -> tuple[int, int, int]:
    """Write where each row begins, where its first field ends, and where the row ends.

    Return how many rows there are, how many of them are ragged, and where a row begins that a quote leaves open (-1:
    none does). The text ends with a line end; empty lines are no rows; the first ragged rows are noted. `words` are the
    bytes of `flags`, eight at a time: most letters of a text mean nothing here, and are passed over so many at once.
    """
    rows, ragged, start, key_end, commas = 0, 0, 0, -1, 0
    quoted, field, closed = False, 0, -2
    for block in range(0, data.size, flags.size):
        letters = data[block : block + flags.size]
        for i in range(letters.size):
            flags[i] = (letters[i] == COMMA) | (letters[i] == NEWLINE) | (letters[i] == QUOTE)
        flags[letters.size :] = 0
        for word in range(words.size):
            bits = (words[word] * GATHERED) >> TOP_BYTE
            for i in range(BIT_COUNTS[bits]):
                at = block + 8 * word + BIT_PLACES[bits, i]
                letter = data[at]
                if letter == QUOTE:
                    if quoted:
                        closed = at
                    quoted = not quoted and (at == field or at == closed + 1)
                elif quoted:
                    continue
                elif letter == COMMA:
                    field = at + 1
                    commas += 1
                    if key_end < 0:
                        key_end = at
                else:
                    field = at + 1
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
    return rows, ragged, start if quoted else -1


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


@kernel
def fill_lines(
    ours: NDArray[np.int32],
    edges: NDArray[Any],
    texts: NDArray[np.uint8],
    theirs: NDArray[np.int32],
    start: NDArray[Any],
    key_end: NDArray[Any],
    end: NDArray[Any],
    data: NDArray[np.uint8],
    no_ours: NDArray[np.uint8],
    no_theirs: NDArray[np.uint8],
    first: np.int64,
    out: NDArray[np.uint8],
) -> tuple[int, int]:
    """Write lines from `first` on while there is room; return where to go on, and how many bytes were written.

    A line is one of our texts, or their key and `no_ours`, and then what follows their key with its line end, or
    `no_theirs`.
    """
    at = 0
    for line in range(first, ours.size):
        own, other = ours[line], theirs[line]
        head = edges[own + 1] - edges[own] if own != NO_ROW else key_end[other] - start[other] + no_ours.size
        rest = end[other] + 1 - key_end[other] if other != NO_ROW else no_theirs.size
        if at + head + rest > out.size:
            return line, at
        if own != NO_ROW:
            copy_bytes(texts, edges[own], head, out, at)
        else:
            copy_bytes(data, start[other], head - no_ours.size, out, at)
            copy_bytes(no_ours, 0, no_ours.size, out, at + head - no_ours.size)
        if other != NO_ROW:
            copy_bytes(data, key_end[other], rest, out, at + head)
        else:
            copy_bytes(no_theirs, 0, rest, out, at + head)
        at += head + rest
    return ours.size, at
