"""Spark's types, and the type in which Spark 4 (ANSI) compares two of them."""

from __future__ import annotations

from dataclasses import dataclass

MAX_PRECISION = 38
MIN_DIVISION_SCALE = 6


@dataclass(frozen=True, slots=True)
class Kind:
    """A Spark type by its SQL name; decimals carry a precision and a scale."""

    name: str
    precision: int = 0
    scale: int = 0

    def __str__(self) -> str:
        """Spell the type as Spark does."""
        return f"decimal({self.precision},{self.scale})" if self.name == "decimal" else self.name


VOID = Kind("void")
BOOLEAN = Kind("boolean")
TINYINT, SMALLINT, INT, BIGINT = Kind("tinyint"), Kind("smallint"), Kind("int"), Kind("bigint")
FLOAT, DOUBLE = Kind("float"), Kind("double")
STRING, BINARY = Kind("string"), Kind("binary")
DATE, TIMESTAMP, TIMESTAMP_NTZ = Kind("date"), Kind("timestamp"), Kind("timestamp_ntz")
# Spark keeps whole days apart from finer intervals: a date plus the first is a date, plus the second a timestamp.
DAYS, INTERVAL = Kind("interval day"), Kind("interval day to second")

INTEGERS = (TINYINT, SMALLINT, INT, BIGINT)
FRACTIONS = (FLOAT, DOUBLE)
INSTANTS = (TIMESTAMP, TIMESTAMP_NTZ)
MOMENTS = (DATE, TIMESTAMP, TIMESTAMP_NTZ)
INTERVALS = (DAYS, INTERVAL)

BITS = {TINYINT: 8, SMALLINT: 16, INT: 32, BIGINT: 64}
DIGITS = {TINYINT: 3, SMALLINT: 5, INT: 10, BIGINT: 20}


def decimal_kind(precision: int, scale: int) -> Kind:
    """Return the decimal type of this precision and scale."""
    return Kind("decimal", precision, scale)


def is_decimal(kind: Kind) -> bool:
    """Tell whether a kind is a decimal of any precision."""
    return kind.name == "decimal"


def is_number(kind: Kind) -> bool:
    """Tell whether a kind takes part in arithmetic on numbers."""
    return kind in INTEGERS or kind in FRACTIONS or is_decimal(kind)


def as_decimal(kind: Kind, digits: int = 0) -> Kind:
    """Return the decimal that holds an integer type, or an integer literal of so many digits."""
    if is_decimal(kind):
        return kind
    return decimal_kind(digits or DIGITS[kind], 0)


def wider_decimal(one: Kind, other: Kind) -> Kind:
    """Return the decimal that Spark compares two decimals in.

    When both do not fit 38 digits, Spark keeps the integral digits and rounds the fraction away.
    """
    scale = max(one.scale, other.scale)
    integral = max(one.precision - one.scale, other.precision - other.scale)
    if integral + scale <= MAX_PRECISION:
        return decimal_kind(integral + scale, scale)
    return decimal_kind(MAX_PRECISION, MAX_PRECISION - integral)


def common_kind(one: Kind, other: Kind) -> Kind | None:
    """Return the type both are brought to before they are compared; None if Spark refuses."""
    if other in (one, VOID):
        return one
    if one == VOID:
        return other
    if is_number(one) and is_number(other):
        return _common_number(one, other)
    if one in MOMENTS and other in MOMENTS:
        return TIMESTAMP if TIMESTAMP in (one, other) else TIMESTAMP_NTZ
    return INTERVAL if one in INTERVALS and other in INTERVALS else None


def _common_number(one: Kind, other: Kind) -> Kind:
    """Return the common type of two different numeric types; a float meets anything else as a double."""
    if one in FRACTIONS or other in FRACTIONS:
        return DOUBLE
    if is_decimal(one) or is_decimal(other):
        return wider_decimal(as_decimal(one), as_decimal(other))
    return max(one, other, key=INTEGERS.index)
