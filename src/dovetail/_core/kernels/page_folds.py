"""The folds that pages keep: of a block's own rows, and in nodes of the blocks below.

What belongs here brings the folds of a page up to date, row by row, page by page, or all anew.

Over every 16 blocks stands a node, over every 16 nodes another, each with the folds of the rows below it; a node is a
page without rows, so that blocks and nodes fold alike. A key's last block has no folds and is in no node: most rows go
there, and are folded together when the next block begins. Behind the sums of doubles stands what rounding has lost of
each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail._core.kernels.compile import kernel, piece
from dovetail._core.kernels.pages import MAX, SUM, clear_page, slot_of

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    Int = Any  # Numba's integers are of either kind
    Ints = NDArray[np.int64]
    Doubles = NDArray[np.float64]


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
            behind = last if level == 1 else (last >> below) + 1
            for child in range(max(group << 4, head >> below), min((group + 1) << 4, behind)):
                add_page(pages, numbers, shape, node, slots[slot_of(keys, key, level - 1, child)])
