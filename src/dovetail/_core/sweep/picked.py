"""Pairs that are known one by one, such as those of an as-of join."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.sweep.matches import CHUNK, ListedMatches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Side
    from dovetail._core.sweep.matches import Matches


@dataclass(frozen=True, slots=True)
class PickedPairs:
    """Pairs of rows, and how many rows each side has."""

    left_rows: NDArray[np.int64]
    right_rows: NDArray[np.int64]
    left_size: int
    right_size: int

    def tasks(self, number: int, chunk: int = CHUNK) -> list[Iterator[Matches]]:
        """Even shares of the pairs."""
        edges = np.linspace(0, self.count(), number + 1).astype(np.int64)
        return [self._pieces(int(a), int(b), chunk) for a, b in pairwise(edges) if a < b]

    def _pieces(self, first: int, last: int, chunk: int) -> Iterator[Matches]:
        for start in range(first, last, chunk):
            own = slice(start, min(start + chunk, last))
            yield ListedMatches(self.left_rows[own], self.right_rows[own])

    def count(self) -> int:
        """How many pairs there are."""
        return int(self.left_rows.size)

    def partners(self, side: Side) -> NDArray[np.bool_]:
        """Whether each row is in a pair."""
        out = np.zeros(self.left_size if side == "left" else self.right_size, np.bool_)
        out[self.left_rows if side == "left" else self.right_rows] = True
        return out
