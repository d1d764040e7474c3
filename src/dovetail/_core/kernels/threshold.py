"""The positions of a slice whose height reaches a threshold: two inequalities at once.

A tower of maxima stands over the heights: level k holds the maximum of every 16**k positions. The next position that
reaches the threshold is found by walking up where a block is too low and down where it is not, so a slice with k hits
costs O(16 * log16(n) * (k + 1)), whatever its length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import NO_ROW, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

FAN_BITS = 4
FAN = 1 << FAN_BITS


@kernel
def fill_maxima(heights: NDArray[np.int64], out_maxima: NDArray[np.int64]) -> None:
    """Write the maximum of every 16 heights."""
    for block in range(out_maxima.size):
        first = block << 4
        last = min(first + 16, heights.size)
        most = heights[first]
        for i in range(first + 1, last):
            most = max(most, heights[i])
        out_maxima[block] = most


@kernel
def next_reaching(
    tower: NDArray[np.int64], starts: NDArray[np.int64], position: np.int64, end: np.int64, least: np.int64
) -> np.int64:
    """Return the first position in `[position, end)` whose height is at least `least`; NO_ROW if none.

    `tower` holds the heights, then each level of maxima; `starts` says where each level begins.
    """
    level = 0
    block = position
    while level + 1 < starts.size and (block & 15) == 0:
        block >>= 4
        level += 1
    while (block << (4 * level)) < end:
        if tower[starts[level] + block] >= least:
            if level == 0:
                return block
            level -= 1
            block <<= 4
            continue
        block += 1
        while level + 1 < starts.size and (block & 15) == 0:
            block >>= 4
            level += 1
    return np.int64(NO_ROW)


@kernel
def fill_first_reaching(
    tower: NDArray[np.int64],
    starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    least: NDArray[np.int64],
    out_position: NDArray[np.int64],
) -> None:
    """Write, for some rows, the first position of their slices that reaches their threshold; NO_ROW if none does."""
    for i in range(rows.size):
        row = rows[i]
        out_position[row] = next_reaching(tower, starts, low[row], high[row], least[row])


@kernel
def fill_ends_of_next(
    tower: NDArray[np.int64],
    starts: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    least: NDArray[np.int64],
    number: np.int64,
    out_end: NDArray[np.int64],
) -> None:
    """Write where the next so many positions end that reach each slice's threshold; if it has no more, its own end."""
    for i in range(low.size):
        position = low[i]
        for _ in range(number):
            position = next_reaching(tower, starts, position, high[i], least[i]) + 1
            if position <= 0:
                break
        out_end[i] = position if position > 0 else high[i]


@kernel
def mark_reaching(
    heights: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    least: NDArray[np.int64],
    by_least: NDArray[np.int64],
    next_free: NDArray[np.int64],
    out_marked: NDArray[np.bool_],
) -> None:
    """Mark the positions that reach the threshold of some slice around them.

    `by_least` holds the slices, the greatest threshold first; they are gone through backward, so that the first slice
    to come by a position is the one to ask. `next_free` holds every position, and one more: each leads, by some
    steps, to the next that no slice has come by.
    """
    for i in range(by_least.size - 1, -1, -1):
        own = by_least[i]
        position = low[own]
        while position < high[own]:
            if next_free[position] == position:
                out_marked[position] = heights[position] >= least[own]
                next_free[position] = position + 1
            else:
                next_free[position] = next_free[next_free[position]]
            position = next_free[position]


@kernel
def fill_reaching_pairs(
    tower: NDArray[np.int64],
    starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    least: NDArray[np.int64],
    cursor: NDArray[np.int64],
    out_row: NDArray[np.int64],
    out_position: NDArray[np.int64],
) -> int:
    """Write the pairs of some rows from the cursor on until they end or the outputs are full; return how many.

    The cursor is (place, position, end): where in `rows` and in the slice to go on, and where to stop; it moves along.
    """
    place = cursor[0]
    position = cursor[1]
    written = 0
    while place < cursor[2]:
        row = rows[place]
        position = next_reaching(tower, starts, max(position, low[row]), high[row], least[row])
        if position < 0:
            place += 1
            position = np.int64(0)
            continue
        if written == out_row.size:
            break
        out_row[written] = row
        out_position[written] = position
        written += 1
        position += 1
    cursor[0] = place
    cursor[1] = max(position, np.int64(0))
    return written


@dataclass(frozen=True, slots=True)
class Tower:
    """Heights in the order of their positions, with the levels of maxima above them."""

    levels: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def build(cls, heights: NDArray[np.int64]) -> Tower:
        """Stack maxima of 16 until one is left."""
        levels = [heights]
        while levels[-1].size > 1:
            maxima = np.empty((levels[-1].size + FAN - 1) >> FAN_BITS, np.int64)
            fill_maxima(levels[-1], maxima)
            levels.append(maxima)
        sizes = [level.size for level in levels]
        starts = np.cumsum([0, *sizes[:-1]], dtype=np.int64)
        return cls(np.concatenate(levels), starts)
