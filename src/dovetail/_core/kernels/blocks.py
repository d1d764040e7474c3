"""Rows of many keys in blocks of 64: what changes the time-travel index, in place.

What belongs here inserts rows, lets them go, or writes all of them out; the memory is that of `pages`, and the folds of
blocks and nodes are brought up to date by `page_folds`.

Positions in a directory count from the key's first block on, so that nothing moves when blocks leave at the front; only
a split moves the blocks behind it, at most those within the disorder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dovetail._core.kernels.compile import kernel, piece
from dovetail._core.kernels.page_folds import add_page, add_row, fold_again, fold_nodes
from dovetail._core.kernels.pages import (
    BITS,
    BLOCK,
    BLOCKS,
    CURSOR,
    FAN_BITS,
    FIRST,
    FREE,
    HEAD,
    LAST,
    MOST,
    ROWS,
    START,
    behind_last,
    give_page,
    give_segment,
    has_segment,
    levels_of,
    page_at,
    slot_of,
    take_page,
    take_segment,
)

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from dovetail._core.kernels.pages import Index

    Int = Any  # Numba's integers are of either kind
    Ints = NDArray[np.int64]
    Doubles = NDArray[np.float64]

ENOUGH = 24
"""More pages than one row can take."""
HALF = BLOCK // 2
FIRST_BITS = 2


class Rows(NamedTuple):
    """Rows to store: the number of each one's key, its time, and its lanes."""

    codes: Ints
    at: Ints
    words: Ints
    doubles: Doubles


@kernel
def grow_directory(index: Index, key: Int) -> None:
    """Move a directory to one of twice the room."""
    keys, slots = index.keys, index.slots
    start = keys[key, START]
    bits = keys[key, BITS]
    head = keys[key, HEAD]
    last = behind_last(index, key) - 1
    wider = take_segment(index, bits + 1)
    for level in range(levels_of(index, key) + 1):
        for group in range(head >> (FAN_BITS * level), (last >> (FAN_BITS * level)) + 1):
            keys[key, START] = start
            keys[key, BITS] = bits
            page = slots[slot_of(index, key, level, group)]
            keys[key, START] = wider
            keys[key, BITS] = bits + 1
            slots[slot_of(index, key, level, group)] = page
    give_segment(index, start, bits)
    top = levels_of(index, key)
    if top > bits // FAN_BITS:
        for group in range(head >> (FAN_BITS * top), (last >> (FAN_BITS * top)) + 1):
            slots[slot_of(index, key, top, group)] = take_page(index)
        fold_nodes(index, key, head)


@piece
def append_block(index: Index, key: Int, folds: bool) -> Int:
    """Add a new last block to a key, and the nodes that begin with it; return its page.

    The one that was the last before is folded, if asked for, and added to the nodes over it.
    """
    keys, slots = index.keys, index.slots
    if keys[key, BLOCKS] == np.int64(1) << keys[key, BITS]:
        grow_directory(index, key)
    position = behind_last(index, key)
    page = take_page(index)
    slots[slot_of(index, key, 0, position)] = page
    keys[key, BLOCKS] += 1
    closes = folds and keys[key, BLOCKS] > 1
    closed = page_at(index, key, position - 1)
    if closes:
        fold_again(index, closed, index.pages[closed], folds)
    for level in range(1, levels_of(index, key) + 1):
        if keys[key, BLOCKS] == 1 or position & ((np.int64(1) << (FAN_BITS * level)) - 1) == 0:
            slots[slot_of(index, key, level, position >> (FAN_BITS * level))] = take_page(index)
        if closes:
            add_page(index, slots[slot_of(index, key, level, (position - 1) >> (FAN_BITS * level))], closed)
    return page


@kernel
def split_block(index: Index, key: Int, position: Int, folds: bool) -> None:
    """Cut a full block in two halves, the later one at the next position."""
    later = append_block(index, key, folds)
    for at in range(behind_last(index, key) - 1, position + 1, -1):
        index.slots[slot_of(index, key, 0, at)] = page_at(index, key, np.int64(at - 1))
    index.slots[slot_of(index, key, 0, position + 1)] = later
    page = page_at(index, key, position)
    for lane in range(1 + index.kinds.size + index.doubles):
        begin = index.times + BLOCK * lane
        for row in range(HALF):
            index.pages[later + begin + row] = index.pages[page + begin + HALF + row]
    fold_again(index, page, np.int64(HALF), folds)
    fold_again(index, later, np.int64(HALF), folds)
    if folds:
        fold_nodes(index, key, position)


@piece
def find_block(index: Index, key: Int, at: Int) -> Int:
    """Return the position of the last block that begins at or before a time; the first one if there is none."""
    head = index.keys[key, HEAD]
    low = head
    high = behind_last(index, key) - 1
    if index.pages[page_at(index, key, high) + FIRST] <= at:
        return high
    while low < high:
        middle = (low + high) >> 1
        if index.pages[page_at(index, key, middle) + FIRST] <= at:
            low = middle + 1
        else:
            high = middle
    return max(low - 1, head)


@piece
def open_row(index: Index, page: Int, at: Int, ordered: bool) -> Int:
    """Make room in a block for a row at a time, behind those of the same time; return its offset."""
    pages = index.pages
    count = pages[page]
    row = count
    if count and pages[page + LAST] > at:
        begin = page + index.times
        while ordered and row > 0 and pages[begin + row - 1] > at:
            row -= 1
        for lane in range(1 + index.kinds.size + index.doubles):
            for moved in range(begin + BLOCK * lane + count, begin + BLOCK * lane + row, -1):
                pages[moved] = pages[moved - 1]
        pages[page + FIRST] = min(pages[page + FIRST], at)
    else:
        pages[page + LAST] = at
        if count == 0:
            pages[page + FIRST] = at
    pages[page] = count + 1
    return row


@piece
def room_for_row(index: Index, key: Int) -> bool:
    """Tell whether one more row of a key can be taken without new memory."""
    if index.tally[FREE] < ENOUGH:
        return False
    if index.keys[key, START] < 0:
        return has_segment(index, np.int64(FIRST_BITS))
    bits = index.keys[key, BITS]
    return index.keys[key, BLOCKS] < np.int64(1) << bits or has_segment(index, bits + 1)


@piece
def position_for_row(index: Index, key: Int, at: Int, ordered: bool, folds: bool) -> Int:
    """Return the position of the block that takes a row, and has room for it."""
    keys, pages = index.keys, index.pages
    if keys[key, START] < 0:
        keys[key, START] = take_segment(index, np.int64(FIRST_BITS))
        keys[key, BITS] = FIRST_BITS
        keys[key, HEAD] = 0
        keys[key, BLOCKS] = 0
        append_block(index, key, folds)
    last = behind_last(index, key) - 1
    position = find_block(index, key, at) if ordered else last
    page = page_at(index, key, position)
    if pages[page] < BLOCK:
        return position
    if position == last and (not ordered or at >= pages[page + LAST]):
        append_block(index, key, folds)
        return last + 1
    split_block(index, key, position, folds)
    return position + 1 if at >= pages[page_at(index, key, position + 1) + FIRST] else position


@kernel
def insert_rows(index: Index, rows: Rows, order: Ints, begin: Int, ordered: bool, folds: bool) -> Int:
    """Insert some rows, one after the other, from the `begin`-th on; return which one found no memory, or their number.

    Ordered rows stand in the order of time, others in that of arrival; folds of blocks are kept if asked for.
    """
    keys, pages = index.keys, index.pages
    for which in range(begin, order.size):
        i = order[which]
        key = rows.codes[i]
        at = rows.at[i]
        position = behind_last(index, key) - 1
        page = page_at(index, key, position) if keys[key, START] >= 0 else np.int64(-1)
        if page < 0 or pages[page] == BLOCK or (ordered and at < pages[page + FIRST]):
            if not room_for_row(index, key):
                index.tally[ROWS] += which - begin
                return np.int64(which)
            position = position_for_row(index, key, at, ordered, folds)
            page = page_at(index, key, position)
        row = open_row(index, page, at, ordered)
        word = page + index.times + row
        pages[word] = at
        for lane in range(index.kinds.size):
            word += BLOCK
            pages[word] = rows.words[lane, i]
        for lane in range(index.doubles):
            word += BLOCK
            index.numbers[word] = rows.doubles[lane, i]
        if folds and position < behind_last(index, key) - 1:
            add_row(index, page, page, row)
            for level in range(1, levels_of(index, key) + 1):
                node = index.slots[slot_of(index, key, level, position >> (FAN_BITS * level))]
                pages[node] += 1
                add_row(index, node, page, row)
    index.tally[ROWS] += order.size - begin
    return np.int64(order.size)


@piece
def drop_first(index: Index, key: Int) -> None:
    """Let a key's first block go, and the nodes that end with it."""
    keys = index.keys
    position = keys[key, HEAD]
    page = page_at(index, key, position)
    index.tally[ROWS] -= index.pages[page]
    give_page(index, page)
    keys[key, HEAD] += 1
    keys[key, BLOCKS] -= 1
    empty = keys[key, BLOCKS] == 0
    for level in range(1, levels_of(index, key) + 1):
        if empty or (position + 1) & ((np.int64(1) << (FAN_BITS * level)) - 1) == 0:
            give_page(index, index.slots[slot_of(index, key, level, position >> (FAN_BITS * level))])
    if empty:
        give_segment(index, keys[key, START], keys[key, BITS])
        keys[key, START] = -1


@kernel
def time_after(index: Index, key: Int, last: Int) -> Int:
    """Return the next time of a key behind its first block's last one; MOST if there is none."""
    for position in range(index.keys[key, HEAD] + 1, behind_last(index, key)):
        page = page_at(index, key, np.int64(position))
        if index.pages[page + LAST] > last:
            for own in range(page + index.times, page + index.times + index.pages[page]):
                if index.pages[own] > last:
                    return index.pages[own]
    return np.int64(MOST)


@kernel
def expire_rows(index: Index, bound: Int, prevails: bool, some: Int) -> None:
    """Drop the blocks that lie wholly below a bound, looking at some keys, each time the next ones.

    A block whose rows may still prevail at the bound stays: one that no later time up to the bound follows.
    """
    number = index.keys.shape[0]
    key = index.tally[CURSOR] if index.tally[CURSOR] < number else np.int64(0)
    for _ in range(min(some, number)):
        while index.keys[key, START] >= 0:
            last = index.pages[page_at(index, key, index.keys[key, HEAD]) + LAST]
            if last >= bound:
                break
            if prevails and time_after(index, key, last) > bound:
                break
            drop_first(index, key)
        key = key + 1 if key + 1 < number else np.int64(0)
    index.tally[CURSOR] = key


@kernel
def dump_rows(index: Index, out: Rows) -> None:
    """Write all rows, key by key, in the order in which they stand."""
    row = np.int64(0)
    for key in range(index.keys.shape[0]):
        if index.keys[key, START] < 0:
            continue
        for position in range(index.keys[key, HEAD], behind_last(index, key)):
            page = page_at(index, np.int64(key), np.int64(position))
            for word in range(page + index.times, page + index.times + index.pages[page]):
                out.codes[row] = key
                out.at[row] = index.pages[word]
                for lane in range(index.kinds.size):
                    out.words[lane, row] = index.pages[word + BLOCK * (lane + 1)]
                for lane in range(index.doubles):
                    out.doubles[lane, row] = index.numbers[word + BLOCK * (lane + index.kinds.size + 1)]
                row += 1
