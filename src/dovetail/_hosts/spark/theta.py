"""The partitioned theta-joins on Spark: cells cut on samples, dealt to tasks, rows placed by the tasks' numbers.

What the samples do not show costs balance, never a row: the outermost cells are open, and a row of the other side goes
wherever a value of the task's cells could match it. Inside a task the rows are joined by position: a cell pair in which
all match is emitted as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from pyspark.sql import functions as F

from dovetail._core.columns.number_line import places
from dovetail._core.placement.deal_anchor import deal_anchor
from dovetail._core.placement.family import place
from dovetail._core.placement.line import Line
from dovetail._core.plan.matrix import Members
from dovetail._hosts.spark.place import anywhere, moved
from dovetail._hosts.spark.types import literal

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import Column, DataFrame

    from dovetail._core.condition.values import Op
    from dovetail._core.placement.cell_pairs import CellPairs
    from dovetail._core.placement.deal_anchor import Dealt
    from dovetail._core.plan.choose import Sample
    from dovetail._core.plan.knobs import Knobs
    from dovetail._hosts.spark.overlay import Overlay
    from dovetail._hosts.spark.sides import Sides

_PERFORM_ALL = ("range-based", "one-bucket", "cross-filter")


@dataclass(frozen=True)
class ThetaCells:
    """The cells of both samples, and the anchor's cells dealt to tasks.

    `order` are the rows of the anchor's sample by value, `anchors` that sample.
    """

    knobs: Knobs
    op: Op
    cells: CellPairs
    dealt: Dealt
    order: NDArray[np.int64]
    anchors: pa.Table

    @classmethod
    def cut(cls, knobs: Knobs, op: Op, sample: Sample, anchors: pa.Table, tasks: int) -> ThetaCells | None:
        """Cut the samples; the anchor is the left side. None if a side has no row that can match."""
        if not (sample.left[0].size and sample.right[0].size):
            return None
        kind = anchors.column("v0").type
        orders = [np.argsort(side[0], kind="stable") for side in (sample.left, sample.right)]
        keys = [side[0][order] for side, order in zip((sample.left, sample.right), orders, strict=True)]
        ours, theirs = (Line(own, places(own, kind)) for own in keys)
        cells = place(*((ours, theirs) if op.rises else (theirs, ours)), knobs, strict=op.strict)
        return cls(knobs, op, cells, deal_anchor(cells, tasks, rising=op.rises), orders[0], anchors)

    def start(self, cell: int) -> Column:
        """The value at which an anchor cell begins."""
        return literal(self.anchors.column("v0")[int(self.order[self.dealt.starts[cell]])])

    def members(self, sample: Sample) -> Members:
        """Which sampled rows each task gets."""
        ours, theirs = sample.left[0], sample.right[0]
        begins = ours[self.order[list(self.dealt.starts)]]
        cell = np.maximum(np.searchsorted(begins, ours, side="right") - 1, 0)
        turn = np.arange(ours.size)
        owner = np.array([self.dealt.owners[c][t % len(self.dealt.owners[c])] for c, t in zip(cell, turn, strict=True)])
        tasks = range(self.dealt.tasks)
        return Members(
            np.array([owner == task for task in tasks]),
            np.array([self._reached(task, theirs, begins) for task in tasks]),
        )

    def _reached(self, task: int, theirs: NDArray[np.int64], begins: NDArray[np.int64]) -> NDArray[np.bool_]:
        best = self.dealt.reach(task)
        if best is None:
            return np.zeros(theirs.size, np.bool_)
        edge = self._edge(best)
        if edge is None:
            return np.ones(theirs.size, np.bool_)
        start = begins[edge]
        return np.asarray(
            theirs < start if not self.op.rises else theirs > start if self.op.strict else theirs >= start
        )

    def _edge(self, best: int) -> int | None:
        """The cell whose start bounds what may match a task's most favourable cell; None if nothing does."""
        edge = best if self.op.rises else best + 1
        bounded = 0 < edge < len(self.dealt.starts) and self.knobs.algorithm not in _PERFORM_ALL
        return edge if bounded else None

    def may_match(self, task: int) -> Column | None:
        """Whether a row of the other side may have a partner in a task; None if the task has no cell."""
        best = self.dealt.reach(task)
        if best is None:
            return None
        edge = self._edge(best)
        if edge is None:
            return F.lit(True)
        value = F.col("v0")
        if not self.op.rises:
            return value < self.start(edge)
        return value > self.start(edge) if self.op.strict else value >= self.start(edge)


def placed_theta(sides: Sides, theta: ThetaCells | None, tasks: int, overlay: Overlay) -> DataFrame:
    """Both sides, moved to the tasks that their cells were dealt to."""
    somewhere = anywhere(sides.left, tasks)
    if theta is None:
        return moved(sides, tasks, somewhere, F.array().cast("array<int>"), overlay)
    own = _owner(theta, sides, 0, len(theta.dealt.starts))
    reached = [(task, theta.may_match(task)) for task in range(tasks)]
    others = F.array_compact(F.array(*(F.when(holds, F.lit(t)) for t, holds in reached if holds is not None)))
    placed = F.when(F.expr(sides.can_match(sides.left)), own).otherwise(somewhere)
    return moved(sides, tasks, placed, others, overlay)


def _owner(theta: ThetaCells, sides: Sides, first: int, last: int) -> Column:
    """The task of an anchor row, by a search among the cells `[first, last)`."""
    if last - first == 1:
        owners = theta.dealt.owners[first]
        return F.lit(owners[0]) if len(owners) == 1 else F.array(*map(F.lit, owners))[anywhere(sides.left, len(owners))]
    middle = (first + last) // 2
    below = F.col("v0") < theta.start(middle)
    return F.when(below, _owner(theta, sides, first, middle)).otherwise(_owner(theta, sides, middle, last))
