"""Values of Spark's types as plain Python values, and how they are ordered.

A date is its days since 1970, a timestamp or interval its microseconds, both as an int, so that years beyond Python's
calendar work; every other type is the Python type of the same name.
"""

from __future__ import annotations

import ctypes
import datetime as dt
import math
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from dovetail.errors import UsageError
from dovetail.testing._kinds import (
    BITS,
    DATE,
    DOUBLE,
    FLOAT,
    FRACTIONS,
    INSTANTS,
    INTEGERS,
    INTERVALS,
    STRING,
    TIMESTAMP,
    is_decimal,
)

if TYPE_CHECKING:
    from dovetail.testing._kinds import Kind

# The operations that apply follow from a value's Kind, which mypy cannot see.
Value: TypeAlias = Any

EXACT = Context(prec=200, rounding=ROUND_HALF_UP)
MICROS_PER_SECOND = 1_000_000
MICROS_PER_DAY = 86_400 * MICROS_PER_SECOND
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def compare(one: Value, other: Value, kind: Kind) -> int:
    """Return -1, 0 or 1 as the first value is below, equal to or above the second; neither is NULL."""
    if kind in FRACTIONS:
        one, other = _nan_last(one), _nan_last(other)
    if kind == STRING:
        one, other = one.encode(), other.encode()
    return int(one > other) - int(one < other)


def _nan_last(value: float) -> tuple[bool, float]:
    """Order NaN above everything and equal to itself."""
    return (True, 0.0) if math.isnan(value) else (False, value)


def widen(value: Value, source: Kind, target: Kind) -> Value:
    """Bring a value to the common type of a comparison, losing only what Spark loses."""
    if value is None or source == target:
        return value
    if target in FRACTIONS:
        return to_float32(float(value)) if target == FLOAT else float(value)
    if is_decimal(target):
        return fit_decimal(Decimal(value), target)
    if source == DATE and target in INSTANTS:
        return value * MICROS_PER_DAY
    return value


def to_float32(value: float) -> float:
    """Round a double to the nearest float."""
    return ctypes.c_float(value).value


def fit_integer(value: int, kind: Kind) -> int:
    """Return an integer that fits its type, or refuse as ANSI Spark does."""
    bound = 1 << (BITS[kind] - 1)
    if not -bound <= value < bound:
        raise UsageError.result_overflow(str(value), str(kind))
    return value


def fit_decimal(value: Decimal, kind: Kind) -> Decimal:
    """Round a decimal half up to its type's scale, or refuse if its digits do not fit."""
    rounded = value.quantize(Decimal(1).scaleb(-kind.scale), context=EXACT)
    if rounded and rounded.adjusted() >= kind.precision - kind.scale:
        raise UsageError.result_overflow(str(value), str(kind))
    return rounded


def fit_number(value: Value, kind: Kind) -> Value:
    """Return a result of arithmetic as a value of its type."""
    if kind in INTEGERS:
        return fit_integer(value, kind)
    if is_decimal(kind):
        return fit_decimal(value, kind)
    return value if kind == DOUBLE else to_float32(value)


def micros_of(moment: dt.datetime) -> int:
    """Count the microseconds from 1970 to a datetime; one without a zone is read in UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    return (aware - EPOCH) // dt.timedelta(microseconds=1)


def days_of(day: dt.date) -> int:
    """Count the days from 1970 to a date."""
    return day.toordinal() - EPOCH.toordinal()


def to_python(value: Value, kind: Kind) -> Value:
    """Return a value as the Python object that Arrow would give for its type."""
    if value is None:
        return None
    if kind == DATE:
        return dt.date.fromordinal(value + EPOCH.toordinal())
    if kind in INSTANTS:
        moment = EPOCH + dt.timedelta(microseconds=value)
        return moment if kind == TIMESTAMP else moment.replace(tzinfo=None)
    return dt.timedelta(microseconds=value) if kind in INTERVALS else value
