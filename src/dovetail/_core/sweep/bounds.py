"""From comparisons to slices: which positions of the sorted side can match each row of the other.

Strict comparisons become closed bounds by one step on the integers, which saturates: nothing lies above the greatest
key, so such a row gets an empty slice instead of one that wraps around. Equality keys are packed above the value in one
int64, so that a slice never leaves its key.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.columns.axis import LEAST, MOST
from dovetail._core.kernels.memory import empty
from dovetail._core.kernels.search import SortedIndex
from dovetail._core.kernels.slices import taken
from dovetail._core.kernels.sort import sort_with_order
from dovetail._core.kernels.threads import shares, together
from dovetail._core.sweep.ranks import PACKED_BITS, dense_ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Op

WORTH_ORDER = 1 << 15
"""Fewer stored keys than this stay in the cache of a core, whatever the order in which they are looked up."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Closed bounds on the stored value, one pair per probing row; None: that side is open for all rows.

    A row whose lower bound is above its upper one has no partner.
    """

    rows: int
    lower: NDArray[np.int64] | None
    upper: NDArray[np.int64] | None

    def closed(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Both bounds, open ones at the ends of the axis."""
        lower = np.full(self.rows, LEAST) if self.lower is None else self.lower
        return lower, np.full(self.rows, MOST) if self.upper is None else self.upper


def bounds(comparisons: Sequence[tuple[NDArray[np.int64], Op]], rows: int) -> Bounds:
    """Fold `probe <op> stored` comparisons on one stored value into bounds on it."""
    lower = [_above(values) if op.strict else values for values, op in comparisons if op.rises]
    upper = [_under(values) if op.strict else values for values, op in comparisons if not op.rises]
    found = Bounds(rows, reduce(np.maximum, lower) if lower else None, reduce(np.minimum, upper) if upper else None)
    dead = [values == (MOST if op.rises else LEAST) for values, op in comparisons if op.strict]
    if not any(own.any() for own in dead):
        return found
    none = reduce(np.logical_or, dead)
    below, above = found.closed()
    return Bounds(rows, np.where(none, MOST, below), np.where(none, LEAST, above))


def _above(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """One step up; the greatest key stays where it is."""
    stepped: NDArray[np.int64] = values + (values != MOST)
    return stepped


def _under(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """One step down; the least key stays where it is."""
    stepped: NDArray[np.int64] = values - (values != LEAST)
    return stepped


@dataclass(frozen=True, slots=True)
class Slices:
    """Where each probing row's candidates lie among the stored rows, sorted.

    `order` says which stored row stands at each position, `probes` which probing row is the i-th; the slice of the i-th
    is `[low[i], high[i])`.
    """

    order: NDArray[np.int64]
    probes: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]

    def some(self, numbers: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]) -> Slices:
        """Other slices, of those probing rows that have these numbers."""
        return Slices(self.order, self.probes[numbers], low, high)


def slices(
    stored: NDArray[np.int64],
    wanted: Bounds,
    stored_codes: NDArray[np.int64] | None = None,
    probe_codes: NDArray[np.int64] | None = None,
    threads: int = 1,
) -> Slices:
    """Sort the stored values, within their codes, and find each probe's slice, the probes as they stand."""
    if stored_codes is not None and probe_codes is not None:
        stored, wanted = _packed(stored, wanted, stored_codes, probe_codes)
    keys, order = sort_with_order(stored)
    return _found(keys, order, wanted, np.arange(wanted.rows), threads)


def ordered_slices(
    stored: NDArray[np.int64],
    wanted: Bounds,
    stored_codes: NDArray[np.int64] | None = None,
    probe_codes: NDArray[np.int64] | None = None,
    threads: int = 1,
) -> Slices:
    """Sort both sides, then find each probe's slice: neighbours look next to each other, where the cache is warm.

    A stored side that the cache holds anyway is not worth it.
    """
    lead = wanted.upper if wanted.lower is None else wanted.lower
    if stored.size < WORTH_ORDER or lead is None:
        return slices(stored, wanted, stored_codes, probe_codes, threads)
    if stored_codes is not None and probe_codes is not None:
        stored, wanted = _packed(stored, wanted, stored_codes, probe_codes)
        lead = wanted.upper if wanted.lower is None else wanted.lower
        assert lead is not None
    (keys, order), (lead, probes) = together(threads, [partial(sort_with_order, own) for own in (stored, lead)])
    if wanted.lower is None:
        return _found(keys, order, Bounds(wanted.rows, None, lead), probes, threads)
    upper = None if wanted.upper is None else taken(wanted.upper, probes)
    return _found(keys, order, Bounds(wanted.rows, lead, upper), probes, threads)


def _found(
    keys: NDArray[np.int64], order: NDArray[np.int64], wanted: Bounds, probes: NDArray[np.int64], threads: int
) -> Slices:
    """Look up bounds that stand in the order of `probes`."""
    index = SortedIndex.build(keys)
    low, high = empty(wanted.rows, np.int64), empty(wanted.rows, np.int64)

    def look_up(own: slice) -> None:
        low[own] = 0
        if wanted.lower is not None:
            index.below(wanted.lower[own], low[own])
        high[own] = keys.size
        if wanted.upper is not None:
            index.up_to(wanted.upper[own], high[own])
        np.maximum(low[own], high[own], out=high[own])

    together(threads, [partial(look_up, own) for own in shares(wanted.rows, threads)])
    return Slices(order, probes, low, high)


def _packed(
    stored: NDArray[np.int64], wanted: Bounds, stored_codes: NDArray[np.int64], probe_codes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Bounds]:
    """Put the code above the value: one int64 orders by (code, value)."""
    if stored.size == 0:
        return stored, wanted
    code_bits = int(max(stored_codes.max(), probe_codes.max(initial=0))).bit_length()
    if (int(stored.max()) - int(stored.min())).bit_length() + code_bits > PACKED_BITS:
        stored, wanted = _ranked(stored, wanted)
    least, most = stored.min(), stored.max()
    bits = (int(most) - int(least)).bit_length()
    lower, upper = wanted.closed()
    empty = (lower > upper) | (lower > most) | (upper < least)
    prefix = probe_codes << bits
    first = prefix | (np.clip(lower, least, most) - least)
    last = prefix | (np.clip(upper, least, most) - least)
    first[empty], last[empty] = 0, -1
    return (stored_codes << bits) | (stored - least), Bounds(wanted.rows, first, last)


def _ranked(stored: NDArray[np.int64], wanted: Bounds) -> tuple[NDArray[np.int64], Bounds]:
    """Replace values by their ranks among the stored ones: the same slices in far fewer bits."""
    ranks, distinct = dense_ranks(stored)
    index = SortedIndex.build(distinct)
    lower, upper = wanted.closed()
    first, last = empty(wanted.rows, np.int64), empty(wanted.rows, np.int64)
    index.below(lower, first)
    index.up_to(upper, last)
    return ranks, Bounds(wanted.rows, first, np.where(lower > upper, -1, last - 1))
