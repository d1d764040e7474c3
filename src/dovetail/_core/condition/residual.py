"""Parts of a condition as plain booleans, to be tested pair by pair."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from dovetail._core.condition.parse import expression, wrapped
from dovetail._core.condition.values import Comparison, Op

if TYPE_CHECKING:
    from dovetail._core.condition.values import Condition, Equality, Expression

OPS: dict[type[exp.Expr], Op] = {exp.LT: Op.LT, exp.LTE: Op.LE, exp.GT: Op.GT, exp.GTE: Op.GE}
"""Which comparison a node of a parsed condition stands for."""
_NODES = {op: node for node, op in OPS.items()}


def as_residual(part: Equality | Comparison) -> Expression:
    """A key or comparison as a plain boolean."""
    return expression(_node(part)(this=wrapped(part.left.node), expression=wrapped(part.right.node)))


def _node(part: Equality | Comparison) -> type[exp.Expr]:
    if isinstance(part, Comparison):
        return _NODES[part.op]
    return exp.NullSafeEQ if part.null_safe else exp.EQ


def by_keys(condition: Condition) -> Condition:
    """The same condition, found by its keys alone: comparisons are tested pair by pair."""
    tested = tuple(as_residual(own) for own in condition.comparisons)
    return replace(condition, comparisons=(), residuals=(*condition.residuals, *tested))
