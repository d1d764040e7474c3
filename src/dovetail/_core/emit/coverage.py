"""The rows of one input of an outer join over streams, and how far their pairs have covered them.

Pairs come in the order of their start. Where one starts behind what the pairs before it have covered, the row was
without a partner: a gap, or, seen from the other side, the end of a covered stretch. Neither is known before its end,
so that whatever starts later has to wait: `open_since` tells how long.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.emit.stretches import Stretches
from dovetail._core.kernels.coverage import cover

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Keys = NDArray[np.int64]


def _none() -> Keys:
    return np.empty(0, np.int64)


@dataclass(slots=True)
class Coverage:
    """Live rows by number, ascending; `covered`: whether covered stretches are asked for instead of gaps."""

    covered: bool
    number: Keys = field(default_factory=_none)
    end: Keys = field(default_factory=_none)
    begun: Keys = field(default_factory=_none)
    reached: Keys = field(default_factory=_none)

    def copy(self) -> Coverage:
        """The same, on arrays of its own: pairs are noted in place."""
        return Coverage(self.covered, self.number, self.end, self.begun.copy(), self.reached.copy())

    def insert(self, number: Keys, start: Keys, end: Keys) -> None:
        """Note new rows, none of them covered."""
        self.number, self.end = np.concatenate([self.number, number]), np.concatenate([self.end, end])
        self.begun, self.reached = np.concatenate([self.begun, start]), np.concatenate([self.reached, start])

    def see(self, number: Keys, start: Keys, end: Keys) -> Stretches:
        """Note pairs by start; return the stretches that they put an end to."""
        rows = np.searchsorted(self.number, number)
        out = [np.empty(rows.size, np.int64) for _ in range(4)]
        size = cover(rows, start, end, self.begun, self.reached, *out)
        row, begun, gap, until = (own[:size] for own in out)
        return self._stretches(self.number[row], begun, gap, until)

    def expire(self, before: int | None) -> Stretches:
        """Forget rows that end at or before an instant (None: all); return their last stretches."""
        ended = np.ones(self.end.size, np.bool_) if before is None else self.end <= before
        done, kept = np.flatnonzero(ended), np.flatnonzero(~ended)
        found = self._stretches(self.number[done], self.begun[done], self.reached[done], self.end[done])
        for name in ("number", "end", "begun", "reached"):
            setattr(self, name, getattr(self, name)[kept])
        return found

    def _stretches(self, number: Keys, begun: Keys, gap: Keys, until: Keys) -> Stretches:
        """What was covered, or the gap behind it, where it is not empty."""
        start, end = (begun, gap) if self.covered else (gap, until)
        some = np.flatnonzero(start < end)
        return Stretches(number[some], start[some], end[some])

    def open_since(self, before: int | None) -> int | None:
        """The earliest start of a stretch whose end is not known, among those open at an instant; None: none is."""
        open_ = self.begun if self.covered else self.reached
        some = open_[(self.begun < self.reached) if self.covered else np.ones(open_.size, np.bool_)]
        some = some if before is None else some[some < before]
        return int(some.min()) if some.size else None
