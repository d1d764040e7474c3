"""Rows that cannot match, dropped before they move: a filter with literals, which Spark pushes down to the scan."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dovetail._hosts.spark.types import literal_text

if TYPE_CHECKING:
    import pyarrow as pa

    from dovetail._core.condition.values import Op
    from dovetail._hosts.spark.sides import Sides
    from dovetail._hosts.spark.statistics import Statistics


def prefilter(sides: Sides, left: Statistics, right: Statistics, *, keep_left: bool) -> Sides:
    """Drop from the right side, and unless it is kept from the left one, what no row of the other can match."""
    flipped = prefilter_left(sides.flip(), left.extremes).flip()
    return flipped if keep_left else prefilter_left(flipped, right.extremes)


def prefilter_left(sides: Sides, extremes: pa.Table) -> Sides:
    """Keep the left rows that satisfy each comparison with the other side's most favourable value, if it has any."""
    compared = sides.condition.comparisons
    wanted = "false"
    if extremes.num_rows or not compared:
        reached = [_reaches(f"v{i}", own.op, extremes) for i, own in enumerate(compared)]
        wanted = " AND ".join([sides.can_match(sides.left), *reached])
    return replace(sides, left=replace(sides.left, frame=sides.left.frame.filter(wanted)))


def _reaches(name: str, op: Op, extremes: pa.Table) -> str:
    """Whether `own <op> other` holds for the greatest other value, or the least."""
    most = extremes.column(name)[1 if op.rises else 0]
    return f"{name} {op.value} {literal_text(most)}"
