"""What is left of a row's validity where no partner is valid, and the stretches where one is.

At an instant at which a row is valid and no partner of it is, an outer join shows the row unmatched. The instants of
one row make up *stretches*: the gaps that its pairs leave (left, right, full, anti), or what they cover (semi).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.stretches import fill_gaps, merge_touching

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORTH_MERGING = 1 << 22
"""So many intervals are merged into stretches before more are kept: pairs may be many, stretches hardly are."""


@dataclass(frozen=True, slots=True)
class Stretches:
    """Intervals of some rows, in the order of (row, start)."""

    rows: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]


@dataclass(slots=True)
class Covered:
    """The intervals of pairs, by the row that they cover."""

    parts: list[Stretches] = field(default_factory=list)
    waiting: int = 0

    def add(self, rows: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64]) -> None:
        """Note some pairs."""
        self.parts.append(Stretches(rows, start, end))
        self.waiting += rows.size
        if self.waiting > WORTH_MERGING:
            merged = self.stretches()
            self.parts, self.waiting = [merged], merged.rows.size // 2

    def gaps(self, rows: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64]) -> Stretches:
        """Where the rows, which ascend, have none."""
        covered = self.stretches()
        room = rows.size + covered.rows.size
        out = [np.empty(room, np.int64) for _ in range(3)]
        size = fill_gaps(rows, start, end, covered.rows, covered.start, covered.end, *out)
        return Stretches(*(own[:size] for own in out))

    def stretches(self) -> Stretches:
        """Where rows have a partner."""
        nothing = np.empty(0, np.int64)
        rows, start, end = (
            np.concatenate([nothing, *(getattr(part, name) for part in self.parts)])
            for name in ("rows", "start", "end")
        )
        order = np.lexsort((start, rows))
        rows, start, end = rows[order], start[order], end[order]
        size = merge_touching(rows, start, end, rows, start, end)
        return Stretches(rows[:size], start[:size], end[:size])
