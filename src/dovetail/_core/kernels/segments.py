"""Sums and maxima over slices of a sorted array, by a segment tree: no subtraction, so no rounding is carried along.

A tree over n positions is an array of 2n: the leaves at n + position, the fold of nodes 2i and 2i + 1 at i.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail._core.kernels.compile import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST = np.iinfo(np.int64).min


@kernel
def fill_running_sums(values: NDArray[np.float64], out_sum: NDArray[np.float64]) -> None:
    """Write the running sum, with what rounding loses carried along (Neumaier's summation)."""
    total = 0.0
    lost = 0.0
    for i in range(values.size):
        value = values[i]
        longer = total + value
        if abs(total) >= abs(value):
            lost += (total - longer) + value
        else:
            lost += (value - longer) + total
        total = longer
        out_sum[i] = total + lost if np.isfinite(lost) else total


@kernel
def fill_sum_tree(tree: NDArray[np.float64]) -> None:
    """Fold the leaves, already in place, up to the root."""
    for node in range(tree.size // 2 - 1, 0, -1):
        tree[node] = tree[2 * node] + tree[2 * node + 1]


@kernel
def fill_max_tree(tree: NDArray[np.int64]) -> None:
    """Fold the leaves, already in place, up to the root."""
    for node in range(tree.size // 2 - 1, 0, -1):
        tree[node] = max(tree[2 * node], tree[2 * node + 1])


@kernel
def sum_of_slice(tree: NDArray[Any], low: np.int64, high: np.int64) -> Any:
    """Add the leaves of `[low, high)`."""
    size = tree.size // 2
    total = tree[0] * 0
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
    """Return the greatest leaf of `[low, high)`; LEAST if the slice is empty."""
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
def sums_of_slices(
    tree: NDArray[np.float64], low: NDArray[np.int64], high: NDArray[np.int64], out_sum: NDArray[np.float64]
) -> None:
    """Write the sum of every slice."""
    for row in range(low.size):
        out_sum[row] = sum_of_slice(tree, low[row], high[row])


@kernel
def maxima_of_slices(
    tree: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64], out_most: NDArray[np.int64]
) -> None:
    """Write the greatest leaf of every slice."""
    for row in range(low.size):
        out_most[row] = max_of_slice(tree, low[row], high[row])


@kernel
def sums_above_threshold(
    values: NDArray[Any],
    heights: NDArray[np.int64],
    by_height: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    least: NDArray[np.int64],
    by_least: NDArray[np.int64],
    tree: NDArray[Any],
    out_sum: NDArray[Any],
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
