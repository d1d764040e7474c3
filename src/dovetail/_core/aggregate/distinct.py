"""Counting different values, which no lane can: a value counts where it is met for the first time.

In a slice, that is where its previous occurrence lies before the slice: the previous position is a height, the start of
the slice a threshold, and one sweep from the greatest threshold down counts for all slices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.first_met import count_first_met
from dovetail._core.kernels.segments import LEAST, sums_above_threshold
from dovetail._core.kernels.sort import sort_with_order
from dovetail._core.sweep.matches import CHUNK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Side
    from dovetail._core.sweep.matches import Matches


def distinct_in_slices(codes: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the different codes in each slice; `codes` stand in the slices' order, -1 does not count."""
    out = np.zeros(low.size, np.int64)
    if codes.size == 0:
        return out
    heights, least = _heights(codes), -low
    by_height, by_least = (np.argsort(own, kind="stable")[::-1] for own in (heights, least))
    counted = by_height[: np.count_nonzero(heights != LEAST)]
    ones, tree = np.ones(codes.size, np.int64), np.zeros(2 * codes.size, np.int64)
    sums_above_threshold(ones, heights, counted, low, high, least, by_least, tree, out)
    return out


def _heights(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The previous position of the same code, turned round: 0 for the first one, lower the later the previous one."""
    keys, positions = sort_with_order(codes)
    heights = np.zeros(codes.size, np.int64)
    again = np.flatnonzero(keys[1:] == keys[:-1]) + 1
    heights[positions[again]] = -1 - positions[again - 1]
    heights[codes < 0] = LEAST
    return heights


def distinct_in_pairs(
    codes: NDArray[np.int64], pieces: Callable[[], Iterable[Matches]], per: Side, size: int
) -> NDArray[np.int64]:
    """Count the different codes among each row's partners; `codes` stand in the positions of the other side.

    Most joins tell their pairs row by row; only where one does not, the pairs must be sorted.
    """
    out = np.zeros(size, np.int64)
    last = np.full(int(codes.max(initial=-1)) + 1, -1)
    before = np.int64(0)
    for own, met in _met(codes, pieces(), per):
        before = count_first_met(own, met, before, last, out)
        if before < 0:
            return _by_sorting(_met(codes, pieces(), per), last.size, size)
    return out


def _met(
    codes: NDArray[np.int64], pieces: Iterable[Matches], per: Side
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The rows and the codes that they meet."""
    for found in pieces:
        own, other = (found.left_rows, found.right_rows) if per == "left" else (found.right_rows, found.left_rows)
        met = codes[other]
        counted = met >= 0
        yield (own, met) if counted.all() else (own[counted], met[counted])


def _by_sorting(
    pieces: Iterable[tuple[NDArray[np.int64], NDArray[np.int64]]], base: int, size: int
) -> NDArray[np.int64]:
    """Sort what has been met whenever it has doubled: each pair a few times in all, not with every piece."""
    seen, room = [np.empty(0, np.int64)], CHUNK
    for own, met in pieces:
        seen.append(own * base + met)
        if sum(part.size for part in seen) > room:
            seen = [_different(np.concatenate(seen))]
            room = 2 * seen[0].size + CHUNK
    return np.bincount(_different(np.concatenate(seen)) // max(1, base), minlength=size)


def _different(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each key once, by sorting, which NumPy's own way with hashes is no match for."""
    keys.sort()
    return keys[np.flatnonzero(np.diff(keys, prepend=keys[:1] - 1))]
