"""The first or last row of windows over ordered blocks, and which of two rows that is.

What belongs here looks at a window's rows from one end on and stops behind the first time that counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import kernel, piece
from dovetail._core.kernels.pages import page_at

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Int = Any  # Numba's integers are of either kind
    Ints = NDArray[np.int64]


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
                folded = folds and position < keys[4 * key + 2] + keys[4 * key + 3] - 1  # all blocks but the last are
                for k in range(behind - first if not folded or pages[page + 3 + flags] > 0 else 0):
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
