"""An as-of join of two DataFrames: rows placed by key and time, the nearest picked cell by cell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.columns.axis import furthest
from dovetail._core.condition.parse import told
from dovetail._core.emit.asof import AsOfCell
from dovetail._core.emit.rows import SideRows, emit
from dovetail._core.plan.offset import PerRow
from dovetail._core.plan.timed_plan import asof_plan
from dovetail._core.sweep.picked import PickedPairs
from dovetail._core.sweep.prepare import SideColumns
from dovetail._core.sweep.residual import residual_test
from dovetail._hosts.spark.mapped import mapped
from dovetail._hosts.spark.ranges import described, loads, placed, plan_cells
from dovetail._hosts.spark.residuals import task_can_test
from dovetail._hosts.spark.stretches import Margins
from dovetail._hosts.spark.timed import TimedSides, offset_type, place_of, project_timed
from dovetail._hosts.spark.types import schema_of
from dovetail.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

    from dovetail._core.plan.plan import Plan
    from dovetail._core.plan.timed import AsOf
    from dovetail._core.sweep.residual import RowTest
    from dovetail._hosts.spark.frames import SparkFrame
    from dovetail._hosts.spark.ranges import TimeCells
    from dovetail._hosts.spark.sides import Sides
    from dovetail._hosts.spark.timed import TimedSide

    Batches = Iterator[pa.RecordBatch]


_NONE = np.empty(0, np.int64)


def run(asked: AsOf, left: SparkFrame, right: SparkFrame) -> DataFrame:
    """Join two DataFrames; the statistics are read now, the rows when Spark asks for them."""
    task, sides, cells = _planned(asked, left, right)
    keeps_right = asked.query.how in ("right", "full")
    rows = placed(sides, cells, task.sides.overlay, keeps_right=keeps_right)
    fields = schema_of(_fields(asked, sides))
    return mapped(rows, task.run, fields).toDF(*(column.name for column in asked.query.output))


def explain(asked: AsOf, left: SparkFrame, right: SparkFrame) -> Plan:
    """Say how two DataFrames will be joined."""
    _, sides, cells = _planned(asked, left, right)
    keeps_right = asked.query.how in ("right", "full")
    return asof_plan(asked, "spark", *described(cells), **loads(sides, cells, keeps_right=keeps_right))


def _planned(asked: AsOf, left: SparkFrame, right: SparkFrame) -> tuple[AsOfTask, Sides, TimeCells]:
    """What runs in a task, on which sides, and in which cells."""
    query = asked.query
    own = [asked.tolerance.column] if isinstance(asked.tolerance, PerRow) else []
    ties = asked.tie_break if query.how not in ("semi", "anti") and asked.ties in ("last", "first") else ()
    sides, kind = project_timed(query, left, right, [*own, *ties])
    asked = replace(asked, query=replace(query, condition=sides.condition))
    _check(asked, sides, kind, own_column=place_of(sides.left, own[0]) if own else None)
    task = AsOfTask(
        asked,
        TimedSides.of(sides, query, kind),
        place_of(sides.left, own[0]) if own else None,
        tuple(place_of(sides.right, column) for column in ties),
    )
    margins = _margins(asked, sides, kind, keeps_right=query.how in ("right", "full"))
    return task, sides, plan_cells(sides, margins, query.cells)


def _margins(asked: AsOf, sides: Sides, kind: pa.DataType, *, keeps_right: bool) -> Margins:
    """A cell needs what is nearest to its ends; where candidates may fail a test, everything within the tolerance."""
    tested = bool(sides.condition.residuals) or len(sides.condition.comparisons) > 1
    if not tested:
        return Margins(kind, 0, 0, back_to_milestone=True, forward_to_milestone=True)
    far = None
    if asked.tolerance is not None and not isinstance(asked.tolerance, PerRow):
        far = furthest(asked.tolerance, kind, None)
    if keeps_right:
        return Margins(kind, None, None)
    return Margins(kind, 0 if asked.direction == "forward" else far, 0 if asked.direction == "backward" else far)


def _check(asked: AsOf, sides: Sides, kind: pa.DataType, own_column: str | None) -> None:
    """Refuse, before any job, what the tasks could not do."""
    nothing = SideColumns(0, None, (), (pa.nulls(0, kind),))
    own = None if own_column is None else pa.nulls(0, offset_type(sides.left.schema[own_column].dataType))
    AsOfCell(asked, nothing, nothing, own, ()).check()
    if not task_can_test(sides):
        raise UnsupportedError.only_by_spark(told(sides.condition.residuals[-1].sql))


def _fields(asked: AsOf, sides: Sides) -> list[tuple[str, DataType]]:
    """The columns that a task yields: those that the result shows, numbered."""
    both = (sides.left, sides.right)
    kinds = [own.schema[own.place(name)].dataType for own in both for name in asked.query.read_by_output(own.name)]
    return [(f"c{i}", kind) for i, kind in enumerate(kinds)]


@dataclass(frozen=True)
class AsOfTask:
    """The as-of join of one cell."""

    asked: AsOf
    sides: TimedSides
    tolerance: str | None
    tie_break: tuple[str, ...]

    def run(self, batches: Batches) -> Batches:
        """Join the rows that were placed into a task's cell."""
        both = self.sides.read(batches)
        if both is not None:
            yield from self._rows(*both)

    def _rows(self, left: TimedSide, right: TimedSide) -> Batches:
        tolerance = None if self.tolerance is None else left.column(self.tolerance)
        cell = AsOfCell(
            self.asked, left.columns(), right.columns(), tolerance, [right.column(name) for name in self.tie_break]
        )
        pairs, how = cell.pairs(self._test(left, right)), self.asked.query.how
        ours, theirs = left.shown(), right.shown()
        names = [f"c{i}" for i in range(len(ours) + (0 if how in ("semi", "anti") else len(theirs)))]
        if how not in ("right", "full"):
            yield from emit(pairs, _all(ours, pairs.left_size), _all(theirs, pairs.right_size), how, names, 1)
            return
        yield from emit(
            _of_own(pairs, left.own),
            _all(_some(ours, left.own), int(left.own.sum())),
            _all(theirs, pairs.right_size),
            "left" if how == "full" else "inner",
            names,
            1,
        )
        unmatched = right.own & ~pairs.partners("right")
        nobody = PickedPairs(_NONE, _NONE, 0, int(unmatched.sum()))
        shown = _all(_some(theirs, unmatched), nobody.right_size)
        yield from emit(nobody, _all(tuple(column.slice(0, 0) for column in ours), 0), shown, "right", names, 1)

    def _test(self, left: TimedSide, right: TimedSide) -> RowTest | None:
        residuals = self.asked.query.condition.residuals
        return residual_test(residuals, left.inputs(), right.inputs()) if residuals else None


def _all(columns: tuple[pa.Array, ...], size: int) -> SideRows:
    return SideRows(columns, size, np.arange(size))


def _some(columns: Sequence[pa.Array], rows: np.ndarray) -> tuple[pa.Array, ...]:
    return tuple(column.filter(pa.array(rows)) for column in columns)


def _of_own(pairs: PickedPairs, own: np.ndarray) -> PickedPairs:
    """The pairs of left rows that the cell owns, counted among those."""
    kept = own[pairs.left_rows]
    number = np.cumsum(own) - 1
    return PickedPairs(number[pairs.left_rows[kept]], pairs.right_rows[kept], int(own.sum()), pairs.right_size)
