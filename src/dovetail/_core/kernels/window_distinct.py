"""How many different codes windows over ordered blocks hold.

What belongs here counts how often each code is seen. A window that overlaps the one before takes off the rows that it
leaves and adds those that it reaches: counts, unlike sums of doubles, may be subtracted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import kernel
from dovetail._core.kernels.pages import page_at

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Int = Any  # Numba's integers are of either kind
    Ints = NDArray[np.int64]


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
