"""Three-valued logic and the expressions that choose: AND, OR, NOT, IS, BETWEEN, CASE, IF, coalesce and their kin.

A branch is evaluated on the rows that take it and on no others, so that a guard such as
`CASE WHEN b <> 0 THEN a / b END` guards. AND and OR evaluate their right side where the left does not decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from dovetail._core.columns.cast import cast
from dovetail._core.columns.coerce import common_type
from dovetail._core.columns.compare import alike, at_most, equal
from dovetail._core.columns.lanes import flags, is_true, present, values
from dovetail._core.columns.scope import arguments, merged, refused, unsupported
from dovetail._core.columns.types import BOOLEAN, NULL, STRING

if TYPE_CHECKING:
    from collections.abc import Callable

    from dovetail._core.columns.lanes import Flags
    from dovetail._core.columns.scope import Handler, Scope

    Part = Callable[[Scope], pa.Array]


def _truth(node: exp.Expr, array: pa.Array) -> pa.Array:
    """Take a boolean, a NULL or a string that says true or false."""
    if array.type in {BOOLEAN, NULL, STRING}:
        return cast(array, BOOLEAN)
    raise refused(node, array)


def _first(node: exp.Expr, scope: Scope) -> pa.Array:
    """The left side of the innermost AND or OR: one of its sides must be a boolean before a string becomes one."""
    left = scope.value(node.this)
    if left.type in {NULL, STRING}:
        right = scope.none().value(node.expression)
        if STRING in {left.type, right.type} <= {NULL, STRING}:
            raise refused(node, left, right)
    return _truth(node, left)


def _both(left: pa.Array, right: Part, scope: Scope) -> pa.Array:
    """AND: the right side is evaluated where the left is not false."""
    open_rows = ~present(left) | values(left)
    return pc.and_kleene(left, merged([(open_rows, right(scope.only(open_rows)))], BOOLEAN, scope.rows))


def _chain(node: exp.Expr) -> list[exp.Expr]:
    """The steps of `a AND b AND c`, the innermost first: a chain may be longer than calls can nest."""
    steps = [node]
    while type(steps[-1].this) is type(node):
        steps.append(steps[-1].this)
    return steps[::-1]


def _right(node: exp.Expr) -> Part:
    return lambda inner: _truth(node, inner.value(node.expression))


def both(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate AND."""
    steps = _chain(node)
    answer = _first(steps[0], scope)
    for step in steps:
        answer = _both(answer, _right(step), scope)
    return answer


def either(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate OR; the right side where the left is not true."""
    steps = _chain(node)
    answer = _first(steps[0], scope)
    for step in steps:
        open_rows = ~is_true(answer)
        answer = pc.or_kleene(answer, merged([(open_rows, _right(step)(scope.only(open_rows)))], BOOLEAN, scope.rows))
    return answer


def negated(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate NOT."""
    return pc.invert(_truth(node, scope.value(node.this)))


def is_state(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate IS NULL, IS TRUE and IS FALSE."""
    if isinstance(node.expression, exp.Null):
        return is_null(scope.value(node.this))
    return alike(scope.value(node.this), scope.value(node.expression), node)


def is_null(array: pa.Array) -> pa.Array:
    """Say per row whether the value is NULL."""
    return flags(~present(array), np.ones(len(array), dtype=np.bool_))


def between(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate BETWEEN as the two comparisons that it stands for."""
    if node.args.get("symmetric"):
        raise unsupported(node, "BETWEEN SYMMETRIC")
    low, high = node.args["low"], node.args["high"]
    reaches = at_most(scope.value(low), scope.value(node.this), node)
    return _both(reaches, lambda inner: at_most(inner.value(node.this), inner.value(high), node), scope)


def case(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate CASE: the first condition that is true decides; with an operand, the first value that equals it."""
    operand = node.args.get("this")

    def test_of(branch: exp.Expr) -> Part:
        if operand is None:
            return lambda inner: inner.value(branch.this)
        return lambda inner: equal(inner.value(operand), inner.value(branch.this), node)

    branches = [(test_of(branch), branch.args["true"]) for branch in node.args["ifs"]]
    return _chosen(node, scope, branches, node.args.get("default"))


def if_else(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate IF; NULL counts as false."""

    def test(inner: Scope) -> pa.Array:
        answers = inner.value(node.this)
        return cast(answers, BOOLEAN) if answers.type == NULL else answers

    return _chosen(node, scope, [(test, node.args["true"])], node.args.get("false"))


def nvl2(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate nvl2: the second value where the first is not NULL, else the third."""

    def test(inner: Scope) -> pa.Array:
        return pc.invert(is_null(inner.value(node.this)))

    return _chosen(node, scope, [(test, node.args["true"])], node.args.get("false"))


def _chosen(node: exp.Expr, scope: Scope, branches: list[tuple[Part, exp.Expr]], default: exp.Expr | None) -> pa.Array:
    """Give each row to the first branch whose test is true on it, and the rest to the default."""
    parts: list[tuple[Flags, pa.Array]] = []
    waiting = np.ones(scope.rows, dtype=np.bool_)
    for test, result in branches:
        answers = test(scope.only(waiting))
        if answers.type != BOOLEAN:
            raise refused(node, answers)
        taken = waiting.copy()
        taken[waiting] = is_true(answers)
        parts.append((taken, scope.only(taken).value(result)))
        waiting &= ~taken
    if default is not None:
        parts.append((waiting, scope.only(waiting).value(default)))
    return _together(node, scope, parts)


def _together(node: exp.Expr, scope: Scope, parts: list[tuple[Flags, pa.Array]]) -> pa.Array:
    target = common_type([array.type for _, array in parts])
    if target is None:
        raise refused(node, *(array for _, array in parts))
    return merged(parts, target, scope.rows)


def coalesce(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate coalesce, nvl and ifnull: the first value that is not NULL."""
    parts: list[tuple[Flags, pa.Array]] = []
    waiting = np.ones(scope.rows, dtype=np.bool_)
    for option in arguments(node, ("this", "expressions")):
        array = scope.only(waiting).value(option)
        taken = waiting.copy()
        taken[waiting] = present(array)
        parts.append((taken, array.filter(pa.array(present(array)))))
        waiting &= ~taken
    return _together(node, scope, parts)


def nullif(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate nullif: the first value, or NULL where it equals the second; the type is that of the first."""
    value = scope.value(node.this)
    same = is_true(equal(value, scope.value(node.expression), node))
    return merged([(~same, value.filter(pa.array(~same)))], value.type, scope.rows)


def _named_is_null(node: exp.Expr, scope: Scope) -> pa.Array:
    return is_null(scope.value(node.expressions[0]))


def _named_is_not_null(node: exp.Expr, scope: Scope) -> pa.Array:
    return pc.invert(_named_is_null(node, scope))


HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.And: both,
    exp.Or: either,
    exp.Not: negated,
    exp.Is: is_state,
    exp.Between: between,
    exp.Case: case,
    exp.If: if_else,
    exp.Coalesce: coalesce,
    exp.Nullif: nullif,
    exp.Nvl2: nvl2,
}
NAMED: dict[str, Handler] = {"isnull": _named_is_null, "isnotnull": _named_is_not_null}
