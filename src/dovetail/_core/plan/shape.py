"""The form in which a condition can be answered without comparing every pair.

All comparisons that share an expression of one side, the *stored* one, become a *slice*: that side is sorted by the
expression, and each row of the other side, the *probing* one, has its partners between two positions. One further
comparison can be a *threshold*, tested on whole blocks of a slice at a time. What is left is tested pair by pair.

    l.at >= r.start AND l.at < r.end              stored l, slice on l.at
    l.start < r.end AND r.start < l.end           stored r, slice on r.end, threshold on r.start
    l.a < r.x AND l.b < r.x AND l.c > r.y         stored r, slice on r.x (two bounds), threshold on r.y
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dovetail._core.condition.values import Comparison, Condition, Side


class Kind(Enum):
    """What a reader would call the join."""

    EQUALITY = "equality only"
    INEQUALITY = "one inequality"
    POINT_IN_INTERVAL = "point in interval"
    BAND = "band"
    OVERLAP = "overlap"
    TWO_INEQUALITIES = "two inequalities"
    NESTED_LOOP = "nested loop"


@dataclass(frozen=True, slots=True)
class Shape:
    """How the comparisons of a condition are used; numbers point into `Condition.comparisons`."""

    stored: Side
    slice: tuple[int, ...] = ()
    threshold: int | None = None
    rest: tuple[int, ...] = ()

    @property
    def used(self) -> tuple[int, ...]:
        """The comparisons that the sweep itself answers."""
        return self.slice if self.threshold is None else (*self.slice, self.threshold)


def shapes(condition: Condition, axes: tuple[str, ...] | None = None) -> Iterator[Shape]:
    """Every way to use the comparisons, those that use more of them first.

    Comparisons of one expression share a slice only on one axis: `x < y + 0.25` and `x > y - 0.001` compare decimals of
    different scales.
    """
    found = sorted(
        _all_shapes(condition, axes or ("",) * len(condition.comparisons)),
        key=lambda shape: (-len(shape.used), -len(shape.slice)),
    )
    yield from dict.fromkeys(found) or [Shape("right")]


def _all_shapes(condition: Condition, axes: tuple[str, ...]) -> Iterator[Shape]:
    everything = range(len(condition.comparisons))
    for stored, numbers in _shared(condition.comparisons, axes):
        others = tuple(i for i in everything if i not in numbers)
        for threshold in others or (None,):
            yield Shape(stored, numbers, threshold, tuple(i for i in others if i != threshold))


def _shared(comparisons: tuple[Comparison, ...], axes: tuple[str, ...]) -> Iterator[tuple[Side, tuple[int, ...]]]:
    """The comparisons that share an expression of one side, for every expression of either side."""
    sides: tuple[Side, Side] = ("right", "left")
    for side in sides:
        expressions = [(getattr(own, side), axis) for own, axis in zip(comparisons, axes, strict=True)]
        for own in dict.fromkeys(expressions):
            yield side, tuple(i for i, other in enumerate(expressions) if other == own)


def kind_of(condition: Condition, shape: Shape) -> Kind:
    """Name the join as a reader would."""
    used = [condition.comparisons[i] for i in shape.used]
    if not used:
        return Kind.EQUALITY if condition.keys else Kind.NESTED_LOOP
    if len({comparison.op.rises for comparison in used}) == 1:
        return Kind.INEQUALITY if len(used) == 1 else Kind.TWO_INEQUALITIES
    if shape.threshold is not None:
        return Kind.OVERLAP if len(used) == 2 else Kind.TWO_INEQUALITIES  # noqa: PLR2004 -- two ends, two comparisons
    probing = "left" if shape.stored == "right" else "right"
    columns = {_columns(getattr(comparison, probing).node) for comparison in used}
    return Kind.BAND if len(columns) == 1 else Kind.POINT_IN_INTERVAL


def _columns(node: exp.Expr) -> frozenset[str]:
    return frozenset(column.name for column in node.find_all(exp.Column))
