"""An area for comparisons and bands: rows lie by one value, of which each probe takes a stretch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dovetail._core.sweep.areas.area import compare_tests, valid_at
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
class Ordered:
    """Partners satisfy `probe value i <op i> stored value i` for all i; rows lie by the values numbered `sliced`.

    These are the numbers of one stored expression, whose values are alike.
    """

    ops: tuple[Op, ...]
    sliced: tuple[int, ...] = (0,)

    def lead(self, rows: AreaRows) -> NDArray[np.int64]:
        """The value that the sliced comparisons share."""
        return rows.values[self.sliced[0]]

    def bounds(self, probes: Probes, _run: Run) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What the sliced comparisons leave of the value."""
        return bounds([(probes.rows.values[i], self.ops[i]) for i in self.sliced], probes.rows.size).closed()

    def tests(self, probes: Probes, run: Run) -> Sequence[PairTest]:
        """Time, and the other comparisons."""
        return (*compare_tests(probes, run, self.ops, self.sliced), *valid_at(probes, run, started=False))
