"""Comparisons with Spark's meaning: NaN equals NaN and is greatest, -0.0 equals 0.0, text compares by its UTF-8 bytes.

Structs (and tuples, which are structs) compare field by field; within them NULL equals NULL and is least.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from dovetail._core.columns.cast import cast
from dovetail._core.columns.coerce import common_type, comparison_type
from dovetail._core.columns.lanes import constant, flags, is_true, present, values
from dovetail._core.columns.order_keys import has_order
from dovetail._core.columns.scope import arguments, merged, operands, refused, text_of, unsupported
from dovetail._core.columns.types import BOOLEAN, family, is_interval, sql_name
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dovetail._core.columns.lanes import Flags, Values
    from dovetail._core.columns.scope import Handler, Scope

    Test = Callable[[pa.Array, pa.Array, exp.Expr], pa.Array]


def brought_together(left: pa.Array, right: pa.Array, node: exp.Expr) -> tuple[pa.Array, pa.Array]:
    """Cast both sides to the type in which Spark compares them."""
    target = comparison_type(left.type, right.type)
    if target is None:
        raise UsageError.cannot_compare(text_of(node), sql_name(left.type), sql_name(right.type))
    _refuse_unordered(target, node)
    return cast(left, target), cast(right, target)


def _refuse_unordered(kind: pa.DataType, node: exp.Expr) -> None:
    """Refuse types whose values, or whose fields' values, have no order here."""
    if family(kind) == "struct":
        for field in kind:
            _refuse_unordered(field.type, node)
    elif not (has_order(kind) or is_interval(kind)):
        raise unsupported(node, f"a comparison of {sql_name(kind)}")


def equal(left: pa.Array, right: pa.Array, node: exp.Expr) -> pa.Array:
    """Say per row whether the values are equal; NULL if either is."""
    left, right = brought_together(left, right, node)
    return _answer(left, right, _same(left, right))


def less(left: pa.Array, right: pa.Array, node: exp.Expr) -> pa.Array:
    """Say per row whether left comes before right; NULL if either is."""
    left, right = brought_together(left, right, node)
    return _answer(left, right, _before(left, right))


def at_most(left: pa.Array, right: pa.Array, node: exp.Expr) -> pa.Array:
    """Say per row whether left does not come after right; NULL if either is."""
    left, right = brought_together(left, right, node)
    return _answer(left, right, ~_before(right, left))


def alike(left: pa.Array, right: pa.Array, node: exp.Expr) -> pa.Array:
    """Say per row whether the values are equal or both NULL; never NULL."""
    left, right = brought_together(left, right, node)
    both, neither = present(left) & present(right), ~present(left) & ~present(right)
    return flags((both & _same(left, right)) | neither, np.ones(len(left), dtype=np.bool_))


def _answer(left: pa.Array, right: pa.Array, answers: Flags) -> pa.Array:
    return flags(answers, present(left) & present(right))


def _same(left: pa.Array, right: pa.Array) -> Flags:
    return _order(left, right) == 0 if family(left.type) == "struct" else _plain("equal", left, right)


def _before(left: pa.Array, right: pa.Array) -> Flags:
    return _order(left, right) < 0 if family(left.type) == "struct" else _plain("less", left, right)


def _plain(test: str, left: pa.Array, right: pa.Array) -> Flags:
    """Compare values of one flat type; what stands for a NULL is arbitrary."""
    kind = family(left.type)
    if kind == "null":
        return np.zeros(len(left), dtype=np.bool_)
    if kind == "float":
        return _float_test(test, values(left), values(right))
    if kind == "year_month":
        left, right = pa.array(values(left)), pa.array(values(right))
    answer = pc.call_function(test, [left, right])
    return np.asarray(pc.fill_null(answer, False).to_numpy(zero_copy_only=False))


def _float_test(test: str, left: Values, right: Values) -> Flags:
    if test == "equal":
        return np.asarray((left == right) | (np.isnan(left) & np.isnan(right)))
    return np.asarray((left < right) | (np.isnan(right) & ~np.isnan(left)))


def _order(left: pa.Array, right: pa.Array) -> Values:
    """Return -1, 0 or 1 per row, NULL before everything."""
    if family(left.type) == "struct":
        order = np.zeros(len(left), dtype=np.int8)
        for place in range(left.type.num_fields):
            fields = (pc.struct_field(left, [place]), pc.struct_field(right, [place]))
            order = np.where(order == 0, _order(*fields), order)
    else:
        order = _plain("less", right, left).astype(np.int8) - _plain("less", left, right)
    ranks = present(left).astype(np.int8) - present(right)
    both = present(left) & present(right)
    return np.where(both, order, ranks)


def _test(test: Test) -> Handler:
    return lambda node, scope: test(*operands(node, scope), node)


def _swapped(test: Test) -> Handler:
    def evaluate(node: exp.Expr, scope: Scope) -> pa.Array:
        left, right = operands(node, scope)
        return test(right, left, node)

    return evaluate


def _inverted(handler: Handler) -> Handler:
    return lambda node, scope: pc.invert(handler(node, scope))


def null_safe(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate <=>, which looks at both sides always."""
    return alike(scope.value(node.this), scope.value(node.expression), node)


def contained(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate IN over a list: true if one is equal, else NULL if any comparison is, else false.

    A candidate is evaluated where the value is there and no earlier candidate equals it.
    """
    if node.args.get("query") or node.args.get("unnest") or not node.expressions:
        raise unsupported(node, "IN over anything but a list")
    nowhere = scope.only(np.zeros(scope.rows, dtype=np.bool_))
    sides = [nowhere.value(side) for side in (node.this, *node.expressions)]
    target = common_type([side.type for side in sides])
    if target is None:
        raise refused(node, *sides)
    wanted = cast(scope.value(node.this), target)
    answer = constant(False, BOOLEAN, scope.rows)  # noqa: FBT003
    for candidate in node.expressions:
        is_leaf = isinstance(candidate, exp.Literal | exp.Null)
        open_rows = np.full(scope.rows, is_leaf) | (present(wanted) & ~is_true(answer))
        other = merged([(open_rows, scope.only(open_rows).value(candidate))], target, scope.rows)
        answer = pc.or_kleene(answer, equal(wanted, other, node))
    return answer


def row(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate (a, b) or struct(a, b) as a struct; fields are named after columns, others after their place."""
    names, fields = [], []
    for place, part in enumerate(node.expressions, start=1):
        inner = part.expression if isinstance(part, exp.PropertyEQ) else part
        own = part.name if isinstance(part, exp.PropertyEQ | exp.Column) else f"col{place}"
        names.append(own)
        fields.append(scope.value(inner))
    return pa.StructArray.from_arrays(fields, names=names)


def _extreme(beats: Callable[[pa.Array, pa.Array], Flags]) -> Handler:
    """Build least or greatest: NULLs are skipped, of equal values the first is taken."""

    def best(node: exp.Expr, scope: Scope) -> pa.Array:
        sides = [scope.value(side) for side in arguments(node, ("this", "expressions"))]
        target = common_type([side.type for side in sides], promote_strings=False)
        if target is None or len(sides) == 1:
            raise refused(node, *sides)
        _refuse_unordered(target, node)
        return _fold([cast(side, target) for side in sides], beats)

    return best


def _fold(sides: Sequence[pa.Array], beats: Callable[[pa.Array, pa.Array], Flags]) -> pa.Array:
    best = sides[0]
    for side in sides[1:]:
        wins = present(side) & (~present(best) | beats(side, best))
        best = merged(
            [(wins, side.filter(pa.array(wins))), (~wins, best.filter(pa.array(~wins)))], best.type, len(best)
        )
    return best


HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.EQ: _test(equal),
    exp.NEQ: _inverted(_test(equal)),
    exp.LT: _test(less),
    exp.LTE: _test(at_most),
    exp.GT: _swapped(less),
    exp.GTE: _swapped(at_most),
    exp.NullSafeEQ: null_safe,
    exp.NullSafeNEQ: _inverted(null_safe),
    exp.EqualNull: null_safe,
    exp.In: contained,
    exp.Tuple: row,
    exp.Struct: row,
    exp.Least: _extreme(_before),
    exp.Greatest: _extreme(lambda left, right: _before(right, left)),
}
