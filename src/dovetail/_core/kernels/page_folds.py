"""The folds that pages keep: of a block's own rows, and in nodes of the blocks below.

What belongs here brings the folds of a page up to date, row by row, page by page, or all anew.

Over every 16 blocks stands a node, over every 16 nodes another, each with the folds of the rows below it; a node is a
page without rows, so that blocks and nodes fold alike. A key's last block has no folds and is in no node: most rows go
there, and are folded together when the next block begins. Behind the sums of doubles stands what rounding has lost of
each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail._core.kernels.adding import lost_by_adding
from dovetail._core.kernels.compile import kernel, piece
from dovetail._core.kernels.pages import (
    BLOCK,
    FAN_BITS,
    FIRST,
    HEAD,
    HEADER,
    LAST,
    MAX,
    SUM,
    behind_last,
    clear_page,
    levels_of,
    slot_of,
)

if TYPE_CHECKING:
    from typing import Any

    from dovetail._core.kernels.pages import Index

    Int = Any  # Numba's integers are of either kind


@piece
def add_row(index: Index, into: Int, page: Int, row: Int) -> None:
    """Fold one row of a page into a page."""
    pages, numbers = index.pages, index.numbers
    word = page + index.times + BLOCK + row
    for lane in range(index.kinds.size):
        if index.kinds[lane] == SUM:
            pages[into + HEADER + lane] += pages[word]
        elif index.kinds[lane] == MAX:
            pages[into + HEADER + lane] = max(pages[into + HEADER + lane], pages[word])
        word += BLOCK
    total = into + HEADER + index.kinds.size
    for _ in range(index.doubles):
        numbers[total + index.doubles] += lost_by_adding(numbers[total], numbers[word])
        numbers[total] += numbers[word]
        total += 1
        word += BLOCK


@piece
def add_page(index: Index, into: Int, page: Int) -> None:
    """Fold a page into a page."""
    pages, numbers = index.pages, index.numbers
    pages[into] += pages[page]
    for lane in range(index.kinds.size):
        if index.kinds[lane] == SUM:
            pages[into + HEADER + lane] += pages[page + HEADER + lane]
        elif index.kinds[lane] == MAX:
            pages[into + HEADER + lane] = max(pages[into + HEADER + lane], pages[page + HEADER + lane])
    first = HEADER + index.kinds.size
    for lane in range(first, first + index.doubles):
        lost = lost_by_adding(numbers[into + lane], numbers[page + lane])
        numbers[into + lane + index.doubles] += numbers[page + lane + index.doubles] + lost
        numbers[into + lane] += numbers[page + lane]


@piece
def fold_again(index: Index, page: Int, count: Int, folds: bool) -> None:
    """Work out the times and folds of a page of so many rows."""
    clear_page(index, page)
    index.pages[page] = count
    index.pages[page + FIRST] = index.pages[page + index.times]
    index.pages[page + LAST] = index.pages[page + index.times + count - 1]
    if folds:
        for row in range(count):
            add_row(index, page, page, row)


@kernel
def fold_nodes(index: Index, key: Int, position: Int) -> None:
    """Work out the nodes above all blocks from a position on."""
    head = index.keys[key, HEAD]
    last = behind_last(index, key) - 1
    for level in range(1, levels_of(index, key) + 1):
        below = FAN_BITS * (level - 1)
        for group in range(position >> (FAN_BITS * level), (last >> (FAN_BITS * level)) + 1):
            node = index.slots[slot_of(index, key, level, group)]
            clear_page(index, node)
            behind = last if level == 1 else (last >> below) + 1
            for child in range(max(group << FAN_BITS, head >> below), min((group + 1) << FAN_BITS, behind)):
                add_page(index, node, index.slots[slot_of(index, key, level - 1, child)])
