"""Parts of a condition as plain booleans, to be tested pair by pair."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from dovetail._core.condition.parse import expression, wrapped
from dovetail._core.condition.values import Comparison

if TYPE_CHECKING:
    from dovetail._core.condition.values import Condition, Equality, Expression

_OPERATORS = {"<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE}


def as_residual(part: Equality | Comparison) -> Expression:
    """A key or comparison as a plain boolean."""
    if isinstance(part, Comparison):
        node: type[exp.Binary] = _OPERATORS[part.op.value]
    else:
        node = exp.NullSafeEQ if part.null_safe else exp.EQ
    return expression(node(this=wrapped(part.left.node), expression=wrapped(part.right.node)))


def by_keys(condition: Condition) -> Condition:
    """The same condition, found by its keys alone: comparisons are tested pair by pair."""
    tested = tuple(as_residual(own) for own in condition.comparisons)
    return replace(condition, comparisons=(), residuals=(*condition.residuals, *tested))
