"""What as-of and window joins share on Spark: the axis, checked before any job, and the two sides inside a task."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.types import DayTimeIntervalType

from dovetail._core.columns.axis import axis_type
from dovetail._core.columns.cast import cast
from dovetail._core.columns.table import one_chunk
from dovetail._core.columns.types import DAY_TIME, canonicalise, sql_name
from dovetail._core.condition.parse import told
from dovetail._core.plan.query import OutputColumn
from dovetail._core.sweep.prepare import SideColumns
from dovetail._hosts.ring.projection import side_columns
from dovetail._hosts.spark.overlay import Overlay
from dovetail._hosts.spark.parcels import arrived
from dovetail._hosts.spark.sides import check, project
from dovetail._hosts.spark.types import arrow_type
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from pyspark.sql.types import DataType

    from dovetail._core.columns.table import Columns
    from dovetail._core.condition.values import Expression
    from dovetail._core.plan.query import Query
    from dovetail._hosts.ring.projection import Projection
    from dovetail._hosts.spark.frames import SparkFrame
    from dovetail._hosts.spark.sides import Sides, SparkSide

    Batches = Iterator[pa.RecordBatch]

_OWN = "own"


def project_timed(
    query: Query, left: SparkFrame, right: SparkFrame, hidden: Sequence[Expression]
) -> tuple[Sides, pa.DataType]:
    """Project both sides, `hidden` columns included; and the type of the axis. Nothing runs."""
    types = check(query, left, right)
    axis, text = query.condition.comparisons[0], told(query.condition.comparisons[0])
    ours, theirs = types[axis.left.sql], types[axis.right.sql]
    kind = None if ours is None or theirs is None else axis_type(ours, theirs, text)
    extra = tuple(OutputColumn(f"hidden {i}", column) for i, column in enumerate(hidden))
    sides = project(replace(query, output=(*query.output, *extra)), types, left, right)
    if kind is None or axis not in sides.condition.comparisons:
        raise UsageError.no_axis(text, *("another type" if own is None else sql_name(own) for own in (ours, theirs)))
    sides.refuse_what_cannot_leave()
    return sides, kind


def offset_type(kind: DataType) -> pa.DataType:
    """The Arrow type of a column of distances; null for one that can be none."""
    return DAY_TIME if isinstance(kind, DayTimeIntervalType) else arrow_type(kind) or pa.bool_()


def place_of(side: SparkSide, column: Expression) -> str:
    """Where a side's projection has an input column."""
    return side.place(column.node.name)


@dataclass(frozen=True)
class TimedSide:
    """One side of a cell: its rows, which of them the cell owns, and the type of the axis."""

    projection: Projection
    table: pa.Table
    own: NDArray[np.bool_]
    axis: pa.DataType

    def columns(self) -> SideColumns:
        """Keys and values, the time on its axis."""
        found = side_columns(self.table)
        values = [canonicalise(array) for array in found.values]
        values[0] = cast(values[0], self.axis)
        keys = tuple(canonicalise(array) for array in found.keys)
        return SideColumns(found.rows, found.fits, keys, tuple(values))

    def column(self, name: str) -> pa.Array:
        """A column of the projection, as Spark sees it."""
        return canonicalise(one_chunk(self.table.column(name)))

    def shown(self) -> tuple[pa.Array, ...]:
        """The columns that the result shows."""
        return tuple(self.projection.shown(self.table))

    def inputs(self) -> Columns:
        """The payload under its own names, for residuals."""
        return self.projection.columns(self.table)


@dataclass(frozen=True)
class TimedSides:
    """How a task reads the two sides of its cell, on one axis."""

    overlay: Overlay
    left: Projection
    right: Projection
    axis: pa.DataType

    @classmethod
    def of(cls, sides: Sides, query: Query, axis: pa.DataType) -> TimedSides:
        """Both sides, of which the result shows what the query says."""
        left, right = (own.showing(query.read_by_output(own.name)) for own in (sides.left, sides.right))
        return cls(Overlay.of(sides.left, sides.right), left, right, axis)

    def read(self, batches: Batches) -> tuple[TimedSide, TimedSide] | None:
        """The rows that were placed into a task's cell; None if there are none."""
        both = self.overlay.sides(arrived(batches), _OWN)
        return None if both is None else (_side(both[0], self.left, self.axis), _side(both[1], self.right, self.axis))


def _side(rows: pa.Table, projection: Projection, axis: pa.DataType) -> TimedSide:
    table = rows.combine_chunks()
    own = one_chunk(table.column(_OWN)).to_numpy(zero_copy_only=False)
    return TimedSide(projection, projection.whole(table), own, axis)
