"""The join matrix of a sample: which pairs meet in a cell, and which of them match."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.condition.parse import told
from dovetail._core.plan.choose import evenly_spaced

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dovetail._core.condition.values import Condition
    from dovetail._core.plan.choose import Sample

SIDE = 300
"""Rows of each side that a picture shows."""


@dataclass(frozen=True)
class Matrix:
    """Left rows down, right rows across, each sorted by its first compared value."""

    left: str
    right: str
    performed: NDArray[np.bool_]
    matches: NDArray[np.bool_]


@dataclass(frozen=True)
class Members:
    """Which sampled rows each cell has: one row per cell, one column per sampled row of a side."""

    left: NDArray[np.bool_]
    right: NDArray[np.bool_]

    def meet(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Pair by pair, whether some rows of either side share a cell."""
        shared = self.left[:, left].T.astype(np.float32) @ self.right[:, right].astype(np.float32)
        return shared > 0

    def flip(self) -> Members:
        """The same, with the sides exchanged."""
        return Members(self.right, self.left)


def matrix_of(condition: Condition, sample: Sample, members: Members | None = None) -> Matrix | None:
    """The matrix of a sample; `members` says which rows each cell has (None: there is one cell). None without rows."""
    sizes = [side[0].size if side else 0 for side in (sample.left, sample.right)]
    if not all(sizes):
        return None
    rows = [_shown(values[0]) for values in (sample.left, sample.right)]
    ops = tuple(comparison.op for comparison in condition.comparisons)
    part = sample.pick(*rows)
    meets = np.ones((rows[0].size, rows[1].size), np.bool_) if members is None else members.meet(*rows)
    first = condition.comparisons[0]
    return Matrix(told(first.left.sql), told(first.right.sql), meets, part.holds(ops))


def _shown(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Evenly spaced rows in the order of their values."""
    order = np.argsort(values, kind="stable")
    return order[evenly_spaced(order.size, SIDE)]
