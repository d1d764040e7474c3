"""Join by slices: every position of a probing row's slice is a partner.

Meaning      {(p, s) : lower(p) <= at(s) <= upper(p)}, within equal codes if there are any.
Needs        nothing of the input's order; sorts the stored side itself.
How          stored, sorted:   1  3  4  4  8  9        probe 3..4   -> positions 1..3
                                  [------)             probe 5..7   -> empty
                                           [)          probe 8..    -> positions 4..5
Edges        ties are inside closed bounds; an empty side or an impossible bound gives empty slices.
State        the order of the stored side and two positions per probe; pairs are written chunk by chunk.
Worst case   O((n + m) log n + pairs); memory O(n + m) + a chunk.
Source       the sort-based band join; our own for the slice as the common form of one-sided and two-sided bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.memory import empty, zeros
from dovetail._core.kernels.slices import copy_slices, mark_covered, repeat_values
from dovetail._core.sweep.matches import CHUNK

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Side
    from dovetail._core.sweep.bounds import Slices
    from dovetail._core.sweep.matches import Matches


@dataclass(frozen=True)
class SlicedMatches:
    """The pairs numbered from `first` on: each probe's value repeated, each slice a stretch of stored values."""

    join: SliceJoin
    first: int
    size: int

    @cached_property
    def left_rows(self) -> NDArray[np.int64]:
        """The left position of each pair."""
        return self.spread("left", self.join.positions["left"])

    @cached_property
    def right_rows(self) -> NDArray[np.int64]:
        """The right position of each pair."""
        return self.spread("right", self.join.positions["right"])

    def spread(self, side: Side, values: NDArray[Any]) -> NDArray[Any]:
        """Copy stretches of the stored side, or repeat values of the other."""
        out = empty(self.size, values.dtype)
        if side == self.join.stored:
            copy_slices(values, self.join.found.low, self.join.ends, np.int64(self.first), out)
        else:
            repeat_values(values, self.join.ends, np.int64(self.first), out)
        return out


@dataclass(frozen=True)
class SliceJoin:
    """The pairs of probing rows with all positions of their slices.

    Positions on the stored side are positions in `found.order`; on the probing side, in the probes as given.
    """

    found: Slices
    stored: Side

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """How many pairs there are up to and with each probe."""
        return np.cumsum(self.found.high - self.found.low)

    @cached_property
    def positions(self) -> dict[Side, NDArray[np.int64]]:
        """All positions of either side."""
        stored, probes = np.arange(self.found.order.size), np.arange(self.found.low.size)
        return {"left": probes, "right": stored} if self.stored == "right" else {"left": stored, "right": probes}

    def count(self) -> int:
        """How many pairs there are."""
        return int(self.ends[-1]) if self.ends.size else 0

    def some(self, probes: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]) -> SliceJoin:
        """Some of the probes, numbered anew, with other slices."""
        return SliceJoin(self.found.some(probes, low, high), self.stored)

    def ends_of_next(self, probes: NDArray[np.int64], low: NDArray[np.int64], number: int) -> NDArray[np.int64]:
        """Where the next so many candidates of some probes end, from a position on."""
        return np.minimum(self.found.high[probes], low + number)

    def tasks(self, number: int, chunk: int = CHUNK) -> list[Iterator[Matches]]:
        """Split the pairs evenly, whatever row they belong to."""
        edges = np.linspace(0, self.count(), number + 1).astype(np.int64)
        return [self._pairs(int(a), int(b), chunk) for a, b in pairwise(edges) if a < b]

    def _pairs(self, first: int, last: int, chunk: int) -> Iterator[Matches]:
        for start in range(first, last, chunk):
            yield SlicedMatches(self, start, min(chunk, last - start))

    def partners(self, side: Side) -> NDArray[np.bool_]:
        """A probe has a partner if its slice is not empty; a stored row, if a slice covers its position."""
        if side != self.stored:
            return self.found.low < self.found.high
        steps = zeros(self.found.order.size + 1, np.int64)
        mark_covered(self.found.low, self.found.high, steps)
        return np.cumsum(steps)[:-1] > 0
