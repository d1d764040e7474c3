"""A resolved boolean, split by what each part can do for the join."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from dovetail._core.condition.dialect import AsWritten
from dovetail._core.condition.normalise import conjuncts
from dovetail._core.condition.parse import expression, parse, sides
from dovetail._core.condition.residual import OPS, as_residual
from dovetail._core.condition.values import Comparison, Condition, Equality
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from dovetail._core.condition.inputs import Inputs, Names
    from dovetail._core.condition.values import Expression

MOST_DRIVING = 32
"""So many comparisons may drive a join, the others are tested pair by pair: every two of them are tried on a sample."""
_NO_BOOLEAN = (exp.Binary, exp.Literal, exp.Neg, exp.Interval)
_BOOLEAN_BINARIES = (exp.Predicate, exp.Connector, exp.Dot)


def parse_boolean(text: str, inputs: Names) -> exp.Expr:
    """Parse a condition; refuse what is plainly some other kind of expression."""
    if isinstance(text, str) and all(text.strip() in own.columns for own in inputs.each):
        raise UsageError.shared_column(text.strip(), [own.name for own in inputs.each])
    node = parse(text, inputs)
    if isinstance(node.unnest(), _NO_BOOLEAN) and not isinstance(node.unnest(), _BOOLEAN_BINARIES):
        raise UsageError.no_boolean(text)
    return node


def read_condition(text: str, inputs: Inputs) -> Condition:
    """Parse a condition and sort its parts into keys, comparisons, filters and residuals."""
    node = parse_boolean(text, inputs)
    parts = _Parts(inputs)
    for part in conjuncts(node):
        parts.add(part)
    return parts.condition(node.sql(dialect=AsWritten))


class _Parts:
    """The conjuncts seen so far, by what they can do."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._keys: list[Equality] = []
        self._comparisons: list[Comparison] = []
        self._filters: dict[str, list[Expression]] = {"left": [], "right": []}
        self._residuals: list[Expression] = []

    def add(self, node: exp.Expr) -> None:
        spoken_of = sides(node, self._inputs)
        if len(spoken_of) < 2:  # noqa: PLR2004 -- a constant is tested with the left rows
            self._filters[next(iter(spoken_of), "left")].append(expression(node))
        elif not self._add_between_sides(node):
            self._residuals.append(expression(node))

    def _add_between_sides(self, node: exp.Expr) -> bool:
        """Take a comparison of one side with the other; False if it is something else."""
        operands = self._operands(node)
        if operands is None:
            return False
        left, right, flipped = operands
        if isinstance(node, (exp.EQ, exp.NullSafeEQ)):
            self._keys.append(Equality(left, right, null_safe=isinstance(node, exp.NullSafeEQ)))
            return True
        op = OPS.get(type(node))
        if op is None:
            return False
        self._comparisons.append(Comparison(left, op.flip() if flipped else op, right))
        return True

    def _operands(self, node: exp.Expr) -> tuple[Expression, Expression, bool] | None:
        """The left and the right operand, and whether the text had them the other way round."""
        if not isinstance(node, exp.Binary):
            return None
        first, second = node.this.unnest(), node.expression.unnest()
        one, other = sorted(sides(first, self._inputs)), sorted(sides(second, self._inputs))
        if one == ["left"] and other == ["right"]:
            return expression(first), expression(second), False
        if one == ["right"] and other == ["left"]:
            return expression(second), expression(first), True
        return None

    def condition(self, sql: str) -> Condition:
        driving = tuple(dict.fromkeys(self._comparisons))
        return Condition(
            sql=sql,
            keys=tuple(dict.fromkeys(self._keys)),
            comparisons=driving[:MOST_DRIVING],
            left_filters=tuple(self._filters["left"]),
            right_filters=tuple(self._filters["right"]),
            residuals=(*self._residuals, *map(as_residual, driving[MOST_DRIVING:])),
        )
