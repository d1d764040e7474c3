"""Join by the cells of a partitioned theta-join: cell pairs in which all match are emitted, the rest found by position.

Meaning      {(low, high) : low < high} or {low <= high}, within equal windows if there are any.
Needs        nothing of the input's order; sorts both sides by (window, value).
How          low cell {3 4 5}, high cells {4 6} {8 9}: 3 begins at 4, 4 and 5 begin at 6, all of them have {8 9} whole
Edges        ties follow the comparison; rows that a placement dropped have empty slices.
State        both orders, two positions per low row.
Worst case   O((n + m) log(n + m) + pairs), whatever number of products the placement counts.
Source       first document, algorithm 3, step 3.3, with positions in place of comparisons.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.columns.number_line import places
from dovetail._core.kernels.slices import taken
from dovetail._core.kernels.sort import sort_with_order
from dovetail._core.placement.deal import deal
from dovetail._core.placement.line import Line
from dovetail._core.placement.windows import Windows
from dovetail._core.sweep.bounds import Slices
from dovetail._core.sweep.build import Join
from dovetail._core.sweep.matches import CHUNK
from dovetail._core.sweep.slice_join import SliceJoin

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from dovetail._core.condition.values import Op
    from dovetail._core.plan.knobs import Knobs
    from dovetail._core.sweep.matches import Matches, SideKeys


@dataclass(frozen=True)
class PlacedJoin(SliceJoin):
    """Slices of the high side for every low row, shared out by cells."""

    windows: Windows

    def tasks(self, number: int, chunk: int = CHUNK) -> list[Iterator[Matches]]:
        """Deal the low cells, each with all that it meets, to so many tasks: those with the most pairs first."""
        edges = self.windows.low_edges()
        before = np.concatenate([[0], self.ends])[edges]
        pairs = np.diff(before)
        owner = deal(pairs, np.diff(edges), number)
        shares = [[i for i in np.flatnonzero(owner == task) if pairs[i]] for task in range(number)]
        return [
            chain.from_iterable(self._pairs(int(before[i]), int(before[i + 1]), chunk) for i in share)
            for share in shares
            if share
        ]


def placed_join(op: Op, left: SideKeys, right: SideKeys, kind: pa.DataType, knobs: Knobs) -> Join:
    """Place the rows of both sides and find every low row's slice; `left <op> right`, on values of one type."""
    low, high = (_Sorted.of(side) for side in ((left, right) if op.rises else (right, left)))
    both = np.intersect1d(low.codes, high.codes)
    windows = Windows.place(low.lines(both, kind), high.lines(both, kind), knobs, strict=op.strict)
    first = np.zeros(low.keys.size, np.int64)
    last = np.zeros(low.keys.size, np.int64)
    for own in windows.windows:
        rows = slice(own.low, own.low + own.cells.low.line.size)
        first[rows] = own.high + own.cells.reach
        last[rows] = own.high + own.cells.high.line.size
    found = Slices(high.order, low.order, first, last)
    if op.rises:
        return Join(PlacedJoin(found, "right", windows), low.order, high.order)
    return Join(PlacedJoin(found, "left", windows), high.order, low.order)


@dataclass(frozen=True, slots=True)
class _Sorted:
    """One side by (window, value): the windows that it has, where each begins, and what stands at each position."""

    codes: NDArray[np.int64]
    begins: NDArray[np.int64]
    keys: NDArray[np.int64]
    order: NDArray[np.int64]

    @classmethod
    def of(cls, side: SideKeys) -> _Sorted:
        keys, order = sort_with_order(side.values[0])
        if side.codes is None:
            return cls(np.zeros(min(1, keys.size), np.int64), np.array([0, keys.size]), keys, order)
        by_code, again = sort_with_order(taken(side.codes, order))
        order = taken(order, again)
        codes, begins = np.unique(by_code, return_index=True)
        return cls(codes, np.append(begins, keys.size), taken(side.values[0], order), order)

    def lines(self, codes: NDArray[np.int64], kind: pa.DataType) -> list[tuple[int, Line]]:
        """The values of some windows, each with its first position."""
        numbers = np.searchsorted(self.codes, codes)
        spans: list[tuple[int, int]] = list(pairwise(self.begins.tolist()))
        return [(spans[i][0], self._line(spans[i], kind)) for i in numbers]

    def _line(self, span: tuple[int, int], kind: pa.DataType) -> Line:
        keys = self.keys[slice(*span)]
        return Line(keys, places(keys, kind))
