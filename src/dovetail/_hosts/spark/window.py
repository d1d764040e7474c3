"""A window join of two DataFrames: rows placed by key and time, windows folded cell by cell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F

from dovetail._core.columns.axis import furthest
from dovetail._core.condition.parse import told
from dovetail._core.emit.window import WindowCell
from dovetail._core.plan.offset import PerRow
from dovetail._core.plan.online import AUTO
from dovetail._core.plan.timed import offset_columns
from dovetail._core.plan.timed_plan import window_plan
from dovetail._core.sweep.prepare import SideColumns
from dovetail._hosts.spark.branch import aggregate_types
from dovetail._hosts.spark.handed import collected
from dovetail._hosts.spark.mapped import mapped
from dovetail._hosts.spark.ranges import described, loads, placed, plan_cells
from dovetail._hosts.spark.stretches import Margins
from dovetail._hosts.spark.task import arguments_of
from dovetail._hosts.spark.timed import TimedSides, offset_type, place_of, project_timed
from dovetail._hosts.spark.types import schema_of
from dovetail.errors import UnsupportedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from dovetail._core.plan.offset import Offset
    from dovetail._core.plan.plan import Plan
    from dovetail._core.plan.timed import WindowJoin
    from dovetail._hosts.spark.frames import SparkFrame
    from dovetail._hosts.spark.ranges import TimeCells
    from dovetail._hosts.spark.sides import Sides

    Batches = Iterator[pa.RecordBatch]


def run(asked: WindowJoin, left: SparkFrame, right: SparkFrame) -> DataFrame:
    """Fold the right DataFrame around each row of the left one."""
    query = asked.query
    task, sides, cells = _planned(asked, left, right)
    rows = placed(sides, cells, task.sides.overlay, keeps_right=False)
    fields = [sides.left.schema[place].dataType for place in task.sides.left.showing] + aggregate_types(query, sides)
    names = [*(column.name for column in query.output), *(own.name for own in query.aggregates)]
    return mapped(rows, task.run, schema_of([(f"c{i}", kind) for i, kind in enumerate(fields)])).toDF(*names)


def explain(asked: WindowJoin, left: SparkFrame, right: SparkFrame) -> Plan:
    """Say how the right DataFrame will be folded."""
    _, sides, cells = _planned(asked, left, right)
    return window_plan(asked, "spark", *described(cells), **loads(sides, cells, keeps_right=False))


def _planned(asked: WindowJoin, left: SparkFrame, right: SparkFrame) -> tuple[WindowTask, Sides, TimeCells]:
    """What runs in a task, on which sides, and in which cells."""
    if asked.algorithm != AUTO:
        raise UsageError.only_in_process(asked.algorithm)
    query, own = asked.query, offset_columns(asked)
    sides, kind = project_timed(query, left, right, own)
    asked = replace(asked, query=replace(query, condition=sides.condition))
    if sides.condition.residuals:
        raise UnsupportedError.only_by_spark(told(sides.condition.residuals[-1].sql))
    places = {column.sql: place_of(sides.left, column) for column in own}
    empty = {sql: pa.nulls(0, offset_type(sides.left.schema[place].dataType)) for sql, place in places.items()}
    nothing = SideColumns(0, None, (), (pa.nulls(0, kind),))
    WindowCell(asked, nothing, nothing, empty, ()).check()
    aggregate_types(query, sides)
    task = WindowTask(
        asked,
        TimedSides.of(sides, query, kind),
        tuple(places.items()),
    )
    margins = _margins(asked, kind, _greatest(sides, places))
    return task, sides, plan_cells(sides, margins, query.cells)


def _greatest(sides: Sides, places: dict[str, str]) -> dict[str, pa.Scalar]:
    """The greatest of the base rows' own distances, by column; a statistic, read where there are any."""
    if not places:
        return {}
    asked = [F.max(F.col(place)).alias(f"m{i}") for i, place in enumerate(places.values())]
    found = collected(sides.left.frame.agg(*asked))
    return {sql: found.column(i)[0] for i, sql in enumerate(places)}


def _margins(asked: WindowJoin, kind: pa.DataType, greatest: dict[str, pa.Scalar]) -> Margins:
    """A cell needs the right rows of all windows of its left rows, and what prevails where they begin."""

    def size(offset: Offset | None) -> Any:
        own = greatest[offset.column.sql] if isinstance(offset, PerRow) else None
        return None if offset is None else furthest(offset, kind, own)

    back, forward = [size(own.preceding) for own in asked.windows], [size(own.following) for own in asked.windows]
    return Margins(
        kind,
        None if None in back else max(back),
        None if None in forward else max(forward),
        back_to_milestone=any(own.include_prevailing for own in asked.windows),
    )


@dataclass(frozen=True)
class WindowTask:
    """The window join of one cell; `offsets` says where the base rows' own distances are."""

    asked: WindowJoin
    sides: TimedSides
    offsets: tuple[tuple[str, str], ...]

    def run(self, batches: Batches) -> Batches:
        """Fold the rows that were placed into a task's cell."""
        both = self.sides.read(batches)
        if both is None or both[0].table.num_rows == 0:
            return
        left, right = both
        offsets = {sql: left.column(place) for sql, place in self.offsets}
        arguments = arguments_of(self.asked.query.aggregates, right.table)
        cell = WindowCell(self.asked, left.columns(), right.columns(), offsets, arguments)
        columns = [*left.shown(), *cell.columns()]
        yield pa.RecordBatch.from_arrays(columns, names=[f"c{i}" for i in range(len(columns))])
