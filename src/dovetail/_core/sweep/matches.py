"""Pairs of row positions, in pieces of bounded size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dovetail._core.kernels.slices import follow_on, taken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Side

CHUNK = 1 << 17
"""How many pairs leave at a time, unless a caller knows better: their positions, 2 MB, stay in the cache of a core."""


class Matches(Protocol):
    """Row positions that belong together, pair by pair."""

    @property
    def size(self) -> int:
        """How many pairs."""
        ...

    @property
    def left_rows(self) -> NDArray[np.int64]:
        """The left position of each pair."""
        ...

    @property
    def right_rows(self) -> NDArray[np.int64]:
        """The right position of each pair."""
        ...

    def spread(self, side: Side, values: NDArray[Any]) -> NDArray[Any]:
        """The value of each pair, out of values that stand in the positions of one side."""
        ...


@dataclass(frozen=True, slots=True)
class ListedMatches:
    """Pairs told one by one."""

    left_rows: NDArray[np.int64]
    right_rows: NDArray[np.int64]

    @property
    def size(self) -> int:
        """How many pairs."""
        return self.left_rows.size

    def spread(self, side: Side, values: NDArray[Any]) -> NDArray[Any]:
        """Look up the value of each pair; rows that follow on each other are a slice of the values."""
        rows = self.left_rows if side == "left" else self.right_rows
        if rows.size and follow_on(rows):
            return values[rows[0] : rows[-1] + 1]
        return taken(values, rows)


@dataclass(frozen=True, slots=True)
class SideKeys:
    """One side of a join as the sweep sees it: the rows that can match at all, with their keys.

    `rows` are positions in the side's table; `codes` number the equality keys (None: there are none); `values` hold one
    array for each comparison of the condition. All are aligned.
    """

    rows: NDArray[np.int64]
    codes: NDArray[np.int64] | None
    values: tuple[NDArray[np.int64], ...]

    def at(self, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """The table's rows in some order of these; `rows` ascend, so the last tells whether any was set aside."""
        whole = self.rows.size == 0 or self.rows[-1] == self.rows.size - 1
        return order if whole else taken(self.rows, order)


class Pairs(Protocol):
    """Where pairs come from."""

    def tasks(self, number: int, chunk: int = CHUNK) -> list[Iterator[Matches]]:
        """Independent shares of the pairs, about `number` of them, each found in pieces of at most `chunk`."""
        ...

    def count(self) -> int:
        """How many pairs there are."""
        ...

    def partners(self, side: Side) -> NDArray[np.bool_] | None:
        """Whether each of the side's `SideKeys.rows` has a partner; None if only the pairs can tell."""
        ...


def has_partner(pairs: Pairs, side: Side, size: int) -> NDArray[np.bool_]:
    """Whether each position of a side has a partner, if need be by going through all pairs."""
    known = pairs.partners(side)
    if known is not None:
        return known
    marked = np.zeros(size, np.bool_)
    for task in pairs.tasks(1):
        for found in task:
            marked[found.left_rows if side == "left" else found.right_rows] = True
    return marked
