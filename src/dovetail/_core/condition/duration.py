"""Lengths of time in words, "5 seconds" or "5s", as nanoseconds; months and years, which differ, are none."""

from __future__ import annotations

import datetime as dt
import re
from fractions import Fraction

from dovetail.errors import UsageError

_UNITS = {
    "nanosecond": 1,
    "microsecond": 10**3,
    "millisecond": 10**6,
    "second": 10**9,
    "minute": 60 * 10**9,
    "hour": 3600 * 10**9,
    "day": 86_400 * 10**9,
    "week": 7 * 86_400 * 10**9,
}
_SHORT = {
    "ns": "nanosecond",
    "us": "microsecond",
    "ms": "millisecond",
    "s": "second",
    "m": "minute",
    "min": "minute",
    "h": "hour",
    "d": "day",
    "w": "week",
}
"""As pandas, NumPy and Polars have them; small letters alone, since a large M is a month to some of them."""
_CALENDAR = ("month", "quarter", "year")
_PIECE = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([a-z]+)", re.IGNORECASE)


def read_duration(text: str) -> int | None:
    """The nanoseconds of a text such as "1 hour 30 minutes" or "1h30m"; None if it is no duration at all."""
    pieces = _PIECE.findall(text)
    if not pieces or _PIECE.sub("", text).strip():
        return None
    units = [_SHORT.get(unit) or unit.lower().removesuffix("s") for _, unit in pieces]
    if any(unit in _CALENDAR for unit in units):
        raise UsageError.calendar_duration(text)
    if not all(unit in _UNITS for unit in units):
        return None
    total = sum(Fraction(number) * _UNITS[unit] for (number, _), unit in zip(pieces, units, strict=True))
    if total.denominator != 1:
        raise UsageError.too_fine(text)
    return int(total)


def nanoseconds_of(length: dt.timedelta) -> int:
    """The nanoseconds of a length of time; pandas' own has some beside its microseconds."""
    return int(length // dt.timedelta(microseconds=1) * 1000 + getattr(length, "nanoseconds", 0))
