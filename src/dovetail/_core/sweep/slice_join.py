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

from dovetail._core.kernels.slices import fill_slice_pairs, mark_covered
from dovetail._core.sweep.matches import CHUNK, Matches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Side
    from dovetail._core.sweep.bounds import Slices


@dataclass(frozen=True)
class SliceJoin:
    """The pairs of probing rows with all positions of their slices.

    Positions on the stored side are positions in `found.order`; on the probing side, in the probes as given.
    """

    found: Slices
    stored: Side

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        return np.cumsum(self.found.high - self.found.low)

    def count(self) -> int:
        """How many pairs there are."""
        return int(self._ends[-1]) if self._ends.size else 0

    def tasks(self, number: int) -> list[Iterator[Matches]]:
        """Split the pairs evenly, whatever row they belong to."""
        edges = np.linspace(0, self.count(), number + 1).astype(np.int64)
        return [self._pairs(int(a), int(b)) for a, b in pairwise(edges) if a < b]

    def _pairs(self, first: int, last: int) -> Iterator[Matches]:
        for start in range(first, last, CHUNK):
            size = min(CHUNK, last - start)
            rows, positions = np.empty(size, np.int64), np.empty(size, np.int64)
            fill_slice_pairs(self.found.low, self._ends, np.int64(start), rows, positions)
            yield Matches(rows, positions) if self.stored == "right" else Matches(positions, rows)

    def has_partner(self, side: Side) -> NDArray[np.bool_]:
        """A probe has a partner if its slice is not empty; a stored row, if a slice covers its position."""
        if side != self.stored:
            return self.found.low < self.found.high
        steps = np.zeros(self.found.order.size + 1, np.int64)
        mark_covered(self.found.low, self.found.high, steps)
        return np.cumsum(steps)[:-1] > 0
