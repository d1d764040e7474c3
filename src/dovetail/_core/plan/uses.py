"""What each part of a condition does for the join, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from dovetail._core.condition.parse import told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dovetail._core.condition.values import Comparison, Condition, Expression
    from dovetail._core.plan.shape import Shape


def uses(condition: Condition, shape: Shape) -> tuple[tuple[str, str], ...]:
    """Name the parts in the order in which they act."""
    return tuple((name, told(text)) for name, text in _uses(condition, shape))


def _uses(condition: Condition, shape: Shape) -> Iterator[tuple[str, str]]:
    if condition.left_filters or condition.right_filters:
        yield "filter", " AND ".join(map(_part, (*condition.left_filters, *condition.right_filters)))
    if condition.keys:
        yield "keys", " AND ".join(key.written or str(key) for key in condition.keys)
    comparisons = condition.comparisons
    if shape.slice:
        yield "slice", f"{_all(comparisons, shape.slice)}, {shape.stored} side sorted"
    if shape.threshold is not None:
        yield "threshold", _all(comparisons, (shape.threshold,))
    tested = dict.fromkeys([_all(comparisons, shape.rest), *map(_part, condition.residuals)])
    if any(tested):
        yield "test pair by pair", " AND ".join(filter(None, tested))


def _part(own: Expression) -> str:
    """A part of a conjunction."""
    return f"({own.sql})" if isinstance(own.node, exp.Or) else own.sql


def _all(comparisons: tuple[Comparison, ...], numbers: tuple[int, ...]) -> str:
    """Some comparisons as the caller wrote them, of which one may have become two."""
    return " AND ".join(dict.fromkeys(comparisons[i].written or str(comparisons[i]) for i in numbers))
