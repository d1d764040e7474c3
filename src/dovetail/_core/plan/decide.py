"""Which side stays, which travels, and how: broadcast, ranges, or Spark's own join.

The *anchor* is never replicated. An outer, semi or anti join fixes it: the kept side. An inner join is free, and
anchors the side that is costlier to move.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from dovetail._core.plan.knobs import FAMILY

if TYPE_CHECKING:
    from dovetail._core.condition.values import Side
    from dovetail._core.plan.query import How

BROADCAST_BYTES = 64 << 20
CELL_ROWS = 500_000
MOST_CELLS = 512
HOT_SHARE = 0.5
"""A key with more than this share of a cell's rows is cut further: by its values, or by time."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of an input: rows that can match, and about how many bytes each takes on its way."""

    name: str
    rows: int
    row_bytes: int

    @property
    def size(self) -> int:
        """About how many bytes would travel."""
        return self.rows * self.row_bytes


@dataclass(frozen=True, slots=True)
class Decision:
    """The anchor, the algorithm, the number of cells and why."""

    anchor: Side
    algorithm: str
    cells: int
    reason: str


def decide(
    how: How, per: Side | None, left: Facts, right: Facts, *, asked: str, cells: int | None, cores: int
) -> Decision:
    """Choose anchor and placement by the sizes of both sides."""
    anchor = _anchor(how, per, left, right)
    own, other = (left, right) if anchor == "left" else (right, left)
    fixed = per is not None or how != "inner"
    tasks = min(MOST_CELLS, max(2 * cores, ceil((left.rows + right.rows) / CELL_ROWS)))
    if asked in FAMILY:
        dealt = f"{asked} was asked for, its cells are dealt to {tasks} tasks"
        return Decision(anchor, asked, tasks, f"{_stays(own, fixed=fixed)}; {dealt}")
    small = other.size <= BROADCAST_BYTES
    if asked == "broadcast" or (asked == "auto" and small and cells is None):
        return broadcast(anchor, own, other, fixed=fixed, cells=cells or cores)
    number = cells or tasks
    size = f"{other.name}, about {other.rows:,} rows in {size_text(other.size)}, is too much for every task"
    travels = "cells were asked for" if cells or asked == "range" else size
    return Decision(
        anchor, "range", number, f"{_stays(own, fixed=fixed)}; {travels}, so rows are placed into {number} cells"
    )


def broadcast(anchor: Side, own: Facts, other: Facts, *, fixed: bool, cells: int) -> Decision:
    """The other side travels to every task; `fixed`: the anchor is so whatever its size."""
    travels = f"{other.name}, about {other.rows:,} rows in {size_text(other.size)}, travels to every task"
    return Decision(anchor, "broadcast", cells, f"{_stays(own, fixed=fixed)}; {travels}")


def _stays(own: Facts, *, fixed: bool) -> str:
    return f"{own.name} stays in place: " + ("its rows are kept" if fixed else "it is the larger one")


def _anchor(how: How, per: Side | None, left: Facts, right: Facts) -> Side:
    if per is not None:
        return per
    if how == "inner":
        return "left" if left.size >= right.size else "right"
    return "right" if how == "right" else "left"


def size_text(size: float) -> str:
    """Bytes as a person reads them."""
    size = int(min(size, 1 << 62))
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1024:  # noqa: PLR2004 -- the base of the units
            return f"{size} {unit}"
        size //= 1024
    return f"{size} TB"
