"""Arithmetic as ANSI Spark does it: integers refuse to overflow, decimals round half up, zero divides nothing."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING

from dovetail.errors import UnsupportedError, UsageError
from dovetail.testing._kinds import (
    BIGINT,
    DATE,
    DAYS,
    DOUBLE,
    FLOAT,
    FRACTIONS,
    INSTANTS,
    INTEGERS,
    INTERVAL,
    INTERVALS,
    MAX_PRECISION,
    MIN_DIVISION_SCALE,
    MOMENTS,
    TIMESTAMP,
    VOID,
    as_decimal,
    decimal_kind,
    is_decimal,
    is_number,
)
from dovetail.testing._terms import Term, constant, operands, strict
from dovetail.testing._values import EXACT, MICROS_PER_DAY, fit_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlglot import exp

    from dovetail.testing._kinds import Kind
    from dovetail.testing._values import Value

# Spark multiplies decimals in 39 digits and divides to 39 places before it rounds to the result's scale.
_PRODUCT = Context(prec=MAX_PRECISION + 1, rounding=ROUND_HALF_UP)
_QUOTIENT_PLACES = Decimal(1).scaleb(-(MAX_PRECISION + 1))
NEGATION = Context(prec=34, rounding=ROUND_HALF_EVEN)
"""How Spark changes the sign of a decimal."""


def arithmetic(node: exp.Expr, sign: str, one: Term, other: Term) -> Term:
    """Return `one sign other` for numbers, dates, timestamps and intervals."""
    if VOID in (one.kind, other.kind):
        return constant(None, one.kind if other.kind == VOID else other.kind)
    if is_number(one.kind) and is_number(other.kind):
        return _number_arithmetic(node, sign, one, other)
    if sign == "+" and other.kind in MOMENTS:
        one, other = other, one
    if sign in ("+", "-"):
        return _time_arithmetic(node, sign, one, other)
    raise UnsupportedError.by_reference(node.sql("spark"), f"{one.kind} {sign} {other.kind}")


def _number_arithmetic(node: exp.Expr, sign: str, one: Term, other: Term) -> Term:
    kind = _result_kind(sign, one, other)
    compute = _OPERATIONS[_family(kind)][sign]
    if not is_decimal(kind):
        one, other = one.to(kind), other.to(kind)

    def run(a: Value, b: Value) -> Value:
        if sign in ("/", "%") and b == 0:
            raise UsageError.division_by_zero(node.sql("spark"))
        return fit_number(compute(a, b), kind)

    return strict(kind, run, one, other)


def _family(kind: Kind) -> str:
    if kind in INTEGERS:
        return "integer"
    return "fraction" if kind in FRACTIONS else "decimal"


def _result_kind(sign: str, one: Term, other: Term) -> Kind:
    """Return the type of an operation on two numbers; `/` has no integer and no float of its own."""
    if FLOAT in (one.kind, other.kind) or DOUBLE in (one.kind, other.kind):
        return FLOAT if one.kind == other.kind == FLOAT and sign != "/" else DOUBLE
    if is_decimal(one.kind) or is_decimal(other.kind):
        return _decimal_result(sign, as_decimal(one.kind, one.digits), as_decimal(other.kind, other.digits))
    return DOUBLE if sign == "/" else max(one.kind, other.kind, key=INTEGERS.index)


def _decimal_result(sign: str, one: Kind, other: Kind) -> Kind:
    """Return the decimal type of an operation, by the table in Spark's documentation of decimal arithmetic."""
    integral = max(one.precision - one.scale, other.precision - other.scale)
    scale = max(one.scale, other.scale)
    if sign in ("+", "-"):
        return adjusted(integral + scale + 1, scale)
    if sign == "*":
        return adjusted(one.precision + other.precision + 1, one.scale + other.scale)
    if sign == "%":
        return adjusted(min(one.precision - one.scale, other.precision - other.scale) + scale, scale)
    places = max(MIN_DIVISION_SCALE, one.scale + other.precision + 1)
    return adjusted(one.precision - one.scale + other.scale + places, places)


def adjusted(precision: int, scale: int) -> Kind:
    """Return a decimal of at most 38 digits; beyond that the fraction gives way, down to 6 places."""
    if precision <= MAX_PRECISION:
        return decimal_kind(precision, scale)
    kept = max(MAX_PRECISION - (precision - scale), min(scale, MIN_DIVISION_SCALE))
    return decimal_kind(MAX_PRECISION, kept)


def divide_decimals(one: Decimal, other: Decimal) -> Decimal:
    """Divide to 39 places, half up."""
    return EXACT.divide(one, other).quantize(_QUOTIENT_PLACES, context=EXACT)


def _integer_remainder(one: int, other: int) -> int:
    """Return the remainder with the sign of the dividend."""
    return int(math.copysign(1, one)) * (abs(one) % abs(other))


def _fraction_remainder(one: float, other: float) -> float:
    """Return the remainder with the sign of the dividend; an infinite dividend has none."""
    return math.nan if math.isinf(one) else math.fmod(one, other)


_OPERATIONS: dict[str, dict[str, Callable[[Value, Value], Value]]] = {
    "integer": {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "%": _integer_remainder,
    },
    "fraction": {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
        "%": _fraction_remainder,
    },
    "decimal": {
        "+": lambda a, b: EXACT.add(Decimal(a), Decimal(b)),
        "-": lambda a, b: EXACT.subtract(Decimal(a), Decimal(b)),
        "*": lambda a, b: _PRODUCT.multiply(Decimal(a), Decimal(b)),
        "/": lambda a, b: divide_decimals(Decimal(a), Decimal(b)),
        "%": lambda a, b: EXACT.remainder(Decimal(a), Decimal(b)),
    },
}


def _time_arithmetic(node: exp.Expr, sign: str, one: Term, other: Term) -> Term:
    """Return a moment moved by an interval, the distance of two moments, or a sum of intervals."""
    factor = 1 if sign == "+" else -1
    if one.kind == DATE and other.kind in INTEGERS and other.kind != BIGINT:
        return strict(DATE, lambda day, days: day + factor * days, one, other)
    if one.kind == DATE and other.kind == DAYS:
        return strict(DATE, lambda day, micros: day + factor * (micros // MICROS_PER_DAY), one, other)
    if one.kind in MOMENTS and other.kind in INTERVALS:
        start = one if one.kind in INSTANTS else one.to(TIMESTAMP)
        return strict(start.kind, lambda at, micros: at + factor * micros, start, other)
    if one.kind in INTERVALS and other.kind in INTERVALS:
        kind = DAYS if one.kind == other.kind == DAYS else INTERVAL
        return strict(kind, lambda a, b: a + factor * b, one, other)
    if sign == "-" and one.kind in MOMENTS and other.kind in MOMENTS:
        return _distance(node, one, other)
    raise UnsupportedError.by_reference(node.sql("spark"), f"{one.kind} {sign} {other.kind}")


def _distance(node: exp.Expr, one: Term, other: Term) -> Term:
    """Return the interval from one moment to another; between dates it is in whole days."""
    if one.kind == other.kind == DATE:
        return strict(DAYS, lambda a, b: (a - b) * MICROS_PER_DAY, one, other)
    later, earlier, _ = operands(node, one, other)
    return strict(INTERVAL, lambda a, b: a - b, later, earlier)


def negated(term: Term) -> Term:
    """Return a number or an interval with its sign changed; the least integer has no opposite."""
    fit = fit_number if is_number(term.kind) else _as_is
    return Term(term.kind, strict(term.kind, lambda v: fit(_minus(v), term.kind), term).value, term.digits)


def absolute(term: Term) -> Term:
    """Return a number or an interval without its sign; the least integer has no opposite."""
    fit = fit_number if is_number(term.kind) else _as_is
    return strict(term.kind, lambda v: fit(_size(v), term.kind), term)


def _minus(value: Value) -> Value:
    """Negate; Spark rounds decimals to 34 digits where it does."""
    return NEGATION.minus(value) if isinstance(value, Decimal) else -value


def _size(value: Value) -> Value:
    if not isinstance(value, Decimal):
        return abs(value)
    return _minus(value) if value < 0 else value


def _as_is(value: Value, _kind: Kind) -> Value:
    return value
