"""Windows over a time column: how long a row stays valid from its time on."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from dovetail._core.condition.duration import nanoseconds_of, read_duration
from dovetail._core.condition.number import read_number
from dovetail.errors import UsageError


@dataclass(frozen=True, slots=True)
class Window:
    """A row of time t is valid in `[t, t + length)`, to the next multiple of `length`, or without end.

    `length` is in nanoseconds if `timed`, else on the axis.
    """

    kind: Literal["sliding", "fixed", "unbounded"]
    length: Fraction = Fraction(0)
    timed: bool = False


def read_window(kind: Literal["sliding", "fixed"], given: object) -> Window:
    """A window of some length: a duration, or a number on an axis of numbers."""
    length, timed = _length(given)
    if length is None or length <= 0:
        raise UsageError.no_window_length(kind, given)
    return Window(kind, length, timed)


def _length(given: object) -> tuple[Fraction | None, bool]:
    if isinstance(given, dt.timedelta):
        return Fraction(nanoseconds_of(given)), True
    number = read_number(given)
    if number is not None:
        return number, False
    nanoseconds = read_duration(given) if isinstance(given, str) else None
    return None if nanoseconds is None else Fraction(nanoseconds), True
