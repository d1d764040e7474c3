"""The memory of the time-travel index: pages for blocks and nodes, slots for the directories that list them.

What belongs here takes memory, hands it back, or tells where something lies in it; `blocks` says what is put there.

A block is a *page*: how many rows, their first and last time, the folds of its lanes, then the rows' times and lanes. A
key has a *directory*, a ring of pages in the order of time: a *segment* of slots, those of the nodes over its blocks
behind those of the blocks. Free pages are a chain, free segments one for each size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dovetail._core.kernels.compile import kernel, piece

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    Int = Any  # Numba's integers are of either kind
    Ints = NDArray[np.int64]
    Doubles = NDArray[np.float64]

BLOCK_BITS, FAN_BITS = 6, 4
BLOCK, FAN = 1 << BLOCK_BITS, 1 << FAN_BITS
"""How many rows a block has at most, and over how many blocks, or nodes, a node stands."""
LINE = 8
"""So many words the processor fetches at once: pages and their rows begin with a line, so that a header is in one."""
LEAST = np.iinfo(np.int64).min
MOST = np.iinfo(np.int64).max
PLAIN, SUM, MAX = 0, 1, 2
"""How a lane of integers folds: not at all, by addition, by maximum."""
FIRST, LAST, HEADER = 1, 2, 3
"""Behind the number of its rows, a page has their first and last time, and from HEADER on its folds."""
START, BITS, HEAD, BLOCKS = 0, 1, 2, 3
"""The words of a key: where its directory begins (-1: it has none), the bits of its room, the position of its first
block, and how many there are."""
FREE, CHAIN, USED, ROWS, CURSOR, SPARE = 0, 1, 2, 3, 4, 5
"""What the tally holds: free pages and the first of their chain, used slots, rows held, the key at which expiry goes
on, and from SPARE on the first free directory of each size."""


class Index(NamedTuple):
    """The memory of an index, as kernels see it."""

    pages: Ints
    numbers: Doubles
    """The same memory, read as doubles."""
    slots: Ints
    keys: Ints
    """A row of four words for each key."""
    tally: Ints
    kinds: Ints
    """How each lane of integers folds."""
    doubles: int
    """How many lanes of doubles there are."""
    times: int
    """Where the times of a page's rows begin; behind them come the lanes."""
    size: int
    """The words of a page."""


def page_layout(kinds: Sequence[int], doubles: int) -> tuple[int, int]:
    """Where the times begin in a page with these lanes, and how many words it has."""
    times = -(-(HEADER + len(kinds) + 2 * doubles) // LINE) * LINE
    return times, times + BLOCK * (1 + len(kinds) + doubles)


@piece
def segment_size(bits: Int) -> Int:
    """Return how many slots a directory of 2**bits blocks takes, its nodes included."""
    room = np.int64(1) << bits
    total = room
    for level in range(1, bits // FAN_BITS + 1):
        total += 2 * (room >> (FAN_BITS * level))
    return total


@piece
def levels_of(index: Index, key: Int) -> Int:
    """Return how many levels of nodes stand over a key's blocks."""
    return index.keys[key, BITS] // FAN_BITS


@piece
def slot_of(index: Index, key: Int, level: Int, position: Int) -> Int:
    """Return the slot of a block, or of a node of a level."""
    room = np.int64(1) << index.keys[key, BITS]
    start = index.keys[key, START]
    if level == 0:
        return start + (position & (room - 1))
    start += room
    for below in range(1, level):
        start += 2 * (room >> (FAN_BITS * below))
    return start + (position & (2 * (room >> (FAN_BITS * level)) - 1))


@piece
def page_at(index: Index, key: Int, position: Int) -> Int:
    """Return the page of the block at a position of a key's directory."""
    return index.slots[index.keys[key, START] + (position & ((np.int64(1) << index.keys[key, BITS]) - 1))]


@piece
def behind_last(index: Index, key: Int) -> Int:
    """Return the position behind a key's last block."""
    return index.keys[key, HEAD] + index.keys[key, BLOCKS]


@piece
def clear_page(index: Index, page: Int) -> None:
    """Make a page the fold of nothing."""
    index.pages[page] = 0
    index.pages[page + FIRST] = np.int64(MOST)
    index.pages[page + LAST] = np.int64(LEAST)
    for lane in range(index.kinds.size):
        index.pages[page + HEADER + lane] = np.int64(LEAST) if index.kinds[lane] == MAX else np.int64(0)
    for word in range(page + HEADER + index.kinds.size, page + index.times):
        index.numbers[word] = 0.0


@piece
def take_page(index: Index) -> Int:
    """Take a free page and clear it."""
    page = index.tally[CHAIN]
    index.tally[CHAIN] = index.pages[page]
    index.tally[FREE] -= 1
    clear_page(index, page)
    return page


@piece
def give_page(index: Index, page: Int) -> None:
    """Hand a page back."""
    index.pages[page] = index.tally[CHAIN]
    index.tally[CHAIN] = page
    index.tally[FREE] += 1


@kernel
def chain_pages(index: Index, begin: Int) -> None:
    """Hand over all pages from one on, new memory."""
    for page in range(begin, index.pages.size - index.size + 1, index.size):
        give_page(index, np.int64(page))


@piece
def has_segment(index: Index, bits: Int) -> bool:
    """Tell whether a directory of 2**bits blocks can be had."""
    return bool(index.tally[SPARE + bits] >= 0 or index.slots.size - index.tally[USED] >= segment_size(bits))


@piece
def take_segment(index: Index, bits: Int) -> Int:
    """Take slots for a directory: some that were handed back, or new ones."""
    start = index.tally[SPARE + bits]
    if start >= 0:
        index.tally[SPARE + bits] = index.slots[start]
        return start
    start = index.tally[USED]
    index.tally[USED] += segment_size(bits)
    return start


@piece
def give_segment(index: Index, start: Int, bits: Int) -> None:
    """Hand slots back, chained by their first one."""
    index.slots[start] = index.tally[SPARE + bits]
    index.tally[SPARE + bits] = start
