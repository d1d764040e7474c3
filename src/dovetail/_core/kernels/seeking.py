"""Where times stand in ordered blocks: the bounds of windows and the times that prevail, by search.

What belongs here reads the times of a key's blocks and returns *places*. A row's place is its block's position in the
directory, shifted, and its offset in the block; what is done with the rows between two places is said elsewhere
(`window_folds`, `window_ends`, `window_distinct`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import kernel, piece
from dovetail._core.kernels.pages import MOST, page_at

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Int = Any  # Numba's integers are of either kind
    Ints = NDArray[np.int64]

NEAR = 4
"""So many blocks on, the next window is looked for block by block."""


@piece
def count_before(pages: Ints, begin: Int, count: Int, at: Int) -> Int:
    """Return how many of a block's times lie before one: all are compared, at once, where a search would branch."""
    before = np.int64(0)
    for own in range(begin, begin + count):
        before += np.int64(pages[own] < at)
    return before


@piece
def seek(pages: Ints, shape: Ints, keys: Ints, slots: Ints, key: Int, at: Int) -> Int:
    """Return the place of the first row at or after a time; behind the last block if there is none."""
    low = keys[4 * key + 2]
    behind = low + keys[4 * key + 3]
    high = behind
    while low < high:
        middle = (low + high) >> 1
        if pages[page_at(keys, slots, key, middle) + 2] < at:
            low = middle + 1
        else:
            high = middle
    if low == behind:
        return low << 6
    page = page_at(keys, slots, key, low)
    return (low << 6) + count_before(pages, page + shape[3], pages[page], at)


@piece
def seek_on(pages: Ints, shape: Ints, keys: Ints, slots: Ints, key: Int, place: Int, at: Int) -> Int:
    """Return the same, looking from an earlier place on: at the next blocks row by row, beyond them by search."""
    behind = keys[4 * key + 2] + keys[4 * key + 3]
    position = place >> 6
    row = place & 63
    steps = np.int64(0)
    while position < behind and steps < NEAR and pages[page_at(keys, slots, key, position) + 2] < at:
        position += 1
        row = np.int64(0)
        steps += 1
    if steps == NEAR:
        return seek(pages, shape, keys, slots, key, at)
    if position < behind:
        begin = page_at(keys, slots, key, position) + shape[3]
        while pages[begin + row] < at:
            row += 1
    return (position << 6) + row


@piece
def seek_behind(pages: Ints, shape: Ints, keys: Ints, slots: Ints, key: Int, at: Int) -> Int:
    """Return the place of the first row after a time."""
    if at == np.int64(MOST):
        return (keys[4 * key + 2] + keys[4 * key + 3]) << 6
    return seek(pages, shape, keys, slots, key, at + 1)


@piece
def holds(keys: Ints, key: Int) -> bool:
    """Tell whether an index has rows of a key; -1 is no key."""
    return bool(0 <= key < keys.size // 4 and keys[4 * key] >= 0)


@kernel
def find_windows(
    pages: Ints,
    shape: Ints,
    keys: Ints,
    slots: Ints,
    codes: Ints,
    lower: Ints,
    upper: Ints,
    order: Ints,
    out_begin: Ints,
    out_end: Ints,
    out_some: Ints,
) -> Int:
    """Write, for those of some base rows whose windows hold rows, which they are and where the windows begin and end.

    Return how many. Windows of a key that move on, one after the other, are looked for from the one before.
    """
    some = np.int64(0)
    i = np.int64(0)
    while i < order.size:
        key = codes[order[i]]
        behind = i + 1
        while behind < order.size and codes[order[behind]] == key:
            behind += 1
        if not holds(keys, key):
            i = behind
            continue
        head = keys[4 * key + 2]
        blocks = keys[4 * key + 3]
        page = page_at(keys, slots, key, head)
        first = pages[page + 1]
        last = pages[page_at(keys, slots, key, head + blocks - 1) + 2]
        times = page + shape[3]
        rows = pages[page]
        begin = np.int64(0)
        end = np.int64(0)
        before = np.int64(-1)
        for j in range(i, behind):
            row = order[j]
            low = lower[row]
            high = upper[row]
            if last < low or first > high or low > high:
                continue
            if blocks == 1:
                begin = head << 6
                end = begin
                for own in range(times, times + rows):
                    begin += np.int64(pages[own] < low)
                    end += np.int64(pages[own] <= high)
            elif before >= 0 and lower[before] <= low and upper[before] <= high < np.int64(MOST):
                begin = seek_on(pages, shape, keys, slots, key, begin, low)
                end = seek_on(pages, shape, keys, slots, key, end, high + 1)
            else:
                begin = seek(pages, shape, keys, slots, key, low)
                end = seek_behind(pages, shape, keys, slots, key, high)
            before = row
            if begin < end:
                out_begin[row] = begin
                out_end[row] = end
                out_some[some] = row
                some += 1
        i = behind
    return some


@kernel
def prevailing_times(
    pages: Ints, shape: Ints, keys: Ints, slots: Ints, codes: Ints, starts: Ints, order: Ints, out_at: Ints
) -> None:
    """Raise, for some base rows, the time that prevails at a start to the last one stored at or before it."""
    for i in range(order.size):
        row = order[i]
        key = codes[row]
        if not holds(keys, key):
            continue
        place = seek_behind(pages, shape, keys, slots, key, starts[row])
        if place <= keys[4 * key + 2] << 6:
            continue
        if place & 63:
            found = pages[page_at(keys, slots, key, place >> 6) + shape[3] + (place & 63) - 1]
        else:
            found = pages[page_at(keys, slots, key, (place >> 6) - 1) + 2]
        out_at[row] = max(out_at[row], found)
