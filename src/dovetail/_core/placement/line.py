"""One side's values in ascending order, and its cells: stretches of that order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Line:
    """Ascending `keys` to compare by, and their `places` on the number line to cut by."""

    keys: NDArray[np.int64]
    places: NDArray[np.float64]

    @property
    def size(self) -> int:
        """How many rows there are."""
        return self.keys.size

    def part(self, first: int, last: int) -> Line:
        """The rows at positions `[first, last)`."""
        return Line(self.keys[first:last], self.places[first:last])


@dataclass(frozen=True, slots=True)
class Strip:
    """The cells of one side: cell i holds the positions `[edges[i], edges[i + 1])` of the line; none is empty.

    Rows before the first edge and from the last one on were dropped: they have no partner.
    """

    line: Line
    edges: NDArray[np.int64]

    @classmethod
    def cut(cls, line: Line, at: NDArray[np.int64], first: int = 0, last: int | None = None) -> Strip:
        """Cut the positions `[first, last)` of a line at some positions."""
        end = line.size if last is None else last
        edges = np.unique(np.concatenate([[first], np.clip(at, first, end), [end]]).astype(np.int64))
        return cls(line, edges)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.edges.size - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many rows each cell holds."""
        return np.diff(self.edges)

    @property
    def least(self) -> NDArray[np.int64]:
        """The least key of each cell."""
        return self.line.keys[self.edges[:-1]]

    @property
    def most(self) -> NDArray[np.int64]:
        """The greatest key of each cell."""
        return self.line.keys[self.edges[1:] - 1]

    def keep(self, first: int, last: int) -> Strip:
        """The cells numbered `[first, last)`."""
        return Strip(self.line, self.edges[first : max(first, last) + 1])
