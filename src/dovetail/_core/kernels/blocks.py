"""Rows of many keys in blocks of 64: the storage of the time-travel index, changed in place.

A block is a *page* of `pages`: how many rows, their first and last time, the folds of its lanes, then the rows' times
and lanes. `numbers` is the same memory read as doubles. A key has a *directory*, a ring of pages in the order of time.
Over every 16 blocks stands a node, over every 16 nodes another, each with the folds of the rows below it; a node is a
page without rows, so that blocks and nodes fold alike. Positions in a directory count from the key's first block on, so
that nothing moves when blocks leave at the front; only a split moves the blocks behind it, at most those within the
disorder.

A row's *place* is its block's position, shifted, and its offset in the block. `shape` tells the lanes: how many of
integers, how many of doubles, the length of a page, where its times begin, then how each lane of integers folds.
`keys` holds four words a key: where its directory begins (-1: it has none), the bits of its room, the position of its
first block, and how many there are. (Named tuples of arrays were tried: counting references took most of the time.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import kernel, piece

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Int = Any  # Numba's integers are of either kind
    Ints = NDArray[np.int64]
    Doubles = NDArray[np.float64]

BLOCK_BITS = 6
BLOCK = 1 << BLOCK_BITS
HEADER = 3
ENOUGH = 24
"""More pages than one row can take."""
LEAST = np.iinfo(np.int64).min
MOST = np.iinfo(np.int64).max
PLAIN, SUM, MAX = 0, 1, 2
"""How a lane of integers folds: not at all, by addition, by maximum."""
FREE, CHAIN, USED, ROWS, CURSOR, SPARE = 0, 1, 2, 3, 4, 5
"""What `tally` holds: free pages and the first of their chain, used slots, rows held, the key at which expiry goes on,
and from SPARE on the first free directory of each size."""


def page_shape(kinds: list[int], doubles: int) -> Ints:
    """The `shape` of pages with lanes of integers that fold in these ways, and some lanes of doubles."""
    begin = HEADER + len(kinds) + 2 * doubles
    return np.array([len(kinds), doubles, begin + BLOCK * (1 + len(kinds) + doubles), begin, *kinds], np.int64)


@kernel
def segment_size(bits: Int) -> Int:
    """Return how many slots a directory of 2**bits blocks takes, its nodes included."""
    room = np.int64(1) << bits
    total = room
    for level in range(1, (bits >> 2) + 1):
        total += 2 * (room >> (4 * level))
    return total


@kernel
def slot_of(keys: Ints, key: Int, level: Int, position: Int) -> Int:
    """Return the slot of a block, or of a node of a level."""
    room = np.int64(1) << keys[4 * key + 1]
    start = keys[4 * key]
    if level == 0:
        return start + (position & (room - 1))
    start += room
    for below in range(1, level):
        start += 2 * (room >> (4 * below))
    return start + (position & (2 * (room >> (4 * level)) - 1))


@piece
def page_at(keys: Ints, slots: Ints, key: Int, position: Int) -> Int:
    """Return the page of the block at a position of a key's directory."""
    return slots[keys[4 * key] + (position & ((np.int64(1) << keys[4 * key + 1]) - 1))]


@kernel
def clear_page(pages: Ints, numbers: Doubles, shape: Ints, page: Int) -> None:
    """Make a page the fold of nothing."""
    pages[page] = 0
    pages[page + 1] = np.int64(MOST)
    pages[page + 2] = np.int64(LEAST)
    for lane in range(shape[0]):
        pages[page + 3 + lane] = np.int64(LEAST) if shape[4 + lane] == MAX else np.int64(0)
    for lane in range(page + 3 + shape[0], page + shape[3]):
        numbers[lane] = 0.0


@kernel
def take_page(pages: Ints, numbers: Doubles, shape: Ints, tally: Ints) -> Int:
    """Take a free page and clear it."""
    page = tally[1]
    tally[1] = pages[page]
    tally[0] -= 1
    clear_page(pages, numbers, shape, page)
    return page


@kernel
def give_page(pages: Ints, tally: Ints, page: Int) -> None:
    """Hand a page back."""
    pages[page] = tally[1]
    tally[1] = page
    tally[0] += 1


@kernel
def chain_pages(pages: Ints, shape: Ints, tally: Ints, begin: Int) -> None:
    """Hand over all pages from one on, new memory."""
    for page in range(begin, pages.size - shape[2] + 1, shape[2]):
        give_page(pages, tally, np.int64(page))


@kernel
def has_segment(slots: Ints, tally: Ints, bits: Int) -> bool:
    """Tell whether a directory of 2**bits blocks can be had."""
    return bool(tally[5 + bits] >= 0 or slots.size - tally[2] >= segment_size(bits))


@kernel
def take_segment(slots: Ints, tally: Ints, bits: Int) -> Int:
    """Take slots for a directory: some that were handed back, or new ones."""
    start = tally[5 + bits]
    if start >= 0:
        tally[5 + bits] = slots[start]
        return start
    start = tally[2]
    tally[2] += segment_size(bits)
    return start


@kernel
def give_segment(slots: Ints, tally: Ints, start: Int, bits: Int) -> None:
    """Hand slots back, chained by their first one."""
    slots[start] = tally[5 + bits]
    tally[5 + bits] = start


@piece
def add_row(pages: Ints, numbers: Doubles, shape: Ints, into: Int, page: Int, row: Int) -> None:
    """Fold one row of a page into a page."""
    word = page + shape[3] + 64 + row
    for lane in range(shape[0]):
        if shape[4 + lane] == SUM:
            pages[into + 3 + lane] += pages[word]
        elif shape[4 + lane] == MAX:
            pages[into + 3 + lane] = max(pages[into + 3 + lane], pages[word])
        word += 64
    total = into + 3 + shape[0]
    for _ in range(shape[1]):
        value = numbers[word]
        high = numbers[total]
        longer = high + value
        part = longer - high
        numbers[total + shape[1]] += (high - (longer - part)) + (value - part)
        numbers[total] = longer
        total += 1
        word += 64


@kernel
def add_page(pages: Ints, numbers: Doubles, shape: Ints, into: Int, page: Int) -> None:
    """Fold a page into a page."""
    pages[into] += pages[page]
    for lane in range(3, 3 + shape[0]):
        if shape[1 + lane] == SUM:
            pages[into + lane] += pages[page + lane]
        elif shape[1 + lane] == MAX:
            pages[into + lane] = max(pages[into + lane], pages[page + lane])
    for lane in range(3 + shape[0], 3 + shape[0] + shape[1]):
        value = numbers[page + lane]
        high = numbers[into + lane]
        longer = high + value
        part = longer - high
        numbers[into + lane + shape[1]] += numbers[page + lane + shape[1]] + ((high - (longer - part)) + (value - part))
        numbers[into + lane] = longer


@kernel
def fold_again(pages: Ints, numbers: Doubles, shape: Ints, page: Int, count: Int, folds: bool) -> None:
    """Work out the times and folds of a page of so many rows."""
    clear_page(pages, numbers, shape, page)
    pages[page] = count
    pages[page + 1] = pages[page + shape[3]]
    pages[page + 2] = pages[page + shape[3] + count - 1]
    if folds:
        for row in range(count):
            add_row(pages, numbers, shape, page, page, row)


@kernel
def fold_nodes(pages: Ints, numbers: Doubles, shape: Ints, keys: Ints, slots: Ints, key: Int, position: Int) -> None:
    """Work out the nodes above all blocks from a position on."""
    head = keys[4 * key + 2]
    last = head + keys[4 * key + 3] - 1
    for level in range(1, (keys[4 * key + 1] >> 2) + 1):
        below = 4 * (level - 1)
        for group in range(position >> (4 * level), (last >> (4 * level)) + 1):
            node = slots[slot_of(keys, key, level, group)]
            clear_page(pages, numbers, shape, node)
            for child in range(max(group << 4, head >> below), min((group << 4) + 15, last >> below) + 1):
                add_page(pages, numbers, shape, node, slots[slot_of(keys, key, level - 1, child)])


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


@kernel
def append_block(pages: Ints, numbers: Doubles, shape: Ints, keys: Ints, slots: Ints, tally: Ints, key: Int) -> Int:
    """Add a new last block to a key, and the nodes that begin with it; return its page."""
    if keys[4 * key + 3] == np.int64(1) << keys[4 * key + 1]:
        grow_directory(pages, numbers, shape, keys, slots, tally, key)
    position = keys[4 * key + 2] + keys[4 * key + 3]
    page = take_page(pages, numbers, shape, tally)
    slots[slot_of(keys, key, 0, position)] = page
    keys[4 * key + 3] += 1
    for level in range(1, (keys[4 * key + 1] >> 2) + 1):
        if keys[4 * key + 3] == 1 or position & ((np.int64(1) << (4 * level)) - 1) == 0:
            slots[slot_of(keys, key, level, position >> (4 * level))] = take_page(pages, numbers, shape, tally)
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
    later = append_block(pages, numbers, shape, keys, slots, tally, key)
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
    begin = page + shape[3]
    if ordered and count and pages[page + 2] > at:
        while row > 0 and pages[begin + row - 1] > at:
            row -= 1
        for lane in range(1 + shape[0] + shape[1]):
            for moved in range(begin + 64 * lane + count, begin + 64 * lane + row, -1):
                pages[moved] = pages[moved - 1]
    pages[page] = count + 1
    pages[page + 1] = min(pages[page + 1], at)
    pages[page + 2] = max(pages[page + 2], at)
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


@kernel
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
        append_block(pages, numbers, shape, keys, slots, tally, key)
    last = keys[4 * key + 2] + keys[4 * key + 3] - 1
    position = find_block(pages, keys, slots, key, at) if ordered else last
    page = page_at(keys, slots, key, position)
    if pages[page] < BLOCK:
        return position
    if position == last and (not ordered or at >= pages[page + 2]):
        append_block(pages, numbers, shape, keys, slots, tally, key)
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
        position = keys[4 * key + 2] + keys[4 * key + 3] - 1
        page = page_at(keys, slots, key, position) if keys[4 * key] >= 0 else np.int64(-1)
        if page < 0 or pages[page] == BLOCK or (ordered and at[i] < pages[page + 1]):
            if not room_for_row(keys, slots, tally, key):
                return np.int64(which)
            position = position_for_row(pages, numbers, shape, keys, slots, tally, key, at[i], ordered, folds)
            page = page_at(keys, slots, key, position)
        row = open_row(pages, shape, page, at[i], ordered)
        word = page + shape[3] + row
        pages[word] = at[i]
        for lane in range(shape[0]):
            word += 64
            pages[word] = words[lane, i]
        for lane in range(shape[1]):
            word += 64
            numbers[word] = doubles[lane, i]
        tally[3] += 1
        if folds:
            add_row(pages, numbers, shape, page, page, row)
            for level in range(1, (keys[4 * key + 1] >> 2) + 1):
                node = slots[slot_of(keys, key, level, position >> (4 * level))]
                pages[node] += 1
                add_row(pages, numbers, shape, node, page, row)
    return np.int64(order.size)


@kernel
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
