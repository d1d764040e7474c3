"""A plain interpreter of Spark SQL expressions over a left and a right row.

`read` turns a parsed expression into a `Term`; one small function per kind of node. Logic has three values: a
comparison with NULL is NULL, and a pair matches only where the condition is true.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cmp_to_key, partial
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import sqlglot
from sqlglot import exp

from dovetail.errors import UnsupportedError, UsageError
from dovetail.testing._arithmetic import absolute, arithmetic, negated
from dovetail.testing._kinds import (
    BIGINT,
    BINARY,
    BOOLEAN,
    INTERVALS,
    MAX_PRECISION,
    MOMENTS,
    STRING,
    VOID,
    decimal_kind,
    is_decimal,
    is_number,
)
from dovetail.testing._literals import cast, interval, kind_of_cast, literal
from dovetail.testing._sides import Side
from dovetail.testing._terms import Term, constant, operands, same_kind, strict
from dovetail.testing._values import EXACT, compare, fit_integer

if TYPE_CHECKING:
    from collections.abc import Callable

    from dovetail.testing._kinds import Kind
    from dovetail.testing._terms import Pair
    from dovetail.testing._values import Value

Sides: TypeAlias = tuple[Side, Side]


def parse(sql: str) -> exp.Expr:
    """Parse a Spark SQL expression, or say in one line that it is none."""
    try:
        return sqlglot.parse_one(sql, dialect="spark")
    except sqlglot.errors.SqlglotError as error:
        raise UsageError.cannot_read("expression", sql, str(error).splitlines()[0]) from None


def read_condition(node: exp.Expr, sides: Sides) -> Term:
    """Make a condition ready to run; it must be a boolean."""
    term = read(node, sides)
    if term.kind != BOOLEAN:
        raise UsageError.no_boolean(node.sql("spark"))
    return term


def read(node: exp.Expr, sides: Sides) -> Term:
    """Make an expression ready to run, or refuse it by name."""
    reader = _READERS.get(type(node))
    if reader is None:
        raise UnsupportedError.by_reference(node.sql("spark"), type(node).__name__.lower())
    return reader(node, sides)


def sides_of(node: exp.Expr, sides: Sides) -> set[int]:
    """Tell which inputs an expression speaks of: 0 for the left, 1 for the right."""
    return {_locate(column, sides)[0] for column in node.find_all(exp.Column)}


def _column(node: exp.Column, sides: Sides) -> Term:
    side, position = _locate(node, sides)
    return Term(sides[side].kinds[position], lambda pair: pair[side][position])


def _locate(node: exp.Column, sides: Sides) -> tuple[int, int]:
    """Find the side and the position of a column, by its qualifier or in whichever side has it."""
    wanted = [i for i, side in enumerate(sides) if not node.table or node.table.lower() == side.name.lower()]
    found = [(i, at) for i in wanted if (at := sides[i].find(node.name)) is not None]
    if len(found) > 1:
        raise UsageError.ambiguous_column(node.name, [side.name for side in sides])
    return found[0] if found else _not_found(node, sides)


def _not_found(node: exp.Column, sides: Sides) -> NoReturn:
    """Say what is missing: the input that a column names, or the column."""
    inputs = {side.name: side.columns for side in sides}
    if not node.table:
        raise UsageError.column_nowhere(node.name, inputs)
    if node.table not in inputs:
        raise UsageError.unknown_input(node.table, inputs)
    raise UsageError.unknown_column(node.name, node.table, inputs[node.table])


def _boolean(node: exp.Expr, sides: Sides) -> Term:
    """Read a part of a condition; only here may a bare NULL stand for an unknown truth."""
    term = read(node, sides)
    if term.kind not in (BOOLEAN, VOID):
        raise UsageError.no_boolean(node.sql("spark"))
    return term


def _and(node: exp.And, sides: Sides) -> Term:
    one, other = _boolean(node.left, sides), _boolean(node.right, sides)

    def value(pair: Pair) -> Value:
        a = one.value(pair)
        if a is False:
            return False
        b = other.value(pair)
        return b if a else (False if b is False else None)

    return Term(BOOLEAN, value)


def _or(node: exp.Or, sides: Sides) -> Term:
    one, other = _boolean(node.left, sides), _boolean(node.right, sides)

    def value(pair: Pair) -> Value:
        a = one.value(pair)
        if a is True:
            return True
        b = other.value(pair)
        return b if a is False else (True if b else None)

    return Term(BOOLEAN, value)


def _not(node: exp.Not, sides: Sides) -> Term:
    return strict(BOOLEAN, lambda value: not value, _boolean(node.this, sides))


def _comparison(holds: Callable[[int], bool], node: exp.Binary, sides: Sides) -> Term:
    if isinstance(node.left, exp.Tuple) and isinstance(node.right, exp.Tuple):
        return _tuples(holds, node, sides)
    one, other, kind = compared(node, node.left, node.right, sides)
    return strict(BOOLEAN, lambda a, b: holds(compare(a, b, kind)), one, other)


def compared(node: exp.Expr, left: exp.Expr, right: exp.Expr, sides: Sides) -> tuple[Term, Term, Kind]:
    """Read the two sides of a comparison as one type; a literal text beside a moment is a moment."""
    one, other = read(left, sides), read(right, sides)
    if isinstance(left, exp.Literal) and one.kind == STRING and other.kind in MOMENTS:
        one = cast(node, one, other.kind)
    if isinstance(right, exp.Literal) and other.kind == STRING and one.kind in MOMENTS:
        other = cast(node, other, one.kind)
    return operands(node, one, other)


def _tuples(holds: Callable[[int], bool], node: exp.Binary, sides: Sides) -> Term:
    """Compare two tuples as Spark compares structs: field by field, NULL first and equal to NULL, never unknown."""
    fields = [_field(node, a, b, sides) for a, b in zip(node.left.expressions, node.right.expressions, strict=True)]

    def value(pair: Pair) -> bool:
        orders = [_null_first(one.value(pair), other.value(pair), kind) for one, other, kind in fields]
        return holds(next((order for order in orders if order), 0))

    return Term(BOOLEAN, value)


def _field(node: exp.Expr, left: exp.Expr, right: exp.Expr, sides: Sides) -> tuple[Term, Term, Kind]:
    """Read two fields of tuples; Spark widens nothing inside them."""
    one, other = read(left, sides), read(right, sides)
    if one.kind != other.kind and VOID not in (one.kind, other.kind):
        raise UsageError.operand_types(node.sql("spark"), [str(one.kind), str(other.kind)])
    return operands(node, one, other)


def _null_first(one: Value, other: Value, kind: Kind) -> int:
    if one is None or other is None:
        return int(one is not None) - int(other is not None)
    return compare(one, other, kind)


def sort_key(kind: Kind) -> Callable[[Value], Value]:
    """Return the sort key of Spark's ascending order: NULL first, NaN last."""
    return cmp_to_key(lambda one, other: _null_first(one, other, kind))


def _same(node: exp.Binary, sides: Sides) -> Term:
    one, other, kind = compared(node, node.left, node.right, sides)
    return Term(BOOLEAN, lambda pair: _null_first(one.value(pair), other.value(pair), kind) == 0)


def _distinct(node: exp.Binary, sides: Sides) -> Term:
    return strict(BOOLEAN, lambda same: not same, _same(node, sides))


def _between(node: exp.Between, sides: Sides) -> Term:
    low = exp.GTE(this=node.this, expression=node.args["low"])
    high = exp.LTE(this=node.this, expression=node.args["high"])
    return _and(exp.And(this=low, expression=high), sides)


def _in(node: exp.In, sides: Sides) -> Term:
    if not node.expressions:
        raise UnsupportedError.by_reference(node.sql("spark"), "this IN")
    wanted, *choices = same_kind(node, [read(item, sides) for item in (node.this, *node.expressions)])

    def value(pair: Pair) -> Value:
        sought, offered = wanted.value(pair), [choice.value(pair) for choice in choices]
        if any(None not in (sought, v) and compare(sought, v, wanted.kind) == 0 for v in offered):
            return True
        return None if sought is None or None in offered else False

    return Term(BOOLEAN, value)


def _is(node: exp.Is, sides: Sides) -> Term:
    if isinstance(node.right, exp.Null):
        term = read(node.this, sides)
        return Term(BOOLEAN, lambda pair: term.value(pair) is None)
    wanted, truth = node.right.this, _boolean(node.this, sides)
    return Term(BOOLEAN, lambda pair: truth.value(pair) is wanted)


def _arithmetic(sign: str, node: exp.Binary, sides: Sides) -> Term:
    return arithmetic(node, sign, read(node.left, sides), read(node.right, sides))


def _negative(node: exp.Neg, sides: Sides) -> Term:
    if isinstance(node.this, exp.Literal) and not node.this.is_string:
        return literal(node.this, "-")
    return negated(_signed(node, sides))


def _absolute(node: exp.Abs, sides: Sides) -> Term:
    return absolute(_signed(node, sides))


def _signed(node: exp.Unary | exp.Func, sides: Sides) -> Term:
    term = read(node.this, sides)
    if not (is_number(term.kind) or term.kind in INTERVALS or term.kind == VOID):
        raise UsageError.operand_types(node.sql("spark"), [str(term.kind)])
    return term


def _round(rounding: str, node: exp.Func, sides: Sides) -> Term:
    """Return floor or ceil: a bigint, or a decimal without fraction."""
    term = read(node.this, sides)
    if node.args.get("decimals") or not is_number(term.kind):
        raise UnsupportedError.by_reference(node.sql("spark"), "this rounding")
    if is_decimal(term.kind):
        kind = decimal_kind(min(term.kind.precision - term.kind.scale + 1, MAX_PRECISION), 0)
        return strict(kind, lambda v: v.quantize(Decimal(1), rounding=rounding, context=EXACT), term)
    whole = math.floor if rounding == ROUND_FLOOR else math.ceil
    return strict(BIGINT, partial(_whole, whole), term)


def _whole(whole: Callable[[float], int], value: float) -> int:
    """Round to a bigint; NaN becomes 0 as Java has it, and what does not fit is refused."""
    if isinstance(value, int):
        return value
    if math.isnan(value):
        return 0
    if math.isinf(value):
        raise UsageError.result_overflow(str(value), str(BIGINT))
    return fit_integer(whole(value), BIGINT)


def _coalesce(node: exp.Coalesce, sides: Sides) -> Term:
    terms = same_kind(node, [read(item, sides) for item in (node.this, *node.expressions)])
    # Lazily: what stands after the first known value may be an error.
    return Term(terms[0].kind, lambda pair: next((v for t in terms if (v := t.value(pair)) is not None), None))


def _extreme(sign: int, node: exp.Func, sides: Sides) -> Term:
    """Return least (-1) or greatest (1) of the arguments that are not NULL."""
    terms = same_kind(node, [read(item, sides) for item in (node.this, *node.expressions)])
    key = cmp_to_key(lambda a, b: sign * compare(a, b, terms[0].kind))

    def value(pair: Pair) -> Value:
        known = [v for term in terms if (v := term.value(pair)) is not None]
        return max(known, key=key) if known else None

    return Term(terms[0].kind, value)


def _case(node: exp.Case, sides: Sides) -> Term:
    tests = [_boolean(_test(node, branch), sides) for branch in node.args["ifs"]]
    default = node.args.get("default") or exp.Null()
    results = [read(item, sides) for item in (*(branch.args["true"] for branch in node.args["ifs"]), default)]
    *branches, otherwise = same_kind(node, results)
    return _choice(tests, branches, otherwise)


def _test(node: exp.Case, branch: exp.If) -> exp.Expr:
    """Return a branch's condition; `CASE x WHEN v` asks whether x = v."""
    return exp.EQ(this=node.this, expression=branch.this) if node.this else branch.this


def _if(node: exp.If, sides: Sides) -> Term:
    otherwise = node.args.get("false") or exp.Null()
    chosen, other = same_kind(node, [read(node.args["true"], sides), read(otherwise, sides)])
    return _choice([_boolean(node.this, sides)], [chosen], other)


def _choice(tests: list[Term], branches: list[Term], otherwise: Term) -> Term:
    """Return the first branch whose test is true."""

    def value(pair: Pair) -> Value:
        pick = next((b for test, b in zip(tests, branches, strict=True) if test.value(pair)), otherwise)
        return pick.value(pair)

    return Term(otherwise.kind, value)


_READERS: dict[type[exp.Expr], Callable[..., Term]] = {
    exp.Paren: lambda node, sides: read(node.this, sides),
    exp.Column: _column,
    exp.Literal: lambda node, _sides: literal(node),
    exp.HexString: lambda node, _sides: constant(bytes.fromhex(node.name), BINARY),
    exp.Boolean: lambda node, _sides: constant(bool(node.this), BOOLEAN),
    exp.Null: lambda _node, _sides: constant(None, VOID),
    exp.Interval: lambda node, _sides: interval(node),
    exp.Cast: lambda node, sides: cast(node, read(node.this, sides), kind_of_cast(node)),
    exp.TryCast: lambda node, sides: cast(node, read(node.this, sides), kind_of_cast(node)),
    exp.And: _and,
    exp.Or: _or,
    exp.Not: _not,
    exp.EQ: partial(_comparison, lambda order: order == 0),
    exp.NEQ: partial(_comparison, lambda order: order != 0),
    exp.LT: partial(_comparison, lambda order: order < 0),
    exp.LTE: partial(_comparison, lambda order: order <= 0),
    exp.GT: partial(_comparison, lambda order: order > 0),
    exp.GTE: partial(_comparison, lambda order: order >= 0),
    exp.NullSafeEQ: _same,
    exp.NullSafeNEQ: _distinct,
    exp.Between: _between,
    exp.In: _in,
    exp.Is: _is,
    exp.Add: partial(_arithmetic, "+"),
    exp.Sub: partial(_arithmetic, "-"),
    exp.Mul: partial(_arithmetic, "*"),
    exp.Div: partial(_arithmetic, "/"),
    exp.Mod: partial(_arithmetic, "%"),
    exp.Neg: _negative,
    exp.Abs: _absolute,
    exp.Floor: partial(_round, ROUND_FLOOR),
    exp.Ceil: partial(_round, ROUND_CEILING),
    exp.Coalesce: _coalesce,
    exp.Least: partial(_extreme, -1),
    exp.Greatest: partial(_extreme, 1),
    exp.Case: _case,
    exp.If: _if,
}
