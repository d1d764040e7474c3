"""An area for intersecting intervals of values: rows lie by the start of theirs.

No search looks further back than the longest stored interval reaches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dovetail._core.columns.axis import MOST
from dovetail._core.sweep.areas.area import compare_tests, valid_at
from dovetail._core.sweep.areas.by_key import back
from dovetail._core.sweep.bounds import bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from dovetail._core.condition.values import Op
    from dovetail._core.sweep.areas.area import PairTest
    from dovetail._core.sweep.areas.rows import AreaRows, Probes
    from dovetail._core.sweep.areas.run import Run


@dataclass(frozen=True, slots=True)
class Interval:
    """Partners satisfy `probe value i <op i> stored value i` for all i, of which two make an overlap.

    The comparison numbered `rising` sets the probe's start below the stored end, `falling` the probe's end above the
    stored start.
    """

    ops: tuple[Op, ...]
    rising: int
    falling: int

    def lead(self, rows: AreaRows) -> NDArray[np.int64]:
        """The stored interval's start."""
        return rows.values[self.falling]

    def bounds(self, probes: Probes, run: Run) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """From the longest interval before the probe's, to the last start that the probe's end lets in."""
        longest = run.longest_between(self.falling, self.rising)
        first = back(probes.rows.values[self.rising], longest if longest == MOST else max(1, longest + 1))
        ends = bounds([(probes.rows.values[self.falling], self.ops[self.falling])], probes.rows.size)
        lower, upper = ends.closed()
        return first if ends.lower is None else lower, upper

    def tests(self, probes: Probes, run: Run) -> Sequence[PairTest]:
        """That the stored interval reaches the probe's, the other comparisons, and time."""
        return (*compare_tests(probes, run, self.ops, (self.falling,)), *valid_at(probes, run, started=False))
