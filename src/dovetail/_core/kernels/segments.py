"""Sums and maxima over slices of a sorted array.

Over blocks of 16 positions stands a binary tree: an array of 2m for m blocks, the blocks at m + number, the fold of
nodes 2i and 2i + 1 at i. A slice is the rest of two blocks and some nodes between them: no subtraction, so no rounding
is carried along, and a slice a hundred times longer costs a few nodes more.

Doubles are added up with what rounding loses kept beside the sum, in twice the precision of a double: the error of a
slice depends on its own values alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.adding import lost_by_adding
from dovetail._core.kernels.compile import kernel, piece

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST = np.iinfo(np.int64).min
BLOCK_BITS = 4
BLOCK = 1 << BLOCK_BITS


@kernel
def fill_running_totals(
    values: NDArray[np.float64], out_total: NDArray[np.float64], out_lost: NDArray[np.float64]
) -> None:
    """Write the running sum, and beside it what rounding has lost."""
    total = 0.0
    lost = 0.0
    for i in range(values.size):
        lost += lost_by_adding(total, values[i])
        total += values[i]
        out_total[i] = total
        out_lost[i] = lost


@kernel
def fill_total_tree(values: NDArray[np.float64], total: NDArray[np.float64], lost: NDArray[np.float64]) -> None:
    """Add up every block, then fold the blocks up to the root."""
    blocks = total.size // 2
    for block in range(blocks):
        high = 0.0
        low = 0.0
        for i in range(block << 4, min(values.size, (block + 1) << 4)):
            low += lost_by_adding(high, values[i])
            high += values[i]
        total[blocks + block] = high
        lost[blocks + block] = low
    for node in range(blocks - 1, 0, -1):
        one = total[2 * node]
        other = total[2 * node + 1]
        total[node] = one + other
        lost[node] = lost[2 * node] + lost[2 * node + 1] + lost_by_adding(one, other)


@piece
def with_nodes(
    total: NDArray[np.float64], lost: NDArray[np.float64], one: int, other: int, high: float, low: float
) -> tuple[float, float]:
    """Add the nodes that cover the leaves from `one` up to `other` to a sum and to what rounding has lost of it."""
    while one < other:
        if one & 1:
            low += lost[one] + lost_by_adding(high, total[one])
            high += total[one]
            one += 1
        if other & 1:
            other -= 1
            low += lost[other] + lost_by_adding(high, total[other])
            high += total[other]
        one >>= 1
        other >>= 1
    return high, low


@kernel
def totals_of_slices(
    values: NDArray[np.float64],
    total: NDArray[np.float64],
    lost: NDArray[np.float64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    out_total: NDArray[np.float64],
    out_lost: NDArray[np.float64],
) -> None:
    """Write the sum of every slice, and beside it what rounding has lost."""
    blocks = total.size // 2
    for row in range(first.size):
        start = first[row]
        end = last[row]
        left = (start + 15) >> 4
        right = end >> 4
        head = left << 4
        if left >= right:
            left = right
            head = end
        high = 0.0
        low = 0.0
        for i in range(start, head):
            low += lost_by_adding(high, values[i])
            high += values[i]
        if left < right:
            for i in range(right << 4, end):
                low += lost_by_adding(high, values[i])
                high += values[i]
        out_total[row], out_lost[row] = with_nodes(total, lost, left + blocks, right + blocks, high, low)


@kernel
def fill_max_tree(values: NDArray[np.int64], tree: NDArray[np.int64]) -> None:
    """Take the maximum of every block, then fold the blocks up to the root."""
    blocks = tree.size // 2
    for block in range(blocks):
        most = np.int64(-9223372036854775808)
        for i in range(block << 4, min(values.size, (block + 1) << 4)):
            most = max(most, values[i])
        tree[blocks + block] = most
    for node in range(blocks - 1, 0, -1):
        tree[node] = max(tree[2 * node], tree[2 * node + 1])


@kernel
def maxima_of_slices(
    values: NDArray[np.int64],
    tree: NDArray[np.int64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    out_most: NDArray[np.int64],
) -> None:
    """Write the greatest value of every slice; LEAST if it is empty."""
    blocks = tree.size // 2
    for row in range(first.size):
        start = first[row]
        end = last[row]
        left = (start + 15) >> 4
        right = end >> 4
        most = np.int64(-9223372036854775808)
        if left >= right:
            for i in range(start, end):
                most = max(most, values[i])
            out_most[row] = most
            continue
        for i in range(start, left << 4):
            most = max(most, values[i])
        for i in range(right << 4, end):
            most = max(most, values[i])
        one = left + blocks
        other = right + blocks
        while one < other:
            if one & 1:
                most = max(most, tree[one])
                one += 1
            if other & 1:
                other -= 1
                most = max(most, tree[other])
            one >>= 1
            other >>= 1
        out_most[row] = most


@kernel
def sum_of_slice(tree: NDArray[np.int64], low: np.int64, high: np.int64) -> np.int64:
    """Add the leaves of `[low, high)` of a tree that has a leaf for every position."""
    size = tree.size // 2
    total = np.int64(0)
    left = low + size
    right = high + size
    while left < right:
        if left & 1:
            total += tree[left]
            left += 1
        if right & 1:
            right -= 1
            total += tree[right]
        left >>= 1
        right >>= 1
    return total


@kernel
def max_of_slice(tree: NDArray[np.int64], low: np.int64, high: np.int64) -> np.int64:
    """Return the greatest leaf of `[low, high)` of a tree with a leaf for every position; LEAST if there is none."""
    size = tree.size // 2
    most = np.int64(-9223372036854775808)
    left = low + size
    right = high + size
    while left < right:
        if left & 1:
            most = max(most, tree[left])
            left += 1
        if right & 1:
            right -= 1
            most = max(most, tree[right])
        left >>= 1
        right >>= 1
    return most


@kernel
def sums_above_threshold(
    values: NDArray[np.int64],
    heights: NDArray[np.int64],
    by_height: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    least: NDArray[np.int64],
    by_least: NDArray[np.int64],
    tree: NDArray[np.int64],
    out_sum: NDArray[np.int64],
) -> None:
    """Write, per row, the sum over the positions of its slice whose height reaches its threshold.

    `by_height` and `by_least` list positions and rows from the greatest down: a position enters the tree (zeros at
    first) just before the first row that it reaches.
    """
    size = tree.size // 2
    entered = 0
    for i in range(by_least.size):
        row = by_least[i]
        while entered < by_height.size and heights[by_height[entered]] >= least[row]:
            node = by_height[entered] + size
            value = values[by_height[entered]]
            while node > 0:
                tree[node] += value
                node >>= 1
            entered += 1
        out_sum[row] = sum_of_slice(tree, low[row], high[row])


@kernel
def totals_above_threshold(
    values: NDArray[np.float64],
    heights: NDArray[np.int64],
    by_height: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    least: NDArray[np.int64],
    by_least: NDArray[np.int64],
    total: NDArray[np.float64],
    lost: NDArray[np.float64],
    out_total: NDArray[np.float64],
    out_lost: NDArray[np.float64],
) -> None:
    """Write, per row, the sum of doubles at the positions of its slice whose height reaches its threshold.

    As `sums_above_threshold`; a second tree holds what rounding has lost in every node of the first, and goes with it.
    """
    size = total.size // 2
    entered = 0
    for i in range(by_least.size):
        row = by_least[i]
        while entered < by_height.size and heights[by_height[entered]] >= least[row]:
            node = by_height[entered] + size
            value = values[by_height[entered]]
            while node > 0:
                lost[node] += lost_by_adding(total[node], value)
                total[node] += value
                node >>= 1
            entered += 1
        out_total[row], out_lost[row] = with_nodes(total, lost, low[row] + size, high[row] + size, 0.0, 0.0)


@kernel
def maxima_above_threshold(
    values: NDArray[np.int64],
    heights: NDArray[np.int64],
    by_height: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    least: NDArray[np.int64],
    by_least: NDArray[np.int64],
    tree: NDArray[np.int64],
    out_most: NDArray[np.int64],
) -> None:
    """Write, per row, the greatest value at the positions of its slice whose height reaches its threshold.

    As `sums_above_threshold`; the tree starts full of LEAST, which is also the answer of an empty slice.
    """
    size = tree.size // 2
    entered = 0
    for i in range(by_least.size):
        row = by_least[i]
        while entered < by_height.size and heights[by_height[entered]] >= least[row]:
            node = by_height[entered] + size
            value = values[by_height[entered]]
            while node > 0 and tree[node] < value:
                tree[node] = value
                node >>= 1
            entered += 1
        out_most[row] = max_of_slice(tree, low[row], high[row])
