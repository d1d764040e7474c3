"""Bring a boolean to the form that the split understands: comparisons under AND, wherever logic allows it.

Every rewrite holds in SQL's three-valued logic: a row for which the old form is true, false or unknown gets the same
from the new one.
"""

from __future__ import annotations

from functools import reduce

from sqlglot import exp

from dovetail._core.condition.parse import wrapped

_NEGATIONS: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GTE,
    exp.LTE: exp.GT,
    exp.GT: exp.LTE,
    exp.GTE: exp.LT,
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.NullSafeEQ: exp.NullSafeNEQ,
    exp.NullSafeNEQ: exp.NullSafeEQ,
}


def conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """Flatten a boolean into the parts that must all hold; a chain of AND may be of any length."""
    found: list[exp.Expr] = []
    waiting = [node]
    while waiting:
        part = _plain(waiting.pop())
        if isinstance(part, exp.And):
            waiting += [part.expression, part.this]
        elif isinstance(part, exp.Or):
            found += _factored(part)
        else:
            found.append(part)
    return found


def _plain(node: exp.Expr) -> exp.Expr:
    """Undo one layer of spelling: parentheses, BETWEEN, NOT, row equality."""
    node = node.unnest()
    if isinstance(node, exp.Between):
        return _between(node)
    if isinstance(node, exp.Not):
        return _negated(node)
    if isinstance(node, exp.EQ):
        return _by_field(node)
    return node


def _between(node: exp.Between) -> exp.Expr:
    """`x BETWEEN low AND high` as two comparisons; of SYMMETRIC, which Spark lacks, nothing is made."""
    if node.args.get("symmetric"):
        return node
    low = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
    return exp.And(this=low, expression=exp.LTE(this=node.this.copy(), expression=node.args["high"].copy()))


def _negated(node: exp.Not) -> exp.Expr:
    """Push NOT one step inward, where that makes a comparison or a conjunction of it."""
    inner = node.this.unnest()
    if isinstance(inner, exp.Not):
        return _plain(inner.this)
    if isinstance(inner, exp.Or):
        return _all_of([exp.Not(this=wrapped(part)) for part in inner.flatten()])
    opposite = _NEGATIONS.get(type(inner))
    if opposite is not None and not isinstance(inner.this, exp.Tuple):
        return opposite(this=inner.this.copy(), expression=inner.expression.copy())
    return node


def _by_field(node: exp.EQ) -> exp.Expr:
    """`(a, b) = (x, y)` field by field. Spark compares structs, in which NULL equals NULL: hence null-safe."""
    left, right = node.this, node.expression
    if not (isinstance(left, exp.Tuple) and isinstance(right, exp.Tuple)):
        return node
    if len(left.expressions) != len(right.expressions) or not left.expressions:
        return node
    fields: list[exp.Expr] = [
        exp.NullSafeEQ(this=wrapped(a), expression=wrapped(b))
        for a, b in zip(left.expressions, right.expressions, strict=True)
    ]
    return _all_of(fields)


def _all_of(parts: list[exp.Expr]) -> exp.Expr:
    return reduce(lambda a, b: exp.And(this=a, expression=b), parts)


def _factored(node: exp.Or) -> list[exp.Expr]:
    """`(a AND b) OR (a AND c)` as `a` and `b OR c`: what every branch demands can serve the join."""
    same = _null_safe_spelled_out(node)
    if same is not None:
        return [same]
    branches = [conjuncts(branch) for branch in node.flatten()]
    shared = [part for part in branches[0] if all(part in branch for branch in branches[1:])]
    if not shared:
        return [node]
    rests = [[part for part in branch if part not in shared] for branch in branches]
    if not all(rests):
        return shared
    return [*shared, exp.or_(*(exp.and_(*rest) for rest in rests))]


def _null_safe_spelled_out(node: exp.Or) -> exp.Expr | None:
    """`a = b OR (a IS NULL AND b IS NULL)`, in any order, as `a <=> b`; None if the node is something else.

    The two differ only in saying NULL or false for a pair that does not match, which no join can tell apart.
    """
    for equal, nulls in (
        (node.this.unnest(), node.expression.unnest()),
        (node.expression.unnest(), node.this.unnest()),
    ):
        if isinstance(equal, exp.EQ) and isinstance(nulls, exp.And):
            wanted = {_is_null(equal.this), _is_null(equal.expression)}
            if {nulls.this.unnest(), nulls.expression.unnest()} == wanted:
                return exp.NullSafeEQ(this=equal.this.copy(), expression=equal.expression.copy())
    return None


def _is_null(node: exp.Expr) -> exp.Expr:
    return exp.Is(this=node.copy(), expression=exp.Null())
