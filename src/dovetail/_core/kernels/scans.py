"""Windows over blocks in the order of arrival: every row of the key is looked at, as Key-OIJ and SplitJoin do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.adding import lost_by_adding
from dovetail._core.kernels.compile import kernel, piece
from dovetail._core.kernels.pages import BLOCK, HEAD, MAX, SUM, behind_last, page_at
from dovetail._core.kernels.seeking import holds
from dovetail._core.kernels.window_ends import better_end

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from dovetail._core.kernels.pages import Index
    from dovetail._core.kernels.seeking import Asked
    from dovetail._core.kernels.window_ends import Ends
    from dovetail._core.kernels.window_folds import Folds

    Int = Any  # Numba's integers are of either kind
    Ints = NDArray[np.int64]


@piece
def scan_page(index: Index, page: Int, lower: Int, upper: Int, out: Folds, at: Int) -> None:
    """Fold the rows of a block that lie in a window into a column."""
    pages = index.pages
    begin = page + index.times
    count = pages[page]
    within = np.int64(0)
    for time in range(begin, begin + count):
        within += np.int64((lower <= pages[time]) & (pages[time] <= upper))
    if within == 0:
        return
    out.words[0, at] += within
    for lane in range(index.kinds.size):
        own = begin + BLOCK * (1 + lane)
        if index.kinds[lane] == SUM:
            total = out.words[1 + lane, at]
            for i in range(count):
                inside = (lower <= pages[begin + i]) & (pages[begin + i] <= upper)
                total += pages[own + i] if inside else np.int64(0)
            out.words[1 + lane, at] = total
        elif index.kinds[lane] == MAX:
            most = out.words[1 + lane, at]
            for i in range(count):
                if lower <= pages[begin + i] <= upper:
                    most = max(most, pages[own + i])
            out.words[1 + lane, at] = most
    for lane in range(index.doubles):
        own = begin + BLOCK * (1 + index.kinds.size + lane)
        sum_ = out.high[lane, at]
        lost = out.low[lane, at]
        for i in range(count):
            if lower <= pages[begin + i] <= upper:
                lost += lost_by_adding(sum_, index.numbers[own + i])
                sum_ += index.numbers[own + i]
        out.high[lane, at] = sum_
        out.low[lane, at] = lost


@kernel
def scan_windows(index: Index, asked: Asked, out: Folds, out_visited: Ints) -> None:
    """Fold the windows of some base rows into their columns; count the rows looked at."""
    codes, lower, upper, order = asked
    for i in range(order.size):
        row = order[i]
        key = codes[row]
        if not holds(index, key) or lower[row] > upper[row]:
            continue
        for position in range(index.keys[key, HEAD], behind_last(index, key)):
            page = page_at(index, key, np.int64(position))
            scan_page(index, page, lower[row], upper[row], out, row)
            out_visited[row] += index.pages[page]


@kernel
def scan_prevailing(index: Index, asked: Asked, starts: Ints, out_at: Ints) -> None:
    """Raise, for some base rows, the time that prevails at a start to the greatest one stored at or before it."""
    for i in range(asked.order.size):
        row = asked.order[i]
        key = asked.codes[row]
        if not holds(index, key):
            continue
        for position in range(index.keys[key, HEAD], behind_last(index, key)):
            page = page_at(index, key, np.int64(position))
            for own in range(page + index.times, page + index.times + index.pages[page]):
                if index.pages[own] <= starts[row]:
                    out_at[row] = max(out_at[row], index.pages[own])


@kernel
def scan_ends(index: Index, asked: Asked, flags: Int, values: Int, last: bool, out: Ends) -> None:
    """Write the first or last row of each window: its time, flag and value, if better than what is there."""
    codes, lower, upper, order = asked
    pages = index.pages
    for i in range(order.size):
        row = order[i]
        key = codes[row]
        if not holds(index, key):
            continue
        for position in range(index.keys[key, HEAD], behind_last(index, key)):
            page = page_at(index, key, np.int64(position))
            for own in range(page + index.times, page + index.times + pages[page]):
                flag = pages[own + BLOCK * (1 + flags)]
                if flag == 0 or pages[own] < lower[row] or pages[own] > upper[row]:
                    continue
                value = pages[own + BLOCK * (1 + values)]
                if better_end(pages[own], flag, value, out.at[row], out.flag[row], out.value[row], last):
                    out.at[row] = pages[own]
                    out.flag[row] = flag
                    out.value[row] = value


@kernel
def scan_distinct(indexes: tuple[Index, ...], asked: Asked, lane: Int, seen: Ints, out_count: Ints) -> None:
    """Count the codes of each window over one or several areas; `seen` says which window saw a code last, from 1 up."""
    codes, lower, upper, order = asked
    for i in range(order.size):
        row = order[i]
        key = codes[row]
        for area in range(len(indexes)):
            index = indexes[area]
            pages = index.pages
            if not holds(index, key):
                continue
            for position in range(index.keys[key, HEAD], behind_last(index, key)):
                page = page_at(index, key, np.int64(position))
                for own in range(page + index.times, page + index.times + pages[page]):
                    code = pages[own + BLOCK * (1 + lane)]
                    if code < 0 or pages[own] < lower[row] or pages[own] > upper[row] or seen[code] == row + 1:
                        continue
                    seen[code] = row + 1
                    out_count[row] += 1
