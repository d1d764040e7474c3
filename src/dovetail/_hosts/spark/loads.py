"""What a placement costs, from the samples up to all rows: what moves, and what each cell takes in and gives out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.plan.choose import SAMPLE, evenly_spaced

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dovetail._core.condition.values import Op
    from dovetail._core.plan.choose import Sample
    from dovetail._core.plan.matrix import Members


@dataclass(frozen=True, slots=True)
class Loads:
    """Rows and results of every cell."""

    anchors: NDArray[np.float64]
    others: NDArray[np.float64]
    results: NDArray[np.float64]

    @classmethod
    def of(cls, members: Members, sample: Sample, ops: tuple[Op, ...], rows: tuple[int, int]) -> Loads | None:
        """Scale the members of the sample up to so many rows; None if a sample is empty."""
        sizes = members.left.shape[1], members.right.shape[1]
        if not all(sizes):
            return None
        scale = rows[0] / sizes[0], rows[1] / sizes[1]
        found = _results_by_cell(members, sample, ops) * scale[0] * scale[1]
        return cls(members.left.sum(axis=1) * scale[0], members.right.sum(axis=1) * scale[1], found)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.anchors.size

    @property
    def products(self) -> int:
        """The pairs of rows that meet."""
        return round(float(self.anchors @ self.others))

    @property
    def moved(self) -> int:
        """The rows that travel."""
        return round(float(self.anchors.sum() + self.others.sum()))

    @property
    def load_in(self) -> float:
        """The fullest cell over the mean: rows in."""
        return balance(self.anchors + self.others)

    @property
    def load_out(self) -> float:
        """The fullest cell over the mean: results out."""
        return balance(self.results)

    def longest(self, cores: int) -> float:
        """About how many rows the busiest core takes in and gives out."""
        return self.moved / cores + max(float(self.results.sum()) / cores, float(self.results.max()))


def _results_by_cell(members: Members, sample: Sample, ops: tuple[Op, ...]) -> NDArray[np.float64]:
    """The matches of each cell, from a part of the sample up to all of it."""
    sizes = members.left.shape[1], members.right.shape[1]
    picks = [evenly_spaced(size, SAMPLE) for size in sizes]
    holds = sample.pick(*picks).holds(ops).astype(np.float32)
    per_anchor = members.right[:, picks[1]].astype(np.float32) @ holds.T
    found = np.asarray((per_anchor * members.left[:, picks[0]]).sum(axis=1), np.float64)
    return np.asarray(found * (sizes[0] / picks[0].size) * (sizes[1] / picks[1].size))


def balance(loads: NDArray[np.float64]) -> float:
    """The greatest over the mean."""
    return float(loads.max() / loads.mean()) if loads.size and loads.mean() > 0 else 1.0
