"""A column plus or minus lengths of time, however that is written: `INTERVAL 1 HOUR + (r.ts - INTERVAL 5 MINUTES)`."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from dovetail._core.columns.table import Columns
from dovetail._core.columns.types import DAY_TIME
from dovetail._core.condition.parse import expression


@dataclass(frozen=True, slots=True)
class Moved:
    """A column, and the microseconds by which it is moved, one length after the other."""

    column: exp.Column
    lengths: tuple[int, ...] = ()


def moved_column(node: exp.Expr) -> Moved | None:
    """The column that a node moves, if it does no more than that."""
    if isinstance(node, exp.Paren):
        return moved_column(node.this)
    if isinstance(node, exp.Column):
        return Moved(node)
    if not isinstance(node, (exp.Add, exp.Sub)):
        return None
    first, second = node.this, node.expression
    if isinstance(node, exp.Add) and not first.find(exp.Column):
        first, second = second, first
    moved = moved_column(first)
    length = None if moved is None else length_of(second)
    if moved is None or length is None:
        return None
    return Moved(moved.column, (*moved.lengths, length if isinstance(node, exp.Add) else -length))


def length_of(node: exp.Expr) -> int | None:
    """The microseconds of a length of time; None if it is anything else, rows differ in it or, by months, times do."""
    if node.find(exp.Column):
        return None
    found = Columns({}, 1).evaluate(expression(node))
    return found.cast(pa.int64())[0].as_py() if found.type == DAY_TIME else None
