"""Count windows: the i-th w rows of one side meet the i-th w rows of the other; every window has cells of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.placement.deal import loads
from dovetail._core.placement.family import place

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from dovetail._core.placement.cell_pairs import CellPairs
    from dovetail._core.placement.line import Line
    from dovetail._core.plan.knobs import Knobs


@dataclass(frozen=True, slots=True)
class CountWindow:
    """The cell pairs of a window, and where its rows begin among all rows of either side."""

    cells: CellPairs
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Windows:
    """All windows in which both sides have rows; without a window there is one."""

    windows: tuple[CountWindow, ...]

    @classmethod
    def place(
        cls, low: Sequence[tuple[int, Line]], high: Sequence[tuple[int, Line]], knobs: Knobs, *, strict: bool
    ) -> Windows:
        """Place the rows of every window; the sides' lines come window by window, each with its first position."""
        both = zip(low, high, strict=True)
        return cls(
            tuple(CountWindow(place(ours, theirs, knobs, strict=strict), a, b) for (a, ours), (b, theirs) in both)
        )

    @property
    def cells(self) -> int:
        """How many cell pairs are performed."""
        return sum(own.cells.cells for own in self.windows)

    @property
    def products(self) -> int:
        """The pairs of rows that meet."""
        return sum(own.cells.products for own in self.windows)

    @property
    def results(self) -> int:
        """The pairs of rows that match."""
        return sum(own.cells.results for own in self.windows)

    def loads(self, workers: int) -> tuple[float, float]:
        """The greatest load over the mean, of rows in and of results out, over all windows together."""
        pairs = [own.cells.pairs for own in self.windows]
        rows_in, results = _joined(own.rows_in for own in pairs), _joined(own.results for own in pairs)
        dealing = self.windows[0].cells.dealing if self.windows else "largest"
        return loads(results, rows_in, workers, dealing)

    def low_edges(self) -> NDArray[np.int64]:
        """Where cells of the low side begin or end, among all its rows."""
        return np.unique(_joined(own.low + own.cells.low.edges for own in self.windows))


def _joined(parts: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([*parts, np.empty(0, np.int64)])
