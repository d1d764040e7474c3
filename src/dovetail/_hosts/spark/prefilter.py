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
    from dovetail._hosts.spark.sides import Sides
    from dovetail._hosts.spark.statistics import Statistics


def prefilter(sides: Sides, left: Statistics, right: Statistics, *, keep_left: bool) -> Sides:
    """Drop from the right side, and unless it is kept from the left one, what no row of the other can match."""
    flipped = prefilter_left(sides.flip(), left.extremes, left.fitting).flip()
    return flipped if keep_left else prefilter_left(flipped, right.extremes, right.fitting)


def prefilter_left(sides: Sides, extremes: pa.Table, fitting: int) -> Sides:
    """Keep the left rows that satisfy each comparison with the other side's most favourable value."""
    wanted = can_match(sides, sides.left)
    if fitting == 0:
        wanted = F.lit(False)  # noqa: FBT003
    else:
        for i, comparison in enumerate(sides.condition.comparisons):
            wanted &= _reaches(f"v{i}", comparison.op, extremes)
    return replace(sides, left=replace(sides.left, frame=sides.left.frame.filter(wanted)))


def _reaches(name: str, op: Op, extremes: pa.Table) -> Column:
    """Whether `own <op> other` holds for the greatest other value, or the least."""
    most = literal(extremes.column(name)[1 if op.rises else 0])
    column = F.col(name)
    if op.rises:
        return column < most if op.strict else column <= most
    return column > most if op.strict else column >= most
