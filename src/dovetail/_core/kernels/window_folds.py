"""What windows over ordered blocks fold to: edges row by row, what lies between by the folds of blocks and nodes.

What belongs here adds rows, pages or other columns to a window's column, once `seeking` has found its two places.

Windows that overlap share their work without subtracting: for a stretch of windows that all reach over one *pivot*, the
parts before it grow from the last window back to the first, the parts behind it from the first to the last. Every row
is added once or twice, whatever the length of the windows, and rounding stays in each window's own rows.

What a window folds to is a column of three arrays: in `words` the number of rows and then the lanes of integers, in
`high` and `low` the sums of doubles and what rounding has lost. The last column is scratch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import kernel, piece
from dovetail._core.kernels.pages import LEAST, MAX, SUM, page_at, slot_of

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Int = Any  # Numba's integers are of either kind
    Ints = NDArray[np.int64]
    Doubles = NDArray[np.float64]


@piece
def clear_column(shape: Ints, words: Ints, high: Doubles, low: Doubles, at: Int) -> None:
    """Make a column the fold of nothing."""
    words[0, at] = 0
    for lane in range(shape[0]):
        words[1 + lane, at] = np.int64(LEAST) if shape[4 + lane] == MAX else np.int64(0)
    for lane in range(shape[1]):
        high[lane, at] = 0.0
        low[lane, at] = 0.0


@kernel
def clear_one(shape: Ints, words: Ints, high: Doubles, low: Doubles) -> None:
    """Make the first column the fold of nothing."""
    clear_column(shape, words, high, low, 0)


@piece
def merge_column(
    shape: Ints,
    from_words: Ints,
    from_high: Doubles,
    from_low: Doubles,
    own: Int,
    words: Ints,
    high: Doubles,
    low: Doubles,
    at: Int,
) -> None:
    """Fold a column into another."""
    words[0, at] += from_words[0, own]
    for lane in range(shape[0]):
        if shape[4 + lane] == SUM:
            words[1 + lane, at] += from_words[1 + lane, own]
        elif shape[4 + lane] == MAX:
            words[1 + lane, at] = max(words[1 + lane, at], from_words[1 + lane, own])
    for lane in range(shape[1]):
        value = from_high[lane, own]
        total = high[lane, at]
        longer = total + value
        part = longer - total
        low[lane, at] += from_low[lane, own] + ((total - (longer - part)) + (value - part))
        high[lane, at] = longer


@kernel
def merge_columns(
    shape: Ints,
    from_words: Ints,
    from_high: Doubles,
    from_low: Doubles,
    rows: Int,
    words: Ints,
    high: Doubles,
    low: Doubles,
) -> None:
    """Fold the first columns of one set into those of another."""
    for row in range(rows):
        merge_column(shape, from_words, from_high, from_low, row, words, high, low, row)


@piece
def fold_page(
    pages: Ints,
    numbers: Doubles,
    shape: Ints,
    page: Int,
    words: Ints,
    high: Doubles,
    low: Doubles,
    at: Int,
) -> None:
    """Fold a whole block or node into a column."""
    words[0, at] += pages[page]
    for lane in range(shape[0]):
        if shape[4 + lane] == SUM:
            words[1 + lane, at] += pages[page + 3 + lane]
        elif shape[4 + lane] == MAX:
            words[1 + lane, at] = max(words[1 + lane, at], pages[page + 3 + lane])
    own = page + 3 + shape[0]
    for lane in range(shape[1]):
        value = numbers[own + lane]
        total = high[lane, at]
        longer = total + value
        part = longer - total
        low[lane, at] += numbers[own + lane + shape[1]] + ((total - (longer - part)) + (value - part))
        high[lane, at] = longer


@piece
def fold_rows(
    pages: Ints,
    numbers: Doubles,
    shape: Ints,
    page: Int,
    first: Int,
    behind: Int,
    words: Ints,
    high: Doubles,
    low: Doubles,
    at: Int,
) -> None:
    """Fold rows of one block into a column, row by row."""
    words[0, at] += behind - first
    begin = page + shape[3] + 64 + first
    end = begin + behind - first
    for lane in range(shape[0]):
        if shape[4 + lane] == SUM:
            total = words[1 + lane, at]
            for own in range(begin, end):
                total += pages[own]
            words[1 + lane, at] = total
        elif shape[4 + lane] == MAX:
            most = words[1 + lane, at]
            for own in range(begin, end):
                most = max(most, pages[own])
            words[1 + lane, at] = most
        begin += 64
        end += 64
    for lane in range(shape[1]):
        sum_ = high[lane, at]
        lost = low[lane, at]
        for own in range(begin, end):
            value = numbers[own]
            longer = sum_ + value
            part = longer - sum_
            lost += (sum_ - (longer - part)) + (value - part)
            sum_ = longer
        high[lane, at] = sum_
        low[lane, at] = lost
        begin += 64
        end += 64


@piece
def fold_blocks(
    pages: Ints,
    numbers: Doubles,
    shape: Ints,
    keys: Ints,
    slots: Ints,
    key: Int,
    begin: Int,
    end: Int,
    words: Ints,
    high: Doubles,
    low: Doubles,
    at: Int,
) -> None:
    """Fold the blocks of some positions into a column, by as few nodes as there are."""
    level = np.int64(0)
    top = keys[4 * key + 1] >> 2
    while begin < end:
        if level < top and begin & 15 == 0 and end & 15 == 0:
            begin >>= 4
            end >>= 4
            level += 1
            continue
        front = begin & 15 != 0 or level == top
        own = begin if front else end - 1
        fold_page(pages, numbers, shape, slots[slot_of(keys, key, level, own)], words, high, low, at)
        begin += 1 if front else 0
        end -= 0 if front else 1


@piece
def fold_span(
    pages: Ints,
    numbers: Doubles,
    shape: Ints,
    keys: Ints,
    slots: Ints,
    key: Int,
    begin: Int,
    end: Int,
    folds: bool,
    words: Ints,
    high: Doubles,
    low: Doubles,
    at: Int,
) -> None:
    """Fold the rows between two places into a column; without folds of blocks, all of them row by row.

    So are those of the key's last block, which has none.
    """
    last = end >> 6
    whole = min(last, keys[4 * key + 2] + keys[4 * key + 3] - 1)
    position = begin >> 6
    while position < last or (position == last and end & 63 and begin < end):
        page = page_at(keys, slots, key, position)
        first = begin & 63 if position == begin >> 6 else np.int64(0)
        if folds and first == 0 and position < whole:
            fold_blocks(pages, numbers, shape, keys, slots, key, position, whole, words, high, low, at)
            position = whole
        else:
            behind = end & 63 if position == last else pages[page]
            fold_rows(pages, numbers, shape, page, first, behind, words, high, low, at)
            position += 1


@piece
def stretch_end(codes: Ints, begins: Ints, ends: Ints, order: Ints, first: Int) -> Int:
    """Return where a stretch ends: windows of one key, none beginning or ending earlier, all over the first's end."""
    row = order[first]
    i = first + 1
    while i < order.size:
        own = order[i]
        before = order[i - 1]
        if codes[own] != codes[row] or begins[own] > ends[row]:
            break
        if begins[own] < begins[before] or ends[own] < ends[before]:
            break
        i += 1
    return i


@kernel
def fold_windows(
    pages: Ints,
    numbers: Doubles,
    shape: Ints,
    keys: Ints,
    slots: Ints,
    codes: Ints,
    begins: Ints,
    ends: Ints,
    order: Ints,
    folds: bool,
    words: Ints,
    high: Doubles,
    low: Doubles,
    scratch: Int,
) -> None:
    """Fold the windows of some base rows, given in the order of key and time, into their columns."""
    i = np.int64(0)
    while i < order.size:
        row = order[i]
        pivot = ends[row]
        until = stretch_end(codes, begins, ends, order, i) if folds else i + 1
        edge = pivot
        for step in range(2 * (until - i)):
            back = step < until - i
            own = order[until - 1 - step if back else i + step - (until - i)]
            if step == 0 or step == until - i:
                clear_column(shape, words, high, low, scratch)
                edge = pivot
            begin = begins[own] if back else edge
            end = edge if back else ends[own]
            fold_span(pages, numbers, shape, keys, slots, codes[row], begin, end, folds, words, high, low, scratch)
            edge = begin if back else end
            if back or end > pivot:
                merge_column(shape, words, high, low, scratch, words, high, low, own)
        i = until
