"""What is written in the condition itself: numbers, texts, dates, intervals, and casts."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING

from sqlglot import exp

from dovetail.errors import UnsupportedError, UsageError
from dovetail.testing._kinds import (
    BIGINT,
    BINARY,
    BITS,
    BOOLEAN,
    DATE,
    DAYS,
    DOUBLE,
    FLOAT,
    INSTANTS,
    INT,
    INTEGERS,
    INTERVAL,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    VOID,
    common_kind,
    decimal_kind,
    is_decimal,
)
from dovetail.testing._terms import Term, constant, strict
from dovetail.testing._values import (
    MICROS_PER_DAY,
    MICROS_PER_SECOND,
    days_of,
    fit_decimal,
    fit_integer,
    micros_of,
    widen,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dovetail.testing._kinds import Kind
    from dovetail.testing._values import Value

_KINDS = {
    exp.DataType.Type.BOOLEAN: BOOLEAN,
    exp.DataType.Type.TINYINT: TINYINT,
    exp.DataType.Type.SMALLINT: SMALLINT,
    exp.DataType.Type.INT: INT,
    exp.DataType.Type.BIGINT: BIGINT,
    exp.DataType.Type.FLOAT: FLOAT,
    exp.DataType.Type.DOUBLE: DOUBLE,
    exp.DataType.Type.TEXT: STRING,
    exp.DataType.Type.BINARY: BINARY,
    exp.DataType.Type.DATE: DATE,
    exp.DataType.Type.TIMESTAMPTZ: TIMESTAMP,
    exp.DataType.Type.TIMESTAMPNTZ: TIMESTAMP_NTZ,
}

_MICROS = {
    "WEEK": 7 * MICROS_PER_DAY,
    "DAY": MICROS_PER_DAY,
    "HOUR": 3600 * MICROS_PER_SECOND,
    "MINUTE": 60 * MICROS_PER_SECOND,
    "SECOND": MICROS_PER_SECOND,
    "MILLISECOND": 1000,
    "MICROSECOND": 1,
}


def literal(node: exp.Literal, sign: str = "") -> Term:
    """Return a text or a number, typed as Spark types it by the way it is written."""
    text = sign + node.name
    if node.is_string:
        return constant(text, STRING)
    if "e" in text.lower():
        return constant(float(text), DOUBLE)
    return _decimal_literal(text) if "." in text else _integer_literal(text)


def _integer_literal(text: str) -> Term:
    digits = len(text.lstrip("-").lstrip("0")) or 1
    for kind in (INT, BIGINT):
        if -(1 << (BITS[kind] - 1)) <= int(text) < 1 << (BITS[kind] - 1):
            return constant(int(text), kind, digits)
    return constant(Decimal(text), decimal_kind(digits, 0))


def _decimal_literal(text: str) -> Term:
    value = Decimal(text)
    _, digits, exponent = value.as_tuple()
    scale = -int(exponent)
    return constant(value, decimal_kind(max(len(digits), scale), scale))


def interval(node: exp.Interval) -> Term:
    """Return an interval of weeks to microseconds; months are no fixed length and are refused."""
    unit = node.text("unit").upper().removesuffix("S")
    if unit not in _MICROS:
        raise UnsupportedError.by_reference(node.sql("spark"), "this interval")
    micros = Decimal(node.this.name) * _MICROS[unit]
    return constant(int(micros), DAYS if unit in ("WEEK", "DAY") else INTERVAL)


def kind_of_cast(node: exp.Cast) -> Kind:
    """Return the type that a cast names."""
    if node.to.this == exp.DataType.Type.DECIMAL:
        sizes = [int(size.name) for size in node.to.expressions]
        precision, scale = [*sizes, 0][:2] if sizes else (10, 0)
        return decimal_kind(precision, scale)
    if node.to.this not in _KINDS or node.args.get("safe"):
        raise UnsupportedError.by_reference(node.sql("spark"), "this cast")
    return _KINDS[node.to.this]


def cast(node: exp.Expr, term: Term, kind: Kind) -> Term:
    """Return a term as another type: wider numbers, narrower integers that fit, moments, and texts of moments."""
    if VOID in (term.kind, kind):
        return constant(None, kind)
    convert = _conversion(term.kind, kind)
    if convert is None:
        raise UnsupportedError.by_reference(node.sql("spark"), f"a cast of {term.kind} to {kind}")
    # `2L` is parsed as a cast of 2, and is as much a literal as 2 is; Spark forgets it for `2Y` alone.
    digits = term.digits if kind in INTEGERS and kind != TINYINT else 0
    return Term(kind, strict(kind, convert, term).value, digits)


def _conversion(source: Kind, target: Kind) -> Callable[[Value], Value] | None:
    if source in INTEGERS and target in INTEGERS:
        return lambda value: fit_integer(value, target)
    if is_decimal(target) and (is_decimal(source) or source in INTEGERS or source == STRING):
        return lambda value: fit_decimal(Decimal(value), target)
    if source == STRING and (target == DATE or target in INSTANTS):
        return lambda text: moment_of(text, target)
    if source in INSTANTS and target == DATE:
        return lambda micros: micros // MICROS_PER_DAY
    if is_decimal(source) and target == FLOAT:
        return lambda value: widen(value, source, FLOAT)
    return (lambda value: widen(value, source, target)) if common_kind(source, target) == target else None


def moment_of(text: str, kind: Kind) -> int:
    """Read a date or a timestamp from its ISO text."""
    try:
        moment = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError.malformed(text, "string", str(kind)) from None
    return days_of(moment.date()) if kind == DATE else micros_of(moment)
