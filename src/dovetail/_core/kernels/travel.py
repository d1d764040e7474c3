"""Windows over ordered blocks: bounds by search, edges row by row, what lies between by the folds of blocks and nodes.

Windows that overlap share their work without subtracting: for a stretch of windows that all reach over one *pivot*, the
parts before it grow from the last window back to the first, the parts behind it from the first to the last. Every row
is added once or twice, whatever the length of the windows, and rounding stays in each window's own rows.

What a window folds to is a column of three arrays: in `words` the number of rows and then the lanes of integers, in
`high` and `low` the sums of doubles and what rounding has lost. The last column is scratch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.blocks import LEAST, MAX, MOST, SUM, page_at, slot_of
from dovetail._core.kernels.compile import kernel, piece

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Int = Any  # Numba's integers are of either kind
    Ints = NDArray[np.int64]
    Doubles = NDArray[np.float64]

NEAR = 4
"""So many blocks on, the next window is looked for block by block."""


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
    """Fold the rows between two places into a column; without folds of blocks, all of them row by row."""
    last = end >> 6
    position = begin >> 6
    while position < last or (position == last and end & 63 and begin < end):
        page = page_at(keys, slots, key, position)
        first = begin & 63 if position == begin >> 6 else np.int64(0)
        if folds and first == 0 and position < last:
            fold_blocks(pages, numbers, shape, keys, slots, key, position, last, words, high, low, at)
            position = last
        else:
            behind = end & 63 if position == last else pages[page]
            fold_rows(pages, numbers, shape, page, first, behind, words, high, low, at)
            position += 1


@piece
def count_before(pages: Ints, begin: Int, count: Int, at: Int) -> Int:
    """Return how many of a block's times lie before one: all are compared, at once, where a search would branch."""
    before = np.int64(0)
    for own in range(begin, begin + count):
        before += np.int64(pages[own] < at)
    return before


@piece
def seek(pages: Ints, shape: Ints, keys: Ints, slots: Ints, key: Int, at: Int) -> Int:
    """Return the place of the first row at or after a time; behind the last block if there is none."""
    low = keys[4 * key + 2]
    behind = low + keys[4 * key + 3]
    high = behind
    while low < high:
        middle = (low + high) >> 1
        if pages[page_at(keys, slots, key, middle) + 2] < at:
            low = middle + 1
        else:
            high = middle
    if low == behind:
        return low << 6
    page = page_at(keys, slots, key, low)
    return (low << 6) + count_before(pages, page + shape[3], pages[page], at)


@piece
def seek_on(pages: Ints, shape: Ints, keys: Ints, slots: Ints, key: Int, place: Int, at: Int) -> Int:
    """Return the same, looking from an earlier place on: at the next blocks row by row, beyond them by search."""
    behind = keys[4 * key + 2] + keys[4 * key + 3]
    position = place >> 6
    row = place & 63
    steps = np.int64(0)
    while position < behind and steps < NEAR and pages[page_at(keys, slots, key, position) + 2] < at:
        position += 1
        row = np.int64(0)
        steps += 1
    if steps == NEAR:
        return seek(pages, shape, keys, slots, key, at)
    if position < behind:
        begin = page_at(keys, slots, key, position) + shape[3]
        while pages[begin + row] < at:
            row += 1
    return (position << 6) + row


@piece
def seek_behind(pages: Ints, shape: Ints, keys: Ints, slots: Ints, key: Int, at: Int) -> Int:
    """Return the place of the first row after a time."""
    if at == np.int64(MOST):
        return (keys[4 * key + 2] + keys[4 * key + 3]) << 6
    return seek(pages, shape, keys, slots, key, at + 1)


@piece
def holds(keys: Ints, key: Int) -> bool:
    """Tell whether an index has rows of a key; -1 is no key."""
    return bool(0 <= key < keys.size // 4 and keys[4 * key] >= 0)


@kernel
def find_windows(
    pages: Ints,
    shape: Ints,
    keys: Ints,
    slots: Ints,
    codes: Ints,
    lower: Ints,
    upper: Ints,
    order: Ints,
    out_begin: Ints,
    out_end: Ints,
    out_some: Ints,
) -> Int:
    """Write, for those of some base rows whose windows hold rows, which they are and where the windows begin and end.

    Return how many. Windows of a key that move on, one after the other, are looked for from the one before.
    """
    some = np.int64(0)
    before = np.int64(-1)
    begin = np.int64(0)
    end = np.int64(0)
    for i in range(order.size):
        row = order[i]
        key = codes[row]
        if not holds(keys, key) or lower[row] > upper[row]:
            continue
        head = keys[4 * key + 2]
        last = page_at(keys, slots, key, head + keys[4 * key + 3] - 1)
        if pages[last + 2] < lower[row] or pages[page_at(keys, slots, key, head) + 1] > upper[row]:
            continue
        moves_on = before >= 0 and codes[before] == key and lower[before] <= lower[row] and upper[before] <= upper[row]
        if keys[4 * key + 3] == 1:
            begin = head << 6
            end = begin
            for own in range(last + shape[3], last + shape[3] + pages[last]):
                begin += np.int64(pages[own] < lower[row])
                end += np.int64(pages[own] <= upper[row])
        elif moves_on and upper[row] < np.int64(MOST):
            begin = seek_on(pages, shape, keys, slots, key, begin, lower[row])
            end = seek_on(pages, shape, keys, slots, key, end, upper[row] + 1)
        else:
            begin = seek(pages, shape, keys, slots, key, lower[row])
            end = seek_behind(pages, shape, keys, slots, key, upper[row])
        before = row
        if begin < end:
            out_begin[row] = begin
            out_end[row] = end
            out_some[some] = row
            some += 1
    return some


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


@kernel
def prevailing_times(
    pages: Ints, shape: Ints, keys: Ints, slots: Ints, codes: Ints, starts: Ints, order: Ints, out_at: Ints
) -> None:
    """Raise, for some base rows, the time that prevails at a start to the last one stored at or before it."""
    for i in range(order.size):
        row = order[i]
        key = codes[row]
        if not holds(keys, key):
            continue
        place = seek_behind(pages, shape, keys, slots, key, starts[row])
        if place <= keys[4 * key + 2] << 6:
            continue
        if place & 63:
            found = pages[page_at(keys, slots, key, place >> 6) + shape[3] + (place & 63) - 1]
        else:
            found = pages[page_at(keys, slots, key, (place >> 6) - 1) + 2]
        out_at[row] = max(out_at[row], found)


@piece
def better_end(at: Int, flag: Int, value: Int, best_at: Int, best_flag: Int, best: Int, last: bool) -> bool:
    """Tell whether a row comes before the best so far (after it, for `last`), by time, then by value, NULL first."""
    if best_flag == 0:
        return True
    if at != best_at:
        return bool((at > best_at) == last)
    if flag != best_flag:
        return bool((flag > best_flag) == last)
    return bool(value != best and (value > best) == last)


@kernel
def ends_of_windows(
    pages: Ints,
    shape: Ints,
    keys: Ints,
    slots: Ints,
    codes: Ints,
    begins: Ints,
    ends: Ints,
    order: Ints,
    flags: Int,
    values: Int,
    last: bool,
    folds: bool,
    out_at: Ints,
    out_flag: Ints,
    out_value: Ints,
) -> None:
    """Write the first or last row of each window: its time, flag and value, if better than what is there.

    A flag of 0 says that the row does not count, 1 that its value is NULL; `flags` and `values` are their lanes. Rows
    of one time are all looked at; windows that end alike share the answer.
    """
    known = np.int64(-1)
    place = np.int64(0)
    at = np.int64(0)
    flag = np.int64(0)
    value = np.int64(0)
    for i in range(order.size):
        row = order[i]
        key = codes[row]
        shared = known >= 0 and flag > 0 and codes[known] == key and begins[row] <= place < ends[row]
        if not (shared and (ends[known] == ends[row] if last else begins[known] == begins[row])):
            known = row
            flag = np.int64(0)
            final = ends[row] >> 6 if ends[row] & 63 else (ends[row] >> 6) - 1
            position = final if last else begins[row] >> 6
            while begins[row] >> 6 <= position <= final:
                page = page_at(keys, slots, key, position)
                if flag > 0 and (pages[page + 2] < at if last else pages[page + 1] > at):
                    break
                first = begins[row] & 63 if position == begins[row] >> 6 else np.int64(0)
                behind = ends[row] & 63 if position == ends[row] >> 6 else pages[page]
                for k in range(behind - first if not folds or pages[page + 3 + flags] > 0 else 0):
                    own = page + shape[3] + (behind - 1 - k if last else first + k)
                    own_flag = pages[own + 64 * (1 + flags)]
                    if own_flag == 0:
                        continue
                    if flag > 0 and pages[own] != at:
                        break
                    own_value = pages[own + 64 * (1 + values)]
                    if better_end(pages[own], own_flag, own_value, at, flag, value, last):
                        at = pages[own]
                        flag = own_flag
                        value = own_value
                        place = (position << 6) + (own - page - shape[3])
                position += -1 if last else 1
        if flag > 0 and better_end(at, flag, value, out_at[row], out_flag[row], out_value[row], last):
            out_at[row] = at
            out_flag[row] = flag
            out_value[row] = value


@kernel
def count_span(
    pages: Ints,
    shape: Ints,
    keys: Ints,
    slots: Ints,
    key: Int,
    begin: Int,
    end: Int,
    lane: Int,
    by: Int,
    seen: Ints,
    held: Int,
) -> Int:
    """Add the rows between two places to how often each code is seen, or take them off; return how many are held."""
    for position in range(begin >> 6, (end + 63) >> 6):
        page = page_at(keys, slots, key, np.int64(position))
        start = page + shape[3] + 64 * (1 + lane)
        first = begin & 63 if position == begin >> 6 else np.int64(0)
        behind = end & 63 if position == end >> 6 else pages[page]
        for own in range(start + first, start + behind):
            code = pages[own]
            if code < 0:
                continue
            before = seen[code]
            seen[code] += by
            if before == 0:
                held += 1
            elif seen[code] == 0:
                held -= 1
    return held


@kernel
def distinct_of_windows(
    pages: Ints,
    shape: Ints,
    keys: Ints,
    slots: Ints,
    codes: Ints,
    begins: Ints,
    ends: Ints,
    order: Ints,
    lane: Int,
    seen: Ints,
    out_count: Ints,
) -> None:
    """Write how many different codes each window holds; `seen` is all zeros before and after."""
    held = np.int64(0)
    key = np.int64(-1)
    begin = np.int64(0)
    end = np.int64(0)
    off = np.int64(-1)
    for i in range(order.size):
        row = order[i]
        if codes[row] == key and begin <= begins[row] <= end <= ends[row]:
            held = count_span(pages, shape, keys, slots, key, begin, begins[row], lane, off, seen, held)
            held = count_span(pages, shape, keys, slots, key, end, ends[row], lane, np.int64(1), seen, held)
        else:
            if key >= 0:
                held = count_span(pages, shape, keys, slots, key, begin, end, lane, off, seen, held)
            key = codes[row]
            held = count_span(pages, shape, keys, slots, key, begins[row], ends[row], lane, np.int64(1), seen, held)
        begin = begins[row]
        end = ends[row]
        out_count[row] = held
    if key >= 0:
        count_span(pages, shape, keys, slots, key, begin, end, lane, off, seen, held)
