"""The first or last row of windows over ordered blocks, and which of two rows that is.

What belongs here looks at a window's rows from one end on and stops behind the first time that counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dovetail._core.kernels.compile import kernel, piece
from dovetail._core.kernels.pages import BLOCK, BLOCK_BITS, FIRST, HEADER, LAST, behind_last, page_at
from dovetail._core.kernels.seeking import block_of, row_of

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from dovetail._core.kernels.pages import Index
    from dovetail._core.kernels.seeking import Places

    Int = Any  # Numba's integers are of either kind
    Ints = NDArray[np.int64]


class Ends(NamedTuple):
    """The first or last row of each window: time, flag (0: none, 1: NULL, 2: a value) and value."""

    at: Ints
    flag: Ints
    value: Ints

    @classmethod
    def none(cls, size: int) -> Ends:
        """No row for any window."""
        return cls(*(np.zeros(size, np.int64) for _ in range(3)))


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
    index: Index, codes: Ints, found: Places, flags: Int, values: Int, last: bool, folds: bool, out: Ends
) -> None:
    """Write the first or last row of each window: its time, flag and value, if better than what is there.

    A flag of 0 says that the row does not count, 1 that its value is NULL; `flags` and `values` are their lanes. Rows
    of one time are all looked at; windows that end alike share the answer.
    """
    begins, ends, order = found
    pages = index.pages
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
            final = block_of(ends[row] - 1)
            position = final if last else block_of(begins[row])
            while block_of(begins[row]) <= position <= final:
                page = page_at(index, key, position)
                if flag > 0 and (pages[page + LAST] < at if last else pages[page + FIRST] > at):
                    break
                first = row_of(begins[row]) if position == block_of(begins[row]) else np.int64(0)
                behind = row_of(ends[row]) if position == block_of(ends[row]) else pages[page]
                folded = folds and position < behind_last(index, key) - 1  # all blocks but the last are
                for k in range(behind - first if not folded or pages[page + HEADER + flags] > 0 else 0):
                    own = page + index.times + (behind - 1 - k if last else first + k)
                    own_flag = pages[own + BLOCK * (1 + flags)]
                    if own_flag == 0:
                        continue
                    if flag > 0 and pages[own] != at:
                        break
                    own_value = pages[own + BLOCK * (1 + values)]
                    if better_end(pages[own], own_flag, own_value, at, flag, value, last):
                        at = pages[own]
                        flag = own_flag
                        value = own_value
                        place = (position << BLOCK_BITS) + (own - page - index.times)
                position += -1 if last else 1
        if flag > 0 and better_end(at, flag, value, out.at[row], out.flag[row], out.value[row], last):
            out.at[row] = at
            out.flag[row] = flag
            out.value[row] = value
