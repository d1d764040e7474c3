"""The memory of the time-travel index: pages for blocks and nodes, slots for the directories that list them.

What belongs here takes memory, hands it back, or tells where something lies in it; `blocks` says what is put there.

A block is a *page* of `pages`: how many rows, their first and last time, the folds of its lanes, then the rows' times
and lanes. `numbers` is the same memory read as doubles. A key has a *directory*, a ring of pages in the order of time:
a *segment* of `slots`, those of the nodes over its blocks behind those of the blocks. Free pages are a chain, free
segments one for each size.

`shape` tells the lanes: how many of integers, how many of doubles, the length of a page, where its times begin, then
how each lane of integers folds. `keys` holds four words a key: where its directory begins (-1: it has none), the bits
of its room, the position of its first block, and how many there are.
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
LINE = 8
"""So many words the processor fetches at once: pages and their rows begin with a line, so that a header is in one."""
LEAST = np.iinfo(np.int64).min
MOST = np.iinfo(np.int64).max
PLAIN, SUM, MAX = 0, 1, 2
"""How a lane of integers folds: not at all, by addition, by maximum."""
FREE, CHAIN, USED, ROWS, CURSOR, SPARE = 0, 1, 2, 3, 4, 5
"""What `tally` holds: free pages and the first of their chain, used slots, rows held, the key at which expiry goes on,
and from SPARE on the first free directory of each size."""


def page_shape(kinds: list[int], doubles: int) -> Ints:
    """The `shape` of pages with lanes of integers that fold in these ways, and some lanes of doubles."""
    begin = -(-(HEADER + len(kinds) + 2 * doubles) // LINE) * LINE
    return np.array([len(kinds), doubles, begin + BLOCK * (1 + len(kinds) + doubles), begin, *kinds], np.int64)


@piece
def segment_size(bits: Int) -> Int:
    """Return how many slots a directory of 2**bits blocks takes, its nodes included."""
    room = np.int64(1) << bits
    total = room
    for level in range(1, (bits >> 2) + 1):
        total += 2 * (room >> (4 * level))
    return total


@piece
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


@piece
def clear_page(pages: Ints, numbers: Doubles, shape: Ints, page: Int) -> None:
    """Make a page the fold of nothing."""
    pages[page] = 0
    pages[page + 1] = np.int64(MOST)
    pages[page + 2] = np.int64(LEAST)
    for lane in range(shape[0]):
        pages[page + 3 + lane] = np.int64(LEAST) if shape[4 + lane] == MAX else np.int64(0)
    for lane in range(page + 3 + shape[0], page + shape[3]):
        numbers[lane] = 0.0


@piece
def take_page(pages: Ints, numbers: Doubles, shape: Ints, tally: Ints) -> Int:
    """Take a free page and clear it."""
    page = tally[1]
    tally[1] = pages[page]
    tally[0] -= 1
    clear_page(pages, numbers, shape, page)
    return page


@piece
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


@piece
def has_segment(slots: Ints, tally: Ints, bits: Int) -> bool:
    """Tell whether a directory of 2**bits blocks can be had."""
    return bool(tally[5 + bits] >= 0 or slots.size - tally[2] >= segment_size(bits))


@piece
def take_segment(slots: Ints, tally: Ints, bits: Int) -> Int:
    """Take slots for a directory: some that were handed back, or new ones."""
    start = tally[5 + bits]
    if start >= 0:
        tally[5 + bits] = slots[start]
        return start
    start = tally[2]
    tally[2] += segment_size(bits)
    return start


@piece
def give_segment(slots: Ints, tally: Ints, start: Int, bits: Int) -> None:
    """Hand slots back, chained by their first one."""
    slots[start] = tally[5 + bits]
    tally[5 + bits] = start
