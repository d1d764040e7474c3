"""Slices cut into tiles: one probe beside a power of two of stored positions in a row.

Meaning      the pairs of a slice join, two numbers for each tile of them instead of two for each pair. Pair n of a size
             of tiles is the probe of tile n >> shift with the position first + (n & mask).
Needs        slices; nothing of their order.
How          slice 3..12, tiles of 4, then of 1:    [3 4 5 6] [7 8 9 10]    [11] [12]
Edges        an empty slice has no tile; a size that no slice fills has none either.
State        about four of the largest tiles for each probe, and of every smaller size half as many as fill the next.
Worst case   O(probes + tiles).
Source       our own, for hosts that count faster than they can be told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.sweep.overlap_join import OverlapJoin
from dovetail._core.sweep.slice_join import SliceJoin

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dovetail._core.sweep.matches import Pairs

STEP = 3
"""Tiles of one size are so many bits longer than those of the next."""
SPARE = 2
"""The largest tiles are so many bits shorter than the mean slice."""


@dataclass(frozen=True, slots=True)
class Tiles:
    """Tiles of one size, each with its probe and its first stored position."""

    shift: int
    probes: NDArray[np.int32]
    firsts: NDArray[np.int32]

    @property
    def pairs(self) -> int:
        """How many pairs they hold."""
        return self.probes.size << self.shift


def slice_joins(pairs: Pairs) -> tuple[SliceJoin, ...] | None:
    """The slice joins that together have all pairs, in the positions of both sides; None if slices do not tell them."""
    if isinstance(pairs, SliceJoin):
        return (pairs,)
    parts = pairs.parts if isinstance(pairs, OverlapJoin) else ()
    in_place = [part.pairs for part in parts if part.left is None and part.right is None]
    found = tuple(own for own in in_place if isinstance(own, SliceJoin))
    return found if found and len(found) == len(parts) else None


def cut_tiles(join: SliceJoin) -> list[Tiles]:
    """All pairs of a slice join, in tiles of falling size."""
    first, rest = join.found.low.copy(), join.found.high - join.found.low
    found = []
    for shift in _shifts(rest):
        number = rest >> shift
        probes = np.repeat(np.arange(number.size, dtype=np.int32), number)
        nth = np.arange(probes.size) - np.repeat(np.cumsum(number) - number, number)
        found.append(Tiles(shift, probes, (first[probes] + (nth << shift)).astype(np.int32)))
        first += number << shift
        rest -= number << shift
    return [own for own in found if own.probes.size]


def _shifts(lengths: NDArray[np.int64]) -> list[int]:
    """The sizes of tiles that suit slices of such lengths, as powers of two, down to single pairs."""
    mean = lengths.sum() / max(1, np.count_nonzero(lengths > 0))
    largest = max(0, int(mean).bit_length() - 1 - SPARE)
    return [*range(largest, 0, -STEP), 0]
