"""Where times stand in ordered blocks: the bounds of windows and the times that prevail, by search.

What belongs here reads the times of a key's blocks and returns *places*. A row's place is its block's position in the
directory, shifted, and its offset in the block; what is done with the rows between two places is said elsewhere
(`window_folds`, `window_ends`, `window_distinct`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dovetail._core.kernels.compile import kernel, piece
from dovetail._core.kernels.pages import (
    BLOCK,
    BLOCK_BITS,
    BLOCKS,
    FIRST,
    HEAD,
    LAST,
    MOST,
    START,
    behind_last,
    page_at,
)

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from dovetail._core.kernels.pages import Index

    Int = Any  # Numba's integers are of either kind
    Ints = NDArray[np.int64]

NEAR = 4
"""So many blocks on, the next window is looked for block by block."""


class Asked(NamedTuple):
    """Windows to fold: each one's key, ends, and the order of key and time in which to go through some of them."""

    codes: Ints
    lower: Ints
    upper: Ints
    order: Ints


class Places(NamedTuple):
    """Where windows begin and end in an index, for those base rows, in the order asked for, whose windows hold rows."""

    begins: Ints
    ends: Ints
    order: Ints


@piece
def block_of(place: Int) -> Int:
    """Return the position of a place's block."""
    return place >> BLOCK_BITS


@piece
def row_of(place: Int) -> Int:
    """Return the offset of a place in its block."""
    return place & (BLOCK - 1)


@piece
def count_before(index: Index, page: Int, at: Int) -> Int:
    """Return how many of a block's times lie before one: all are compared, at once, where a search would branch."""
    before = np.int64(0)
    for own in range(page + index.times, page + index.times + index.pages[page]):
        before += np.int64(index.pages[own] < at)
    return before


@piece
def seek(index: Index, key: Int, at: Int) -> Int:
    """Return the place of the first row at or after a time; behind the last block if there is none."""
    low = index.keys[key, HEAD]
    behind = behind_last(index, key)
    high = behind
    while low < high:
        middle = (low + high) >> 1
        if index.pages[page_at(index, key, middle) + LAST] < at:
            low = middle + 1
        else:
            high = middle
    if low == behind:
        return low << BLOCK_BITS
    return (low << BLOCK_BITS) + count_before(index, page_at(index, key, low), at)


@piece
def seek_on(index: Index, key: Int, place: Int, at: Int) -> Int:
    """Return the same, looking from an earlier place on: at the next blocks row by row, beyond them by search."""
    behind = behind_last(index, key)
    position = block_of(place)
    row = row_of(place)
    steps = np.int64(0)
    while position < behind and steps < NEAR and index.pages[page_at(index, key, position) + LAST] < at:
        position += 1
        row = np.int64(0)
        steps += 1
    if steps == NEAR:
        return seek(index, key, at)
    if position < behind:
        begin = page_at(index, key, position) + index.times
        while index.pages[begin + row] < at:
            row += 1
    return (position << BLOCK_BITS) + row


@piece
def seek_behind(index: Index, key: Int, at: Int) -> Int:
    """Return the place of the first row after a time."""
    if at == np.int64(MOST):
        return behind_last(index, key) << BLOCK_BITS
    return seek(index, key, at + 1)


@piece
def holds(index: Index, key: Int) -> bool:
    """Tell whether an index has rows of a key; -1 is no key."""
    return bool(0 <= key < index.keys.shape[0] and index.keys[key, START] >= 0)


@piece
def find_of_key(index: Index, asked: Asked, first: Int, behind: Int, some: Int, out: Places) -> Int:
    """Write the places of windows of one key, those from one number to another in the order asked for.

    `some` have been written before; return how many are then. Windows that move on are looked for from the one before.
    """
    key = asked.codes[asked.order[first]]
    head = index.keys[key, HEAD]
    page = page_at(index, key, head)
    least = index.pages[page + FIRST]
    most = index.pages[page_at(index, key, behind_last(index, key) - 1) + LAST]
    begin = np.int64(0)
    end = np.int64(0)
    before = np.int64(-1)
    for i in range(first, behind):
        row = asked.order[i]
        low = asked.lower[row]
        high = asked.upper[row]
        if most < low or least > high or low > high:
            continue
        if index.keys[key, BLOCKS] == 1:
            begin = head << BLOCK_BITS
            end = begin
            for own in range(page + index.times, page + index.times + index.pages[page]):
                begin += np.int64(index.pages[own] < low)
                end += np.int64(index.pages[own] <= high)
        elif before >= 0 and asked.lower[before] <= low and asked.upper[before] <= high < np.int64(MOST):
            begin = seek_on(index, key, begin, low)
            end = seek_on(index, key, end, high + 1)
        else:
            begin = seek(index, key, low)
            end = seek_behind(index, key, high)
        before = row
        if begin < end:
            out.begins[row] = begin
            out.ends[row] = end
            out.order[some] = row
            some += 1
    return some


@kernel
def find_windows(index: Index, asked: Asked, out: Places) -> Int:
    """Write, for those of some base rows whose windows hold rows, which they are and where the windows begin and end.

    Return how many.
    """
    some = np.int64(0)
    first = np.int64(0)
    while first < asked.order.size:
        key = asked.codes[asked.order[first]]
        behind = first + 1
        while behind < asked.order.size and asked.codes[asked.order[behind]] == key:
            behind += 1
        if holds(index, key):
            some = find_of_key(index, asked, first, behind, some, out)
        first = behind
    return some


@kernel
def prevailing_times(index: Index, asked: Asked, starts: Ints, out_at: Ints) -> None:
    """Raise, for some base rows, the time that prevails at a start to the last one stored at or before it."""
    for i in range(asked.order.size):
        row = asked.order[i]
        key = asked.codes[row]
        if not holds(index, key):
            continue
        place = seek_behind(index, key, starts[row])
        if place <= index.keys[key, HEAD] << BLOCK_BITS:
            continue
        if row_of(place):
            found = index.pages[page_at(index, key, block_of(place)) + index.times + row_of(place) - 1]
        else:
            found = index.pages[page_at(index, key, block_of(place) - 1) + LAST]
        out_at[row] = max(out_at[row], found)
