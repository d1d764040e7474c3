"""Columns of a fixed length, CHAR(n): Spark compares two of unlike lengths as if the shorter had as many spaces more.

It reads the lengths off the columns themselves, which keep them only as long as they stay where they are. So the spaces
are written into the condition. BETWEEN is left as it is: there Spark 4.3 looks for no lengths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dovetail._core.condition.inputs import Names

_COMPARED = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


def padded(node: exp.Expr, inputs: Names) -> exp.Expr:
    """A resolved node in which texts of fixed length are as long as what they are compared with."""
    if not any(own.lengths for own in inputs.each):
        return node
    holder = exp.Paren(this=node.copy())
    for part in holder.find_all(*_COMPARED):
        _pad((part.this, part.expression), inputs)
    for choice in holder.find_all(exp.In):
        if isinstance(choice.this.unnest(), exp.Column) and len(set(map(type, choice.expressions))) == 1:
            _pad((choice.this, *choice.expressions), inputs)
    return cast("exp.Expr", holder.this)


def _pad(operands: Iterable[exp.Expr], inputs: Names) -> None:
    """Give columns, and the literals that they are compared with, the length of the longest of them."""
    plain = [own.unnest() for own in operands]
    lengths = [_length(own, inputs) for own in plain]
    known = [own for own in lengths if own is not None]
    if len(known) < len(plain) or not any(isinstance(own, exp.Column) for own in plain):
        return
    for own, length in zip(plain, known, strict=True):
        if length < max(known) or _may_be_shorter(own, inputs):
            own.replace(exp.Anonymous(this="rpad", expressions=[own.copy(), exp.Literal.number(max(known))]))


def _may_be_shorter(node: exp.Expr, inputs: Names) -> bool:
    """Whether it is a column whose values need not have its length."""
    owner = inputs.named(node.table) if isinstance(node, exp.Column) else None
    return owner is not None and owner.unfilled


def _length(node: exp.Expr, inputs: Names) -> int | None:
    """How many letters every value has; None if nothing is known of that."""
    if isinstance(node, exp.Literal):
        return len(node.name) if node.is_string else None
    if not isinstance(node, exp.Column):
        return None
    owner = inputs.named(node.table)
    return None if owner is None else dict(owner.lengths).get(node.name)
