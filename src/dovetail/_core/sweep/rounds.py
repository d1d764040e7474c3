"""The first candidate of a slice that passes a test, for many slices at once.

Candidates are tested in rounds, twice as many per slice in each: never more than twice the tests that were needed, in
as many calls as the logarithm of the longest run of failures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import NO_ROW
from dovetail._core.sweep.matches import CHUNK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    PairTest = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]


def first_passing(
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    order: NDArray[np.int64],
    test: PairTest,
    *,
    backward: bool,
) -> NDArray[np.int64]:
    """The position nearest to the slice's end (backward) or start at which the test holds; NO_ROW if there is none."""
    out = np.full(low.size, NO_ROW)
    waiting = np.flatnonzero(low < high)
    low, high = low[waiting], high[waiting]
    size = 1
    while waiting.size:
        first = np.maximum(low, high - size) if backward else low
        last = high if backward else np.minimum(high, low + size)
        rows, positions = passing(waiting, first, last, order, test)
        nearest = np.append(rows[1:] != rows[:-1], True) if backward else np.append(True, rows[1:] != rows[:-1])
        out[rows[nearest[: rows.size]]] = positions[nearest[: rows.size]]
        low, high = (low, first) if backward else (last, high)
        left = (low < high) & (out[waiting] == NO_ROW)
        waiting, low, high = waiting[left], low[left], high[left]
        size *= 2
    return out


def passing(
    rows: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    order: NDArray[np.int64],
    test: PairTest | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs of rows with the positions of their slices for which a test holds, in order."""
    found = []
    for numbers, positions in _pieces(low, high):
        own = rows[numbers]
        holds = slice(None) if test is None else test(own, order[positions])
        found.append((own[holds], positions[holds]))
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    return np.concatenate([own for own, _ in found]), np.concatenate([positions for _, positions in found])


def _pieces(low: NDArray[np.int64], high: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    ends: NDArray[np.int64] = np.cumsum(high - low)
    total = int(ends[-1]) if ends.size else 0
    for start in range(0, total, CHUNK):
        pairs = np.arange(start, min(start + CHUNK, total))
        numbers: NDArray[np.int64] = np.searchsorted(ends, pairs, side="right")
        yield numbers, high[numbers] - (ends[numbers] - pairs)
