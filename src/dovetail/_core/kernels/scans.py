"""Windows over blocks in the order of arrival: every row of the key is looked at, as Key-OIJ and SplitJoin do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import kernel, piece
from dovetail._core.kernels.pages import MAX, SUM, page_at
from dovetail._core.kernels.seeking import holds
from dovetail._core.kernels.window_ends import better_end

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Int = Any  # Numba's integers are of either kind
    Ints = NDArray[np.int64]
    Doubles = NDArray[np.float64]


@piece
def scan_page(
    pages: Ints,
    numbers: Doubles,
    shape: Ints,
    page: Int,
    lower: Int,
    upper: Int,
    words: Ints,
    high: Doubles,
    low: Doubles,
    at: Int,
) -> None:
    """Fold the rows of a block that lie in a window into a column."""
    begin = page + shape[3]
    count = pages[page]
    within = np.int64(0)
    for time in range(begin, begin + count):
        within += np.int64((lower <= pages[time]) & (pages[time] <= upper))
    if within == 0:
        return
    words[0, at] += within
    for lane in range(shape[0]):
        own = begin + 64 * (1 + lane)
        if shape[4 + lane] == SUM:
            total = words[1 + lane, at]
            for i in range(count):
                inside = (lower <= pages[begin + i]) & (pages[begin + i] <= upper)
                total += pages[own + i] if inside else np.int64(0)
            words[1 + lane, at] = total
        elif shape[4 + lane] == MAX:
            most = words[1 + lane, at]
            for i in range(count):
                if lower <= pages[begin + i] <= upper:
                    most = max(most, pages[own + i])
            words[1 + lane, at] = most
    for lane in range(shape[1]):
        own = begin + 64 * (1 + shape[0] + lane)
        sum_ = high[lane, at]
        lost = low[lane, at]
        for i in range(count):
            if lower <= pages[begin + i] <= upper:
                value = numbers[own + i]
                longer = sum_ + value
                part = longer - sum_
                lost += (sum_ - (longer - part)) + (value - part)
                sum_ = longer
        high[lane, at] = sum_
        low[lane, at] = lost


@kernel
def scan_windows(
    pages: Ints,
    numbers: Doubles,
    shape: Ints,
    keys: Ints,
    slots: Ints,
    codes: Ints,
    lower: Ints,
    upper: Ints,
    order: Ints,
    words: Ints,
    high: Doubles,
    low: Doubles,
    out_visited: Ints,
) -> None:
    """Fold the windows of some base rows into their columns; count the rows looked at."""
    for i in range(order.size):
        row = order[i]
        key = codes[row]
        if not holds(keys, key) or lower[row] > upper[row]:
            continue
        for position in range(keys[4 * key + 2], keys[4 * key + 2] + keys[4 * key + 3]):
            page = page_at(keys, slots, key, np.int64(position))
            scan_page(pages, numbers, shape, page, lower[row], upper[row], words, high, low, row)
            out_visited[row] += pages[page]


@kernel
def scan_prevailing(
    pages: Ints, shape: Ints, keys: Ints, slots: Ints, codes: Ints, starts: Ints, order: Ints, out_at: Ints
) -> None:
    """Raise, for some base rows, the time that prevails at a start to the greatest one stored at or before it."""
    for i in range(order.size):
        row = order[i]
        key = codes[row]
        if not holds(keys, key):
            continue
        for position in range(keys[4 * key + 2], keys[4 * key + 2] + keys[4 * key + 3]):
            page = page_at(keys, slots, key, np.int64(position))
            for own in range(page + shape[3], page + shape[3] + pages[page]):
                if pages[own] <= starts[row]:
                    out_at[row] = max(out_at[row], pages[own])


@kernel
def scan_ends(
    pages: Ints,
    shape: Ints,
    keys: Ints,
    slots: Ints,
    codes: Ints,
    lower: Ints,
    upper: Ints,
    order: Ints,
    flags: Int,
    values: Int,
    last: bool,
    out_at: Ints,
    out_flag: Ints,
    out_value: Ints,
) -> None:
    """Write the first or last row of each window: its time, flag and value, if better than what is there."""
    for i in range(order.size):
        row = order[i]
        key = codes[row]
        if not holds(keys, key):
            continue
        for position in range(keys[4 * key + 2], keys[4 * key + 2] + keys[4 * key + 3]):
            page = page_at(keys, slots, key, np.int64(position))
            for own in range(page + shape[3], page + shape[3] + pages[page]):
                flag = pages[own + 64 * (1 + flags)]
                if flag == 0 or pages[own] < lower[row] or pages[own] > upper[row]:
                    continue
                value = pages[own + 64 * (1 + values)]
                if better_end(pages[own], flag, value, out_at[row], out_flag[row], out_value[row], last):
                    out_at[row] = pages[own]
                    out_flag[row] = flag
                    out_value[row] = value


@kernel
def scan_distinct(
    all_pages: tuple[Ints, ...],
    shape: Ints,
    all_keys: tuple[Ints, ...],
    all_slots: tuple[Ints, ...],
    codes: Ints,
    lower: Ints,
    upper: Ints,
    order: Ints,
    lane: Int,
    seen: Ints,
    out_count: Ints,
) -> None:
    """Count the codes of each window over one or several areas; `seen` says which window saw a code last, from 1 up."""
    for i in range(order.size):
        row = order[i]
        key = codes[row]
        for area in range(len(all_pages)):
            pages, keys, slots = all_pages[area], all_keys[area], all_slots[area]
            if not holds(keys, key):
                continue
            for position in range(keys[4 * key + 2], keys[4 * key + 2] + keys[4 * key + 3]):
                page = page_at(keys, slots, key, np.int64(position))
                for own in range(page + shape[3], page + shape[3] + pages[page]):
                    code = pages[own + 64 * (1 + lane)]
                    if code < 0 or pages[own] < lower[row] or pages[own] > upper[row] or seen[code] == row + 1:
                        continue
                    seen[code] = row + 1
                    out_count[row] += 1
