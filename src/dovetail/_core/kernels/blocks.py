"""Rows of many keys in blocks of 64: what changes the time-travel index, in place.

What belongs here inserts rows, lets them go, or writes all of them out; the memory is that of `pages`, and the folds of
blocks and nodes are brought up to date by `page_folds`.

Positions in a directory count from the key's first block on, so that nothing moves when blocks leave at the front; only
a split moves the blocks behind it, at most those within the disorder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import kernel, piece
from dovetail._core.kernels.page_folds import add_page, add_row, fold_again, fold_nodes
from dovetail._core.kernels.pages import (
    BLOCK,
    MOST,
    give_page,
    give_segment,
    has_segment,
    page_at,
    slot_of,
    take_page,
    take_segment,
)

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Int = Any  # Numba's integers are of either kind
    Ints = NDArray[np.int64]
    Doubles = NDArray[np.float64]

ENOUGH = 24
"""More pages than one row can take."""


@kernel
def grow_directory(pages: Ints, numbers: Doubles, shape: Ints, keys: Ints, slots: Ints, tally: Ints, key: Int) -> None:
    """Move a directory to one of twice the room."""
    start = keys[4 * key]
    bits = keys[4 * key + 1]
    head = keys[4 * key + 2]
    last = head + keys[4 * key + 3] - 1
    wider = take_segment(slots, tally, bits + 1)
    for level in range((bits >> 2) + 1):
        for group in range(head >> (4 * level), (last >> (4 * level)) + 1):
            keys[4 * key] = start
            keys[4 * key + 1] = bits
            page = slots[slot_of(keys, key, level, group)]
            keys[4 * key] = wider
            keys[4 * key + 1] = bits + 1
            slots[slot_of(keys, key, level, group)] = page
    give_segment(slots, tally, start, bits)
    top = (bits + 1) >> 2
    if top > bits >> 2:
        for group in range(head >> (4 * top), (last >> (4 * top)) + 1):
            slots[slot_of(keys, key, top, group)] = take_page(pages, numbers, shape, tally)
        fold_nodes(pages, numbers, shape, keys, slots, key, head)


@piece
def append_block(
    pages: Ints, numbers: Doubles, shape: Ints, keys: Ints, slots: Ints, tally: Ints, key: Int, folds: bool
) -> Int:
    """Add a new last block to a key, and the nodes that begin with it; return its page.

    The one that was the last before is folded, if asked for, and added to the nodes over it.
    """
    if keys[4 * key + 3] == np.int64(1) << keys[4 * key + 1]:
        grow_directory(pages, numbers, shape, keys, slots, tally, key)
    position = keys[4 * key + 2] + keys[4 * key + 3]
    page = take_page(pages, numbers, shape, tally)
    slots[slot_of(keys, key, 0, position)] = page
    keys[4 * key + 3] += 1
    closes = folds and keys[4 * key + 3] > 1
    closed = page_at(keys, slots, key, position - 1)
    if closes:
        fold_again(pages, numbers, shape, closed, pages[closed], folds)
    for level in range(1, (keys[4 * key + 1] >> 2) + 1):
        if keys[4 * key + 3] == 1 or position & ((np.int64(1) << (4 * level)) - 1) == 0:
            slots[slot_of(keys, key, level, position >> (4 * level))] = take_page(pages, numbers, shape, tally)
        if closes:
            node = slots[slot_of(keys, key, level, (position - 1) >> (4 * level))]
            add_page(pages, numbers, shape, node, closed)
    return page


@kernel
def split_block(
    pages: Ints,
    numbers: Doubles,
    shape: Ints,
    keys: Ints,
    slots: Ints,
    tally: Ints,
    key: Int,
    position: Int,
    folds: bool,
) -> None:
    """Cut a full block in two halves, the later one at the next position."""
    later = append_block(pages, numbers, shape, keys, slots, tally, key, folds)
    last = keys[4 * key + 2] + keys[4 * key + 3] - 1
    for at in range(last, position + 1, -1):
        slots[slot_of(keys, key, 0, at)] = page_at(keys, slots, key, np.int64(at - 1))
    slots[slot_of(keys, key, 0, position + 1)] = later
    page = page_at(keys, slots, key, position)
    for lane in range(1 + shape[0] + shape[1]):
        begin = shape[3] + 64 * lane
        for row in range(32):
            pages[later + begin + row] = pages[page + begin + 32 + row]
    fold_again(pages, numbers, shape, page, np.int64(32), folds)
    fold_again(pages, numbers, shape, later, np.int64(32), folds)
    if folds:
        fold_nodes(pages, numbers, shape, keys, slots, key, position)


@piece
def find_block(pages: Ints, keys: Ints, slots: Ints, key: Int, at: Int) -> Int:
    """Return the position of the last block that begins at or before a time; the first one if there is none."""
    head = keys[4 * key + 2]
    low = head
    high = low + keys[4 * key + 3] - 1
    if pages[page_at(keys, slots, key, high) + 1] <= at:
        return high
    while low < high:
        middle = (low + high) >> 1
        if pages[page_at(keys, slots, key, middle) + 1] <= at:
            low = middle + 1
        else:
            high = middle
    return max(low - 1, head)


@piece
def open_row(pages: Ints, shape: Ints, page: Int, at: Int, ordered: bool) -> Int:
    """Make room in a block for a row at a time, behind those of the same time; return its offset."""
    count = pages[page]
    row = count
    if count and pages[page + 2] > at:
        begin = page + shape[3]
        while ordered and row > 0 and pages[begin + row - 1] > at:
            row -= 1
        for lane in range(1 + shape[0] + shape[1]):
            for moved in range(begin + 64 * lane + count, begin + 64 * lane + row, -1):
                pages[moved] = pages[moved - 1]
        pages[page + 1] = min(pages[page + 1], at)
    else:
        pages[page + 2] = at
        if count == 0:
            pages[page + 1] = at
    pages[page] = count + 1
    return row


@piece
def room_for_row(keys: Ints, slots: Ints, tally: Ints, key: Int) -> bool:
    """Tell whether one more row of a key can be taken without new memory."""
    if tally[0] < ENOUGH:
        return False
    if keys[4 * key] < 0:
        return has_segment(slots, tally, np.int64(2))
    bits = keys[4 * key + 1]
    return keys[4 * key + 3] < np.int64(1) << bits or has_segment(slots, tally, bits + 1)


@piece
def position_for_row(
    pages: Ints,
    numbers: Doubles,
    shape: Ints,
    keys: Ints,
    slots: Ints,
    tally: Ints,
    key: Int,
    at: Int,
    ordered: bool,
    folds: bool,
) -> Int:
    """Return the position of the block that takes a row, and has room for it."""
    if keys[4 * key] < 0:
        keys[4 * key] = take_segment(slots, tally, np.int64(2))
        keys[4 * key + 1] = 2
        keys[4 * key + 2] = 0
        keys[4 * key + 3] = 0
        append_block(pages, numbers, shape, keys, slots, tally, key, folds)
    last = keys[4 * key + 2] + keys[4 * key + 3] - 1
    position = find_block(pages, keys, slots, key, at) if ordered else last
    page = page_at(keys, slots, key, position)
    if pages[page] < BLOCK:
        return position
    if position == last and (not ordered or at >= pages[page + 2]):
        append_block(pages, numbers, shape, keys, slots, tally, key, folds)
        return last + 1
    split_block(pages, numbers, shape, keys, slots, tally, key, position, folds)
    return position + 1 if at >= pages[page_at(keys, slots, key, position + 1) + 1] else position


@kernel
def insert_rows(
    pages: Ints,
    numbers: Doubles,
    shape: Ints,
    keys: Ints,
    slots: Ints,
    tally: Ints,
    codes: Ints,
    at: Ints,
    words: Ints,
    doubles: Doubles,
    order: Ints,
    begin: Int,
    ordered: bool,
    folds: bool,
) -> Int:
    """Insert some rows, one after the other, from the `begin`-th on; return which one found no memory, or their number.

    Ordered rows stand in the order of time, others in that of arrival; folds of blocks are kept if asked for.
    """
    for which in range(begin, order.size):
        i = order[which]
        key = codes[i]
        time = at[i]
        position = keys[4 * key + 2] + keys[4 * key + 3] - 1
        page = page_at(keys, slots, key, position) if keys[4 * key] >= 0 else np.int64(-1)
        if page < 0 or pages[page] == BLOCK or (ordered and time < pages[page + 1]):
            if not room_for_row(keys, slots, tally, key):
                tally[3] += which - begin
                return np.int64(which)
            position = position_for_row(pages, numbers, shape, keys, slots, tally, key, time, ordered, folds)
            page = page_at(keys, slots, key, position)
        row = open_row(pages, shape, page, time, ordered)
        word = page + shape[3] + row
        pages[word] = time
        for lane in range(shape[0]):
            word += 64
            pages[word] = words[lane, i]
        for lane in range(shape[1]):
            word += 64
            numbers[word] = doubles[lane, i]
        if folds and position < keys[4 * key + 2] + keys[4 * key + 3] - 1:
            add_row(pages, numbers, shape, page, page, row)
            for level in range(1, (keys[4 * key + 1] >> 2) + 1):
                node = slots[slot_of(keys, key, level, position >> (4 * level))]
                pages[node] += 1
                add_row(pages, numbers, shape, node, page, row)
    tally[3] += order.size - begin
    return np.int64(order.size)


@piece
def drop_first(pages: Ints, keys: Ints, slots: Ints, tally: Ints, key: Int) -> None:
    """Let a key's first block go, and the nodes that end with it."""
    position = keys[4 * key + 2]
    page = page_at(keys, slots, key, position)
    tally[3] -= pages[page]
    give_page(pages, tally, page)
    keys[4 * key + 2] += 1
    keys[4 * key + 3] -= 1
    empty = keys[4 * key + 3] == 0
    for level in range(1, (keys[4 * key + 1] >> 2) + 1):
        if empty or (position + 1) & ((np.int64(1) << (4 * level)) - 1) == 0:
            give_page(pages, tally, slots[slot_of(keys, key, level, position >> (4 * level))])
    if empty:
        give_segment(slots, tally, keys[4 * key], keys[4 * key + 1])
        keys[4 * key] = -1


@kernel
def time_after(pages: Ints, shape: Ints, keys: Ints, slots: Ints, key: Int, last: Int) -> Int:
    """Return the next time of a key behind its first block's last one; MOST if there is none."""
    for position in range(keys[4 * key + 2] + 1, keys[4 * key + 2] + keys[4 * key + 3]):
        page = page_at(keys, slots, key, np.int64(position))
        if pages[page + 2] > last:
            for own in range(page + shape[3], page + shape[3] + pages[page]):
                if pages[own] > last:
                    return pages[own]
    return np.int64(MOST)


@kernel
def expire_rows(
    pages: Ints, shape: Ints, keys: Ints, slots: Ints, tally: Ints, bound: Int, prevails: bool, some: Int
) -> None:
    """Drop the blocks that lie wholly below a bound, looking at some keys, each time the next ones.

    A block whose rows may still prevail at the bound stays: one that no later time up to the bound follows.
    """
    number = keys.size // 4
    key = tally[4] if tally[4] < number else np.int64(0)
    for _ in range(min(some, number)):
        while keys[4 * key] >= 0:
            head = keys[4 * key + 2]
            last = pages[page_at(keys, slots, key, head) + 2]
            if last >= bound:
                break
            if prevails and time_after(pages, shape, keys, slots, key, last) > bound:
                break
            drop_first(pages, keys, slots, tally, key)
        key = key + 1 if key + 1 < number else np.int64(0)
    tally[4] = key


@kernel
def dump_rows(
    pages: Ints,
    numbers: Doubles,
    shape: Ints,
    keys: Ints,
    slots: Ints,
    out_codes: Ints,
    out_at: Ints,
    out_words: Ints,
    out_doubles: Doubles,
) -> None:
    """Write all rows, key by key, in the order in which they stand."""
    row = np.int64(0)
    for key in range(keys.size // 4):
        if keys[4 * key] < 0:
            continue
        for position in range(keys[4 * key + 2], keys[4 * key + 2] + keys[4 * key + 3]):
            page = page_at(keys, slots, np.int64(key), np.int64(position))
            for word in range(page + shape[3], page + shape[3] + pages[page]):
                out_codes[row] = key
                out_at[row] = pages[word]
                for lane in range(shape[0]):
                    out_words[lane, row] = pages[word + 64 * (lane + 1)]
                for lane in range(shape[1]):
                    out_doubles[lane, row] = numbers[word + 64 * (lane + shape[0] + 1)]
                row += 1
