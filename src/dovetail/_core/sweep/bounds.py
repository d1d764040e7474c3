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
from dovetail._core.kernels.search import SortedIndex, Walk, step
from dovetail._core.kernels.slices import taken
from dovetail._core.kernels.sort import sort_with_order
from dovetail._core.kernels.threads import shares, together
from dovetail._core.sweep.ranks import PACKED_BITS, dense_ranks, leaving_room

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Op

WORTH_ORDER = 1 << 15
"""Fewer stored keys than this stay in the cache of a core, whatever the order in which they are looked up."""
FAR_APART = 4
"""With more stored keys than this for each probe, a walk past all of them takes longer than an index and look-ups."""


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
    lower: list[NDArray[np.int64]] = []
    upper: list[NDArray[np.int64]] = []
    dead = []
    for values, op in comparisons:
        end = MOST if op.rises else LEAST
        closed, stood = _stepped(values, end) if op.strict else (values, False)
        (lower if op.rises else upper).append(closed)
        if stood:
            dead.append(values == end)
    found = Bounds(rows, reduce(np.maximum, lower) if lower else None, reduce(np.minimum, upper) if upper else None)
    if not dead:
        return found
    none = reduce(np.logical_or, dead)
    below, above = found.closed()
    return Bounds(rows, np.where(none, MOST, below), np.where(none, LEAST, above))


def _stepped(values: NDArray[np.int64], end: int) -> tuple[NDArray[np.int64], bool]:
    """One step towards an end of the axis, which saturates; and whether any value stood there."""
    out = empty(values.size, np.int64)
    return out, step(values, np.int64(1 if end > 0 else -1), np.int64(end), out)


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
    return _found(SortedIndex.build(keys), order, wanted, np.arange(wanted.rows), threads)


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
    if wanted.lower is not None and wanted.upper is not None:
        wanted = Bounds(wanted.rows, lead, taken(wanted.upper, probes, threads))
        return _found(SortedIndex.build(keys), order, wanted, probes, threads)
    index = Walk(keys) if keys.size <= FAR_APART * lead.size else SortedIndex.build(keys)
    wanted = Bounds(wanted.rows, None, lead) if wanted.lower is None else Bounds(wanted.rows, lead, None)
    return _found(index, order, wanted, probes, threads)


def _found(
    index: SortedIndex | Walk,
    order: NDArray[np.int64],
    wanted: Bounds,
    probes: NDArray[np.int64],
    threads: int,
) -> Slices:
    """Look up bounds that stand in the order of `probes`."""
    low, high = empty(wanted.rows, np.int64), empty(wanted.rows, np.int64)

    def look_up(own: slice) -> None:
        low[own] = 0
        if wanted.lower is not None:
            index.below(wanted.lower[own], low[own])
        high[own] = index.keys.size
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
        stored_codes, probe_codes = leaving_room([stored_codes, probe_codes], int(stored.max()).bit_length())
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
