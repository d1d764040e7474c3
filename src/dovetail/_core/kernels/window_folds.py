"""What windows over ordered blocks fold to: edges row by row, what lies between by the folds of blocks and nodes.

What belongs here adds rows, pages or other columns to a window's column, once `seeking` has found its two places.

Windows that overlap share their work without subtracting: for a stretch of windows that all reach over one *pivot*, the
parts before it grow from the last window back to the first, the parts behind it from the first to the last. Every row
is added once or twice, whatever the length of the windows, and rounding stays in each window's own rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dovetail._core.kernels.adding import lost_by_adding
from dovetail._core.kernels.compile import kernel, piece
from dovetail._core.kernels.pages import (
    BLOCK,
    FAN,
    FAN_BITS,
    HEADER,
    LEAST,
    MAX,
    SUM,
    behind_last,
    levels_of,
    page_at,
    slot_of,
)
from dovetail._core.kernels.seeking import block_of, row_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from dovetail._core.kernels.pages import Index
    from dovetail._core.kernels.seeking import Places

    Int = Any  # Numba's integers are of either kind
    Ints = NDArray[np.int64]
    Doubles = NDArray[np.float64]


class Folds(NamedTuple):
    """What windows fold to, a column each: rows and lanes of integers; sums of doubles and what they have lost.

    Behind them come columns to work in, one for each thread.
    """

    words: Ints
    high: Doubles
    low: Doubles

    @classmethod
    def none(cls, kinds: Sequence[int], doubles: int, size: int, threads: int = 1) -> Folds:
        """The fold of nothing for every window."""
        words = np.zeros((1 + len(kinds), size + threads), np.int64)
        for lane, kind in enumerate(kinds):
            if kind == MAX:
                words[1 + lane] = LEAST
        return cls(words, np.zeros((doubles, size + threads)), np.zeros((doubles, size + threads)))


@piece
def clear_column(kinds: Ints, out: Folds, at: Int) -> None:
    """Make a column the fold of nothing."""
    out.words[0, at] = 0
    for lane in range(kinds.size):
        out.words[1 + lane, at] = np.int64(LEAST) if kinds[lane] == MAX else np.int64(0)
    for lane in range(out.high.shape[0]):
        out.high[lane, at] = 0.0
        out.low[lane, at] = 0.0


@kernel
def clear_one(kinds: Ints, out: Folds) -> None:
    """Make the first column the fold of nothing."""
    clear_column(kinds, out, 0)


@piece
def merge_column(kinds: Ints, given: Folds, own: Int, out: Folds, at: Int) -> None:
    """Fold a column into another."""
    out.words[0, at] += given.words[0, own]
    for lane in range(kinds.size):
        if kinds[lane] == SUM:
            out.words[1 + lane, at] += given.words[1 + lane, own]
        elif kinds[lane] == MAX:
            out.words[1 + lane, at] = max(out.words[1 + lane, at], given.words[1 + lane, own])
    for lane in range(out.high.shape[0]):
        lost = lost_by_adding(out.high[lane, at], given.high[lane, own])
        out.low[lane, at] += given.low[lane, own] + lost
        out.high[lane, at] += given.high[lane, own]


@kernel
def merge_columns(kinds: Ints, given: Folds, rows: Int, out: Folds) -> None:
    """Fold the first columns of one set into those of another."""
    for row in range(rows):
        merge_column(kinds, given, row, out, row)


@piece
def fold_page(index: Index, page: Int, out: Folds, at: Int) -> None:
    """Fold a whole block or node into a column."""
    out.words[0, at] += index.pages[page]
    for lane in range(index.kinds.size):
        if index.kinds[lane] == SUM:
            out.words[1 + lane, at] += index.pages[page + HEADER + lane]
        elif index.kinds[lane] == MAX:
            out.words[1 + lane, at] = max(out.words[1 + lane, at], index.pages[page + HEADER + lane])
    own = page + HEADER + index.kinds.size
    for lane in range(index.doubles):
        lost = lost_by_adding(out.high[lane, at], index.numbers[own + lane])
        out.low[lane, at] += index.numbers[own + lane + index.doubles] + lost
        out.high[lane, at] += index.numbers[own + lane]


@piece
def fold_rows(index: Index, page: Int, first: Int, behind: Int, out: Folds, at: Int) -> None:
    """Fold rows of one block into a column, row by row."""
    out.words[0, at] += behind - first
    begin = page + index.times + BLOCK + first
    end = begin + behind - first
    for lane in range(index.kinds.size):
        if index.kinds[lane] == SUM:
            total = out.words[1 + lane, at]
            for own in range(begin, end):
                total += index.pages[own]
            out.words[1 + lane, at] = total
        elif index.kinds[lane] == MAX:
            most = out.words[1 + lane, at]
            for own in range(begin, end):
                most = max(most, index.pages[own])
            out.words[1 + lane, at] = most
        begin += BLOCK
        end += BLOCK
    for lane in range(index.doubles):
        sum_ = out.high[lane, at]
        lost = out.low[lane, at]
        for own in range(begin, end):
            lost += lost_by_adding(sum_, index.numbers[own])
            sum_ += index.numbers[own]
        out.high[lane, at] = sum_
        out.low[lane, at] = lost
        begin += BLOCK
        end += BLOCK


@piece
def fold_blocks(index: Index, key: Int, begin: Int, end: Int, out: Folds, at: Int) -> None:
    """Fold the blocks of some positions into a column, by as few nodes as there are."""
    level = np.int64(0)
    top = levels_of(index, key)
    while begin < end:
        if level < top and begin & (FAN - 1) == 0 and end & (FAN - 1) == 0:
            begin >>= FAN_BITS
            end >>= FAN_BITS
            level += 1
            continue
        front = begin & (FAN - 1) != 0 or level == top
        own = begin if front else end - 1
        fold_page(index, index.slots[slot_of(index, key, level, own)], out, at)
        begin += 1 if front else 0
        end -= 0 if front else 1


@piece
def fold_span(index: Index, key: Int, begin: Int, end: Int, folds: bool, out: Folds, at: Int) -> None:
    """Fold the rows between two places into a column; without folds of blocks, all of them row by row.

    So are those of the key's last block, which has none.
    """
    last = block_of(end)
    whole = min(last, behind_last(index, key) - 1)
    position = block_of(begin)
    while position < last or (position == last and row_of(end) and begin < end):
        page = page_at(index, key, position)
        first = row_of(begin) if position == block_of(begin) else np.int64(0)
        if folds and first == 0 and position < whole:
            fold_blocks(index, key, position, whole, out, at)
            position = whole
        else:
            behind = row_of(end) if position == last else index.pages[page]
            fold_rows(index, page, first, behind, out, at)
            position += 1


@piece
def stretch_end(codes: Ints, found: Places, first: Int) -> Int:
    """Return where a stretch ends: windows of one key, none beginning or ending earlier, all over the first's end."""
    begins, ends, order = found
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
def fold_windows(index: Index, codes: Ints, found: Places, folds: bool, out: Folds, scratch: Int) -> None:
    """Fold the windows of some base rows, given in the order of key and time, into their columns."""
    i = np.int64(0)
    while i < found.order.size:
        row = found.order[i]
        pivot = found.ends[row]
        until = stretch_end(codes, found, i) if folds else i + 1
        edge = pivot
        for step in range(2 * (until - i)):
            back = step < until - i
            own = found.order[until - 1 - step if back else i + step - (until - i)]
            if step == 0 or step == until - i:
                clear_column(index.kinds, out, scratch)
                edge = pivot
            begin = found.begins[own] if back else edge
            end = edge if back else found.ends[own]
            fold_span(index, codes[row], begin, end, folds, out, scratch)
            edge = begin if back else end
            if back or end > pivot:
                merge_column(index.kinds, out, scratch, out, own)
        i = until
