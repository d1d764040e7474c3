"""What each part of a condition does for the join, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dovetail._core.condition.values import Condition
    from dovetail._core.plan.shape import Shape


def uses(condition: Condition, shape: Shape) -> tuple[tuple[str, str], ...]:
    """Name the parts in the order in which they act."""
    return tuple((name, text.replace("`", "")) for name, text in _uses(condition, shape))


def _uses(condition: Condition, shape: Shape) -> Iterator[tuple[str, str]]:
    if condition.left_filters or condition.right_filters:
        yield "filter", " AND ".join(own.sql for own in (*condition.left_filters, *condition.right_filters))
    if condition.keys:
        yield "keys", " AND ".join(str(key) for key in condition.keys)
    comparisons = condition.comparisons
    if shape.slice:
        sliced = " AND ".join(str(comparisons[i]) for i in shape.slice)
        yield "slice", f"{sliced}, {shape.stored} side sorted"
    if shape.threshold is not None:
        yield "threshold", str(comparisons[shape.threshold])
    tested = [str(comparisons[i]) for i in shape.rest] + [own.sql for own in condition.residuals]
    if tested:
        yield "test pair by pair", " AND ".join(tested)
