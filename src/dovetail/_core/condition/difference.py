"""Comparisons of a difference or sum of both sides: `abs(l.a - r.a) <= 10`, `datediff(l.day, r.day) < 3`.

They speak of both sides at once, so no side can be sorted for them as they stand. Where types allow it, they are solved
for one side (`columns.solve`); here they are only recognised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from dovetail._core.condition.parse import expression, sides
from dovetail._core.condition.residual import OPS
from dovetail._core.condition.values import Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dovetail._core.condition.inputs import Inputs
    from dovetail._core.condition.values import Condition, Expression

_EPOCH = exp.cast(exp.Literal.string("1970-01-01"), "date")


@dataclass(frozen=True, slots=True)
class Difference:
    """`first - second <op> bound`, or a sum; `op` is None for an equality.

    The two terms speak of different sides, the bound of at most one; it goes with the first term if `bound_first`.
    """

    written: Expression
    first: Expression
    second: Expression
    op: Op | None
    bound: Expression
    bound_first: bool
    absolute: bool = False
    added: bool = False

    @property
    def terms(self) -> tuple[Expression, Expression, Expression]:
        """All whose types matter."""
        return self.first, self.second, self.bound

    @property
    def of(self) -> tuple[Expression, Expression, bool]:
        """What is compared, whatever the bound."""
        return self.first, self.second, self.added


def differences(condition: Condition, inputs: Inputs) -> Iterator[Difference]:
    """The residuals that are such comparisons."""
    for residual in condition.residuals:
        found = _difference(residual, inputs)
        if found is not None:
            yield found


def _difference(residual: Expression, inputs: Inputs) -> Difference | None:
    node = residual.node
    if not isinstance(node, (*OPS, exp.EQ)):
        return None
    op = OPS.get(type(node))
    for compared, bound, own in (
        (node.this, node.expression, op),
        (node.expression, node.this, op.flip() if op else None),
    ):
        inner = compared.unnest()
        absolute = isinstance(inner, exp.Abs)
        terms = _terms(inner.this.unnest() if absolute else inner, inputs)
        near = sides(bound, inputs)
        if terms is None or len(near) > 1 or (absolute and (own not in (Op.LT, Op.LE) or terms[2])):
            continue
        first, second, added = terms
        bound_first = (near or {"left"}) == sides(first, inputs)
        ends = expression(first), expression(second)
        return Difference(residual, *ends, own, expression(bound.unnest()), bound_first, absolute, added)
    return None


def _terms(node: exp.Expr, inputs: Inputs) -> tuple[exp.Expr, exp.Expr, bool] | None:
    """Both terms of a difference or sum of one side with the other, and whether it is a sum; None if it is neither."""
    if isinstance(node, exp.DateDiff) and node.args.get("unit") is None:
        days = [exp.DateDiff(this=own.copy(), expression=_EPOCH.copy()) for own in (node.this, node.expression)]
        first, second = days[0], days[1]
    elif isinstance(node, (exp.Sub, exp.Add)):
        first, second = node.this.unnest(), node.expression.unnest()
    else:
        return None
    if (
        len(sides(first, inputs)) != 1
        or len(sides(second, inputs)) != 1
        or sides(first, inputs) == sides(second, inputs)
    ):
        return None
    return first, second, isinstance(node, exp.Add)
