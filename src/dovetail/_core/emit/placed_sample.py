"""Evenly spaced rows of a placed join, and which cells they lie in: what a picture of the join matrix shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.plan.choose import Sample, evenly_spaced
from dovetail._core.plan.matrix import SIDE, Members
from dovetail._core.sweep.placed_join import PlacedJoin

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dovetail._core.emit.cell import Cell
    from dovetail._core.placement.windows import CountWindow
    from dovetail._core.sweep.build import Join


def placed_sample(cell: Cell, join: Join) -> tuple[Sample, Members]:
    """Sampled rows of both sides, and the members of every low cell with the run of high cells that it meets."""
    assert isinstance(join.pairs, PlacedJoin)
    ours, theirs = (evenly_spaced(order.size, SIDE) for order in (join.left_order, join.right_order))
    codes = [
        None if side.codes is None else side.codes[order[picked]]
        for side, order, picked in (
            (cell.left, join.left_order, ours),
            (cell.right, join.right_order, theirs),
        )
    ]
    left, right = cell.left.values[0][join.left_order[ours]], cell.right.values[0][join.right_order[theirs]]
    sample = Sample((left,), (right,), codes[0], codes[1])
    low, high = (ours, theirs) if join.pairs.stored == "right" else (theirs, ours)
    runs = [run for own in join.pairs.windows.windows for run in _runs(own, low, high)]
    members = Members(_stacked([run[0] for run in runs], low.size), _stacked([run[1] for run in runs], high.size))
    return sample, members if join.pairs.stored == "right" else members.flip()


def _runs(
    own: CountWindow, low: NDArray[np.int64], high: NDArray[np.int64]
) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """For every low cell of a window, which sampled rows of either side it makes meet."""
    cells = own.cells
    edges = own.low + cells.low.edges
    end = own.high + cells.high.edges[-1]
    return [
        ((low >= edges[i]) & (low < edges[i + 1]), (high >= own.high + cells.high.edges[first]) & (high < end))
        for i, first in enumerate(cells.first)
    ]


def _stacked(masks: list[NDArray[np.bool_]], size: int) -> NDArray[np.bool_]:
    return np.array(masks) if masks else np.zeros((0, size), np.bool_)
