"""INTERVAL literals, and arithmetic between moments, days, intervals and numbers.

A day-time interval is a number of microseconds, a year-month interval a number of months; Spark does not mix them, nor
do we. Months follow the calendar: a day that the month lacks becomes its last.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from dovetail._core.columns.cast import cast
from dovetail._core.columns.civil import MICROS_PER_DAY, MICROS_PER_SECOND, add_months
from dovetail._core.columns.decimals import half_up, signed_like, unscaled
from dovetail._core.columns.lanes import column, plain, present, values
from dovetail._core.columns.scope import arguments, overflown, refused, text_of, unsupported
from dovetail._core.columns.types import (
    DATE,
    DAY_TIME,
    DOUBLE,
    NULL,
    STRING,
    TIMESTAMP,
    YEAR_MONTH,
    family,
    is_interval,
    is_moment,
    is_number,
)
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from dovetail._core.columns.lanes import Values
    from dovetail._core.columns.scope import Scope

_MONTHS = {"YEAR": 12, "MONTH": 1}
_MICROS = {
    "WEEK": 7 * MICROS_PER_DAY,
    "DAY": MICROS_PER_DAY,
    "HOUR": 3600 * MICROS_PER_SECOND,
    "MINUTE": 60 * MICROS_PER_SECOND,
    "SECOND": MICROS_PER_SECOND,
    "MILLISECOND": 1000,
    "MICROSECOND": 1,
}
_WHOLE_DAYS = {"WEEK", "DAY"}
_PIECE = re.compile(r"\s*([+-]?\s*[0-9]*\.?[0-9]+)\s*([A-Za-z]+)")
_SPAN_FIELDS = ("DAY", "HOUR", "MINUTE", "SECOND")
_FULL = {"MONTH": 12, "HOUR": 24, "MINUTE": 60, "SECOND": 60}
"""What no field of a span may reach but its first."""
_SOFT = {"string", "null"}
_INT64 = np.iinfo(np.int64)


def interval(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate an INTERVAL literal in any of its spellings."""
    months, micros, is_months = _parsed(node)
    number, arrow_type = (months, YEAR_MONTH) if is_months else (micros, DAY_TIME)
    if not _INT64.min <= number <= _INT64.max:
        raise overflown(node, arrow_type)
    return column(np.full(scope.rows, number, dtype=np.int64), np.ones(scope.rows, dtype=np.bool_), arrow_type)


def _parsed(node: exp.Expr) -> tuple[int, int, bool]:
    """Return months, microseconds, and which of the two the literal counts."""
    amount, unit = node.this, node.args.get("unit")
    minus = isinstance(amount, exp.Neg)
    amount = amount.this if minus else amount
    if not isinstance(amount, exp.Literal):
        raise unsupported(node, "an INTERVAL that is no literal")
    pieces = _span(node, amount.name, unit) if isinstance(unit, exp.IntervalSpan) else _pieces(node, amount.name, unit)
    units = {name for _, name in pieces}
    is_months = units <= _MONTHS.keys()
    if not units or not (is_months or units <= _MICROS.keys()):
        raise UsageError.bad_interval(text_of(node))
    sign = -1 if minus else 1
    months = sum(int(number) * _MONTHS.get(name, 0) for number, name in pieces)
    micros = sum(int(number * _MICROS.get(name, 0)) for number, name in pieces)
    return sign * months, sign * micros, is_months


def _pieces(node: exp.Expr, text: str, unit: exp.Expr | None) -> list[tuple[Decimal, str]]:
    """Read '5' with a unit, or '1 day 2 hours' without."""
    if unit is not None:
        return [(_number(node, text, _singular(unit.name)), _singular(unit.name))]
    found = _PIECE.findall(text)
    if _PIECE.sub("", text).strip():
        raise UsageError.bad_interval(text_of(node))
    return [(_number(node, number, _singular(name)), _singular(name)) for number, name in found]


def _number(node: exp.Expr, text: str, unit: str) -> Decimal:
    try:
        number = Decimal(text.replace(" ", ""))
    except InvalidOperation as error:
        raise UsageError.bad_interval(text_of(node)) from error
    if unit != "SECOND" and number != int(number):
        raise UsageError.bad_interval(text_of(node))
    return number


def _singular(unit: str) -> str:
    return unit.upper().removesuffix("S")


def _span(node: exp.Expr, text: str, unit: exp.Expr) -> list[tuple[Decimal, str]]:
    """Read '1 02:03:04.5' DAY TO SECOND or '1-2' YEAR TO MONTH; a sign before it holds for all parts."""
    first, last = _singular(unit.this.name), _singular(unit.expression.name)
    fields = (
        ("YEAR", "MONTH") if first == "YEAR" else _SPAN_FIELDS[_SPAN_FIELDS.index(first) : _SPAN_FIELDS.index(last) + 1]
    )
    bare = text.strip()
    sign = -1 if bare.startswith("-") else 1
    parts = re.split(r"[ :-]", bare.lstrip("+-"))
    if len(parts) != len(fields):
        raise UsageError.bad_interval(text_of(node))
    read = [(_number(node, part, name), name) for part, name in zip(parts, fields, strict=True)]
    if any(number >= _FULL[name] for number, name in read[1:]):
        raise UsageError.bad_interval(text_of(node))
    return [(sign * number, name) for number, name in read]


def counts_whole_days(node: exp.Expr, scope: Scope) -> bool:
    """Say whether an interval is made of days, weeks and distances of dates only: a DATE moved by it stays a DATE."""
    bare = node.unnest()
    if isinstance(bare, exp.Sub) and _are_dates(bare, scope):
        return True
    parts = [part for part in arguments(bare, _PARTS.get(type(bare), ())) if not isinstance(part, exp.Null)]
    if parts:
        return all(counts_whole_days(part, scope) for part in parts)
    if not isinstance(bare, exp.Interval) or isinstance(bare.args.get("unit"), exp.IntervalSpan):
        return False
    return {
        name for _, name in _pieces(bare, bare.this.name or bare.this.this.name, bare.args.get("unit"))
    } <= _WHOLE_DAYS


_PARTS: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Neg: ("this",),
    exp.Abs: ("this",),
    exp.Add: ("this", "expression"),
    exp.Sub: ("this", "expression"),
    exp.Coalesce: ("this", "expressions"),
    exp.Greatest: ("this", "expressions"),
    exp.Least: ("this", "expressions"),
    exp.If: ("true", "false"),
    exp.Case: ("ifs", "default"),
}
"""The parts of an expression that decide on its type."""


def _are_dates(node: exp.Expr, scope: Scope) -> bool:
    """Say whether a difference is one of two dates; a string or NULL beside a date becomes one."""
    kinds = [scope.none().value(side).type for side in (node.this, node.expression)]
    return DATE in kinds and all(kind == DATE or family(kind) in _SOFT for kind in kinds)


def involved(left: pa.Array, right: pa.Array) -> bool:
    """Say whether an operator has a moment or an interval on either side."""
    return any(is_moment(side.type) or is_interval(side.type) for side in (left, right))


def plus(node: exp.Expr, left: pa.Array, right: pa.Array, scope: Scope) -> pa.Array:
    """Evaluate + with a moment or an interval on either side."""
    if is_moment(left.type) or (family(left.type) == "string" and is_interval(right.type)):
        return _moved(node, left, right, 1, (node.expression, scope))
    if is_moment(right.type) or family(right.type) == "string":
        return _moved(node, right, left, 1, (node.this, scope))
    return _interval_sum(node, left, right, 1)


def minus(node: exp.Expr, left: pa.Array, right: pa.Array, scope: Scope) -> pa.Array:
    """Evaluate - with a moment or an interval on either side."""
    if is_interval(right.type) and not is_interval(left.type) and left.type != NULL:
        return _moved(node, left, right, -1, (node.expression, scope))
    if is_moment(left.type) and family(right.type) == "integer":
        return _moved(node, left, right, -1, (node.expression, scope))
    if is_moment(left.type) or is_moment(right.type):
        return _elapsed(node, left, right)
    return _interval_sum(node, left, right, -1)


def _moved(node: exp.Expr, moment: pa.Array, step: pa.Array, sign: int, told: tuple[exp.Expr, Scope]) -> pa.Array:
    """Move dates and timestamps by days, months or microseconds; `told` is how the step is written."""
    kind = family(step.type)
    if step.type == NULL:
        return pa.nulls(len(moment), TIMESTAMP if moment.type == DATE else moment.type)
    if family(moment.type) == "string" and kind == "day_time":
        return cast(_by_micros(node, cast(moment, TIMESTAMP), step, sign), STRING)
    if kind == "integer" and moment.type == DATE and step.type.bit_width <= 32:  # noqa: PLR2004
        return add_days(moment, step, sign)
    if kind == "day_time" and moment.type == DATE and counts_whole_days(*told):
        return add_days(moment, pa.array(values(step) // MICROS_PER_DAY, mask=~present(step)), sign)
    if kind == "day_time" and is_moment(moment.type):
        stamp = cast(moment, TIMESTAMP) if moment.type == DATE else moment
        return _by_micros(node, stamp, step, sign)
    if kind == "year_month" and is_moment(moment.type):
        return by_months(node, moment, step, sign)
    raise refused(node, moment, step)


def add_days(days: pa.Array, step: pa.Array, sign: int) -> pa.Array:
    """Move dates by days; past the ends of the calendar the day number wraps around, as in Spark."""
    moved = values(days).astype(np.int64) + sign * values(step).astype(np.int64)
    return column(moved.astype(np.int32), present(days) & present(step), DATE)


def _by_micros(node: exp.Expr, stamp: pa.Array, step: pa.Array, sign: int) -> pa.Array:
    if stamp.type.unit == "ns":
        step = times(node, step, pa.repeat(1000, len(step)))
    return _sum(node, stamp, step, sign, stamp.type)


def by_months(node: exp.Expr, moment: pa.Array, step: pa.Array, sign: int = 1) -> pa.Array:
    """Move dates or timestamps by months; the time of day stays."""
    per_day = 1 if moment.type == DATE else MICROS_PER_DAY * (1000 if moment.type.unit == "ns" else 1)
    ticks = values(moment).astype(np.int64)
    days = add_months(ticks // per_day, sign * values(step).astype(np.int64))
    bound = np.iinfo(np.int32 if moment.type == DATE else np.int64)
    moved = days.astype(object) * per_day + ticks % per_day if moment.type != DATE else days
    there = present(moment) & present(step)
    if np.any(there & ((moved > bound.max) | (moved < bound.min))):
        raise overflown(node, moment.type)
    return column(moved, there, moment.type)


def _elapsed(node: exp.Expr, left: pa.Array, right: pa.Array) -> pa.Array:
    """Subtract moments; two dates give whole days."""
    sides = [
        cast(side, DATE if DATE in (left.type, right.type) else TIMESTAMP) if _is_soft(side) else side
        for side in (left, right)
    ]
    if not all(is_moment(side.type) for side in sides):
        raise refused(node, left, right)
    return _sum(node, cast(sides[0], TIMESTAMP), cast(sides[1], TIMESTAMP), -1, DAY_TIME)


def _is_soft(side: pa.Array) -> bool:
    return family(side.type) in _SOFT


def _interval_sum(node: exp.Expr, left: pa.Array, right: pa.Array, sign: int) -> pa.Array:
    arrow_type = left.type if right.type == NULL else right.type
    left, right = (cast(side, arrow_type) if side.type == NULL else side for side in (left, right))
    if left.type != right.type or not is_interval(arrow_type):
        raise refused(node, left, right)
    return _sum(node, left, right, sign, arrow_type)


def _sum(node: exp.Expr, left: pa.Array, right: pa.Array, sign: int, arrow_type: pa.DataType) -> pa.Array:
    """Add or subtract the integers behind two columns."""
    combine = pc.add_checked if sign > 0 else pc.subtract_checked
    try:
        total = combine(plain(left), plain(right))
    except pa.ArrowInvalid as error:
        raise overflown(node, arrow_type) from error
    return column(values(total), present(total), arrow_type)


def times(node: exp.Expr, left: pa.Array, right: pa.Array) -> pa.Array:
    """Multiply an interval by a number, rounding half up to microseconds or months."""
    span, factor = (left, right) if is_interval(left.type) else (right, left)
    factor = _factor(node, span, factor)
    if factor.type == DOUBLE:
        product = _rounded(values(span) * values(factor))
    else:
        scale = factor.type.scale if pa.types.is_decimal(factor.type) else 0
        product = half_up(values(span).astype(object) * unscaled(factor).astype(object), scale)
    return _checked(node, product, span, factor, span.type)


def divided(node: exp.Expr, span: pa.Array, divisor: pa.Array) -> pa.Array:
    """Divide an interval by a number, rounding half up."""
    divisor = _factor(node, span, divisor)
    there = present(span) & present(divisor)
    scale = divisor.type.scale if pa.types.is_decimal(divisor.type) else 0
    below = values(divisor) if divisor.type == DOUBLE else unscaled(divisor)
    if np.any(there & (below == 0)):
        raise UsageError.division_by_zero(text_of(node))
    below = np.where(there, below, 1)
    if divisor.type == DOUBLE:
        return _checked(node, _rounded(values(span) / below), span, divisor, span.type)
    above, below = values(span).astype(object) * 10**scale, below.astype(object)
    quotient = (2 * np.abs(above) + np.abs(below)) // (2 * np.abs(below))
    return _checked(node, signed_like(above * below, quotient), span, divisor, span.type)


def _factor(node: exp.Expr, span: pa.Array, factor: pa.Array) -> pa.Array:
    if not is_interval(span.type) or not (is_number(factor.type) or _is_soft(factor)):
        raise refused(node, span, factor)
    return factor if family(factor.type) in {"integer", "decimal"} else cast(factor, DOUBLE)


def _rounded(numbers: Values) -> Values:
    magnitude = np.floor(np.abs(numbers) + 0.5)
    return np.where(np.isfinite(numbers), signed_like(numbers, magnitude), 2.0**64).astype(object)


def negated(node: exp.Expr, span: pa.Array) -> pa.Array:
    """Turn an interval around."""
    return _checked(node, -values(span).astype(object), span, span, span.type)


def _checked(node: exp.Expr, numbers: Values, left: pa.Array, right: pa.Array, arrow_type: pa.DataType) -> pa.Array:
    """Build the result where both sides are there, and refuse what does not fit."""
    there = present(left) & present(right)
    bounds = np.iinfo(np.int32) if arrow_type == YEAR_MONTH else _INT64
    fits = np.asarray((numbers >= bounds.min) & (numbers <= bounds.max), dtype=np.bool_)
    if np.any(there & ~fits):
        raise overflown(node, arrow_type)
    return column(np.where(there & fits, numbers, 0).astype(np.int64), there, arrow_type)
