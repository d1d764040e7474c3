"""Sampled anchor rows as spans of the number line: from the value of one comparison to that of another.

Of an interval, or of a point, which ends where it starts, both values are known to lie close together. A cell that is
bounded in one of them is thus bounded in the other, too: rows of the other side that lie far off need not come.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places = NDArray[np.float64]

ROUNDING = 1e-15
"""More than all roundings of a sum of two places, relative to these."""


@dataclass(frozen=True, slots=True)
class Span:
    """Where rows start (a comparison that rises: the other side lies above), and where they end (one that falls).

    No row of the anchor, sampled or not, is longer than `longest`. `met_by_start` and `met_by_end` are where the other
    side's sampled rows lie in the two comparisons.
    """

    rising: int
    falling: int
    longest: float
    start: Places
    end: Places
    met_by_start: Places
    met_by_end: Places

    @property
    def length(self) -> Places:
        """How long each sampled row is; what is no number is longer than all."""
        with np.errstate(invalid="ignore"):
            length = self.end - self.start
        return np.where(np.isnan(length), inf, length)

    def pick(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> Span:
        """Some sampled rows of either side."""
        ends = self.start[left], self.end[left], self.met_by_start[right], self.met_by_end[right]
        return Span(self.rising, self.falling, self.longest, *ends)

    def turned(self) -> Span:
        """The other side's rows in place of the anchor's."""
        ends = self.met_by_start, self.met_by_end, self.start, self.end
        return Span(self.rising, self.falling, self.longest, *ends)

    def least(self, end: float, length: float) -> float:
        """What lies below every start of rows that end at `end` or above and are no longer than that."""
        return -inf if isinf(end) or isinf(length) else end - length - _slack(end, length)

    def most(self, start: float, length: float) -> float:
        """What lies above every end of rows that start below `start` and are no longer than that."""
        return inf if isinf(start) or isinf(length) else start + length + _slack(start, length)


def _slack(place: float, length: float) -> float:
    return (abs(place) + abs(length)) * ROUNDING
