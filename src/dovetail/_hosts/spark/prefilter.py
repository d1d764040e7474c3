"""Rows that cannot match, dropped before they move: a filter with literals, which Spark pushes down to the scan."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812

from dovetail._hosts.spark.place import can_match
from dovetail._hosts.spark.types import literal

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column

    from dovetail._core.condition.values import Op
    from dovetail._hosts.spark.sides import Sides, SparkSide
    from dovetail._hosts.spark.statistics import Statistics


def prefilter(sides: Sides, left: Statistics, right: Statistics, *, keep_left: bool) -> Sides:
    """Drop from the right side, and unless it is kept from the left one, what no row of the other can match."""
    ops = [comparison.op for comparison in sides.condition.comparisons]
    theirs = _drop(sides, sides.right, [op.flip() for op in ops], left)
    ours = sides.left if keep_left else _drop(sides, sides.left, ops, right)
    return replace(sides, left=ours, right=theirs)


def _drop(sides: Sides, own: SparkSide, ops: list[Op], other: Statistics) -> SparkSide:
    """Keep the rows that satisfy each comparison with the other side's most favourable value."""
    wanted = can_match(sides, own)
    if other.fitting == 0:
        wanted = F.lit(False)  # noqa: FBT003
    else:
        for i, op in enumerate(ops):
            wanted &= _reaches(f"v{i}", op, other.extremes)
    return replace(own, frame=own.frame.filter(wanted))


def _reaches(name: str, op: Op, extremes: pa.Table) -> Column:
    """Whether `own <op> other` holds for the greatest other value, or the least."""
    most = literal(extremes.column(name)[1 if op.rises else 0])
    column = F.col(name)
    if op.rises:
        return column < most if op.strict else column <= most
    return column > most if op.strict else column >= most
