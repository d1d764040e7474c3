"""The stored side of a join by time in the order of (key, time), and where times fall in it.

Equality codes are packed above the time in one int64, as for slices. A time asked for becomes a *place*: the key that a
stored row of that code and time would have, or one step outside the stored times, which never leaves its code.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.columns.axis import MOST
from dovetail._core.kernels.memory import empty
from dovetail._core.kernels.merge import fill_places, positions_below
from dovetail._core.kernels.slices import taken
from dovetail._core.kernels.sort import sort_with_order
from dovetail._core.kernels.threads import shares, together
from dovetail._core.sweep.ranks import PACKED_BITS, dense_ranks, leaving_room

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    Codes = tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]

_NONE = np.empty(0, np.int64)
BESIDE = 2
"""Times before all stored ones, and behind them, have a place of their own."""


def fitted(
    stored: NDArray[np.int64], asked: Sequence[NDArray[np.int64]], codes: Codes
) -> tuple[list[NDArray[np.int64]], Codes]:
    """Stored times, then those asked for, and codes that fit above them: ranked together if they spread too wide."""
    ours, theirs = codes
    if ours is None or theirs is None:
        return [stored, *asked], codes
    most = max(int(own.max(initial=0)) for own in (ours, theirs))
    if _bits(stored) + most.bit_length() <= PACKED_BITS:
        return [stored, *asked], codes
    ranks, _ = dense_ranks(np.concatenate([stored, *asked]))
    times = np.split(ranks, np.cumsum([stored.size, *(own.size for own in asked)])[:-1])
    ours, theirs = leaving_room([ours, theirs], _bits(times[0]))
    return times, (ours, theirs)


def _bits(stored: NDArray[np.int64]) -> int:
    """How many bits tell stored times, and what lies beside them, apart."""
    return (int(stored.max()) - int(stored.min()) + BESIDE).bit_length() if stored.size else 0


@dataclass(frozen=True)
class Timeline:
    """Stored rows sorted by (code, time).

    `keys` ascend; `order` says which stored row stands at each position. With codes, the lowest `bits` of a key are the
    time's distance from `least`, counted from 1.
    """

    keys: NDArray[np.int64]
    order: NDArray[np.int64]
    threads: int
    bits: int = 0
    least: int = 0
    most: int = 0

    @classmethod
    def of(
        cls,
        stored: NDArray[np.int64],
        stored_codes: NDArray[np.int64] | None,
        asked: NDArray[np.int64],
        asked_codes: NDArray[np.int64] | None,
        threads: int,
    ) -> tuple[Timeline, NDArray[np.int64], NDArray[np.int64]]:
        """Sort stored times within their codes, and beside them those asked for; their places and rows, in order.

        Times and codes fit PACKED_BITS together.
        """
        bare = cls(_NONE, _NONE, threads)
        if stored_codes is not None and stored.size:
            least, most = int(stored.min()), int(stored.max())
            bare = replace(bare, bits=_bits(stored), least=least, most=most)
        sides = bare.places(stored_codes, stored), bare.places(asked_codes, asked)
        (keys, order), (places, rows) = together(threads, [partial(sort_with_order, own) for own in sides])
        return replace(bare, keys=keys, order=order), places, rows

    def places(self, codes: NDArray[np.int64] | None, at: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place of each time within its code."""
        if codes is None or not self.bits:
            return at
        out = empty(at.size, np.int64)
        packing = np.int64(self.least), np.int64(self.most), np.int64(self.bits)
        parts = shares(at.size, self.threads)
        together(self.threads, [partial(fill_places, codes[own], at[own], *packing, out[own]) for own in parts])
        return out

    def below(self, places: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many stored rows lie before the places of some rows, best given in order."""
        out = np.empty(rows.size, np.int64)
        calls = [
            partial(positions_below, self.keys, places, rows[own], out[own]) for own in shares(rows.size, self.threads)
        ]
        together(self.threads, calls)
        return out

    def up_to(self, places: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many stored rows lie at or before the places of some rows."""
        top = places == MOST
        found = self.below(places + ~top, rows)
        if top.any():
            found[top[rows]] = self.keys.size
        return found

    @cached_property
    def tied(self) -> NDArray[np.bool_]:
        """Whether each position has the same code and time as the one before it."""
        same = np.zeros(self.keys.size, np.bool_)
        np.equal(self.keys[1:], self.keys[:-1], out=same[1:])
        return same

    @cached_property
    def has_ties(self) -> bool:
        """Whether any two rows share their code and time."""
        return bool(self.tied.any())

    def first_tied(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The first position of the same code and time."""
        return self._firsts[positions] if self.has_ties else positions

    def after_tied(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The position after the last of the same code and time."""
        return self._afters[positions] if self.has_ties else positions + 1

    @cached_property
    def _firsts(self) -> NDArray[np.int64]:
        return np.maximum.accumulate(np.where(self.tied, 0, np.arange(self.keys.size)))

    @cached_property
    def _afters(self) -> NDArray[np.int64]:
        size = self.keys.size
        ends = np.where(np.append(self.tied[1:], False), size, np.arange(1, size + 1))
        return np.minimum.accumulate(ends[::-1])[::-1]

    def tied_rows(self) -> NDArray[np.int64]:
        """The positions that share their code and time with another one."""
        return np.flatnonzero(self.tied | np.append(self.tied[1:], False))

    def arranged(self, keys: Sequence[NDArray[np.int64]]) -> Timeline:
        """The same, with the tied rows ordered by further keys, one per `tied_rows`, the first one weighing most."""
        positions = self.tied_rows()
        group = np.cumsum(~self.tied)[positions]
        order = self.order.copy()
        order[positions] = self.order[positions][np.lexsort((*reversed(keys), group))]
        return replace(self, order=order)

    def take(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of the stored rows, in this order."""
        return taken(values, self.order, self.threads)
