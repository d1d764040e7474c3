"""An area for equality keys, or for time alone: rows lie by key, then by start.

Where all rows are valid for one length, as under a sliding window, the slice of a probe is its partners and nothing is
tested; else rows that have ended lie between them, as many as the longest validity lets through.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.columns.axis import LEAST, MOST
from dovetail._core.sweep.areas.area import compare_tests, valid_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Op
    from dovetail._core.sweep.areas.area import PairTest
    from dovetail._core.sweep.areas.rows import AreaRows, Probes
    from dovetail._core.sweep.areas.run import Run


@dataclass(frozen=True, slots=True)
class ByKey:
    """Partners have equal keys, and satisfy `probe value i <op i> stored value i` for all i."""

    ops: tuple[Op, ...] = ()

    def lead(self, rows: AreaRows) -> NDArray[np.int64]:
        """The start."""
        return rows.start

    def bounds(self, probes: Probes, run: Run) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """From the longest validity before the probe's time, until the probe's own last start."""
        longest = run.lengths[1]
        if longest == MOST:  # what has no end lasts, but not beyond the end of time
            return np.where(probes.at == MOST, MOST, LEAST), probes.until
        return back(probes.at, longest), probes.until

    def tests(self, probes: Probes, run: Run) -> Sequence[PairTest]:
        """Whether a row still lasts, unless all have one length, and the comparisons."""
        least, most = run.lengths
        lasts = () if least == most else valid_at(probes, run)
        return (*lasts, *compare_tests(probes, run, self.ops))


def back(at: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """The first start from which an interval of some length reaches beyond a time; the axis has an end."""
    if length == MOST:
        return np.full(at.size, LEAST)
    return np.where(at < LEAST + length, LEAST, at - (length - 1))
