"""Pairs of row positions, in pieces of bounded size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from dovetail._core.condition.values import Side

CHUNK = 1 << 17
"""How many pairs leave at a time: their positions, 2 MB, stay in the cache of a core."""


class Matches(NamedTuple):
    """Row positions that belong together, pair by pair."""

    left_rows: NDArray[np.int64]
    right_rows: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SideKeys:
    """One side of a join as the sweep sees it: the rows that can match at all, with their keys.

    `rows` are positions in the side's table; `codes` number the equality keys (None: there are none); `values` hold one
    array for each comparison of the condition. All are aligned.
    """

    rows: NDArray[np.int64]
    codes: NDArray[np.int64] | None
    values: tuple[NDArray[np.int64], ...]


class Pairs(Protocol):
    """Where pairs come from."""

    def tasks(self, number: int) -> list[Iterator[Matches]]:
        """Independent shares of the pairs, each found piece by piece; about `number` of them."""
        ...

    def count(self) -> int:
        """How many pairs there are."""
        ...

    def has_partner(self, side: Side) -> NDArray[np.bool_]:
        """Whether each of the side's `SideKeys.rows` has a partner; no pair is made to find out."""
        ...
