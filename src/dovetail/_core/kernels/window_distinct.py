"""How many different codes windows over ordered blocks hold.

What belongs here counts how often each code is seen. A window that overlaps the one before takes off the rows that it
leaves and adds those that it reaches: counts, unlike sums of doubles, may be subtracted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import kernel
from dovetail._core.kernels.pages import BLOCK, page_at
from dovetail._core.kernels.seeking import block_of, row_of

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from dovetail._core.kernels.pages import Index
    from dovetail._core.kernels.seeking import Places

    Int = Any  # Numba's integers are of either kind
    Ints = NDArray[np.int64]


@kernel
def count_span(index: Index, key: Int, begin: Int, end: Int, lane: Int, by: Int, seen: Ints, held: Int) -> Int:
    """Add the rows between two places to how often each code is seen, or take them off; return how many are held."""
    for position in range(block_of(begin), block_of(end + BLOCK - 1)):
        page = page_at(index, key, np.int64(position))
        start = page + index.times + BLOCK * (1 + lane)
        first = row_of(begin) if position == block_of(begin) else np.int64(0)
        behind = row_of(end) if position == block_of(end) else index.pages[page]
        for own in range(start + first, start + behind):
            code = index.pages[own]
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
def distinct_of_windows(index: Index, codes: Ints, found: Places, lane: Int, seen: Ints, out_count: Ints) -> None:
    """Write how many different codes each window holds; `seen` is all zeros before and after."""
    begins, ends, order = found
    held = np.int64(0)
    key = np.int64(-1)
    begin = np.int64(0)
    end = np.int64(0)
    on, off = np.int64(1), np.int64(-1)
    for i in range(order.size):
        row = order[i]
        if codes[row] == key and begin <= begins[row] <= end <= ends[row]:
            held = count_span(index, key, begin, begins[row], lane, off, seen, held)
            held = count_span(index, key, end, ends[row], lane, on, seen, held)
        else:
            if key >= 0:
                held = count_span(index, key, begin, end, lane, off, seen, held)
            key = codes[row]
            held = count_span(index, key, begins[row], ends[row], lane, on, seen, held)
        begin = begins[row]
        end = ends[row]
        out_count[row] = held
    if key >= 0:
        count_span(index, key, begin, end, lane, off, seen, held)
