"""How far from a row's time: a length of time, a number, or a column of the base input."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dovetail._core.condition.duration import nanoseconds_of, read_duration
from dovetail._core.condition.number import read_number
from dovetail._core.condition.parse import column_expression
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from dovetail._core.condition.inputs import Input
    from dovetail._core.condition.values import Expression

UNBOUNDED = "unbounded"


@dataclass(frozen=True, slots=True)
class Duration:
    """A fixed length of time."""

    nanoseconds: int


@dataclass(frozen=True, slots=True)
class Number:
    """A distance on an axis of numbers."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class PerRow:
    """A distance that each row of the base brings along; where it is NULL, nothing is within reach."""

    column: Expression


Offset = Duration | Number | PerRow


def read_offset(option: str, given: object, base: Input) -> Offset:
    """Read the value of an option: text is a duration, or else the name of a base column."""
    if isinstance(given, dt.timedelta):
        return Duration(nanoseconds_of(given))
    number = read_number(given)
    if number is not None:
        return Number(number)
    if not isinstance(given, str):
        raise UsageError.no_offset(option, given, base.name)
    length = read_duration(given)
    if length is not None:
        return Duration(length)
    column = base.find(given)
    if column is None:
        raise UsageError.no_offset(option, given, base.name)
    return PerRow(column_expression(base.name, column))


def size_of(offset: Offset) -> Fraction | None:
    """What a scalar offset measures, in nanoseconds or on the axis; None if every row has its own."""
    if isinstance(offset, PerRow):
        return None
    return Fraction(offset.nanoseconds) if isinstance(offset, Duration) else offset.value
