"""From comparisons to slices: which positions of the sorted side can match each row of the other.

Strict comparisons become closed bounds by one step on the integers, which saturates: nothing lies above the greatest
key, so such a row gets an empty slice instead of one that wraps around. Equality keys are packed above the value in one
int64, so that a slice never leaves its key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.search import SortedIndex
from dovetail._core.kernels.sort import sort_with_rows
from dovetail._core.sweep.ranks import dense_ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Op

LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
PACKED_BITS = 62


@dataclass(frozen=True, slots=True)
class Bounds:
    """Closed bounds on the stored value, one pair per probing row; empty where lower is above upper."""

    lower: NDArray[np.int64]
    upper: NDArray[np.int64]


def bounds(comparisons: Sequence[tuple[NDArray[np.int64], Op]], rows: int) -> Bounds:
    """Fold `probe <op> stored` comparisons on one stored value into bounds on it."""
    lower, upper = np.full(rows, LEAST), np.full(rows, MOST)
    for values, op in comparisons:
        if op.rises:
            own, empty = _above(values) if op.strict else (values, None)
            lower = np.maximum(lower, own)
        else:
            own, empty = _under(values) if op.strict else (values, None)
            upper = np.minimum(upper, own)
        if empty is not None and empty.any():
            lower[empty], upper[empty] = MOST, LEAST
    return Bounds(lower, upper)


def _above(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """One step up, and where there is none."""
    top = values == MOST
    return values + ~top, top


def _under(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """One step down, and where there is none."""
    bottom = values == LEAST
    return values - ~bottom, bottom


@dataclass(frozen=True, slots=True)
class Slices:
    """Where each probing row's candidates lie among the stored rows, sorted.

    `order` says which stored row stands at each position; the slice of probe i is `[low[i], high[i])`.
    """

    order: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]


def slices(
    stored: NDArray[np.int64],
    wanted: Bounds,
    stored_codes: NDArray[np.int64] | None = None,
    probe_codes: NDArray[np.int64] | None = None,
) -> Slices:
    """Sort the stored values, within their codes, and find each probe's slice."""
    empty = wanted.lower > wanted.upper
    if stored_codes is not None and probe_codes is not None:
        stored, wanted, empty = _packed(stored, wanted, stored_codes, probe_codes)
    keys, order = sort_with_rows(stored, np.arange(stored.size))
    index = SortedIndex.build(keys)
    low = index.below(wanted.lower)
    above, top = _above(wanted.upper)
    high = index.below(above)
    high[top] = keys.size
    high[empty] = low[empty]
    return Slices(order, low, np.maximum(low, high))


def _packed(
    stored: NDArray[np.int64], wanted: Bounds, stored_codes: NDArray[np.int64], probe_codes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Bounds, NDArray[np.bool_]]:
    """Put the code above the value: one int64 orders by (code, value)."""
    if stored.size == 0:
        return stored, wanted, wanted.lower > wanted.upper
    code_bits = int(max(stored_codes.max(), probe_codes.max(initial=0))).bit_length()
    if (int(stored.max()) - int(stored.min())).bit_length() + code_bits > PACKED_BITS:
        stored, wanted = _ranked(stored, wanted)
    least, most = stored.min(), stored.max()
    bits = (int(most) - int(least)).bit_length()
    empty = (wanted.lower > wanted.upper) | (wanted.lower > most) | (wanted.upper < least)
    prefix = probe_codes << bits
    lower = prefix | (np.clip(wanted.lower, least, most) - least)
    upper = prefix | (np.clip(wanted.upper, least, most) - least)
    return (stored_codes << bits) | (stored - least), Bounds(lower, upper), empty


def _ranked(stored: NDArray[np.int64], wanted: Bounds) -> tuple[NDArray[np.int64], Bounds]:
    """Replace values by their ranks among the stored ones: the same slices in far fewer bits."""
    ranks, distinct = dense_ranks(stored)
    index = SortedIndex.build(distinct)
    above, top = _above(wanted.upper)
    last = index.below(above) - 1
    last[top] = distinct.size - 1
    empty = wanted.lower > wanted.upper
    return ranks, Bounds(np.where(empty, 1, index.below(wanted.lower)), np.where(empty, 0, last))
