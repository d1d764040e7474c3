"""Text as Spark reads it: what CAST('...' AS a type) gives.

Each function returns NULL where the text is malformed; `cast` turns that into an error. Blanks and control characters
around the text do not count. Not read: hexadecimal floats, a time without a date, and words such as 'now' or 'epoch'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._core.columns.civil import MICROS_PER_DAY, MICROS_PER_SECOND, day_number
from dovetail._core.columns.decimals import powers_of_ten, rebuilt, signed_like
from dovetail._core.columns.lanes import column, present, values
from dovetail._core.columns.types import BINARY, DATE, STRING
from dovetail.errors import UnsupportedError

if TYPE_CHECKING:
    from dovetail._core.columns.lanes import Flags, Values

_BLANKS = "".join(map(chr, range(0x21))) + "\x7f"
_INTEGER = r"^(?P<sign>[+-]?)0*(?P<digits>[0-9]{1,19})$"
_FLOAT = r"^(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFdD]?$"
_ENDLESS = r"(?i)^[+-]?inf(inity)?$"
_DECIMAL = r"^(?P<sign>[+-]?)(?P<whole>[0-9]*)\.?(?P<fraction>[0-9]*)(?:[eE](?P<exponent>[+-]?[0-9]{1,9}))?$"
_DATE = r"^(?P<year>[+-]?[0-9]{4,7})(?:-(?P<month>[0-9]{1,2})(?:-(?P<day>[0-9]{1,2})(?:[ T](?s:.*))?)?)?$"
_STAMP = (
    r"^(?P<year>[+-]?[0-9]{4,6})(?:-(?P<month>[0-9]{1,2})(?:-(?P<day>[0-9]{1,2})(?:[ T](?P<hour>[0-9]{1,2})"
    r"(?::(?P<minute>[0-9]{1,2})(?::(?P<second>[0-9]{1,2})(?:\.(?P<fraction>[0-9]*))?(?P<zone>.*))?)?)?)?)?$"
)
_ZONE = (
    r"^ *(?:Z|UTC|GMT|UT|(?:UTC|GMT|UT)?(?P<sign>[+-])"
    r"(?:(?P<h>[0-9]{1,2})(?::(?P<m>[0-9]{1,2})(?::(?P<s>[0-9]{2}))?)?|(?P<hh>[0-9]{2})(?P<mm>[0-9]{2})(?P<ss>[0-9]{2})?))?$"
)
_NAMED_ZONE = r"^ *[A-Za-z][A-Za-z0-9~/._+-]*$"
_TRUE = pa.array(["t", "true", "y", "yes", "1"])
_FALSE = pa.array(["f", "false", "n", "no", "0"])
_HOURS, _MINUTES, _SECONDS = 24, 60, 60
_MAX_DIGITS = 76
_MAX_ZONE_SECONDS = 18 * 3600
_MAX_DAY = 106_751_991  # the last whole day whose microseconds fit 64 bits


def trimmed(text: pa.Array) -> pa.Array:
    """Strip what Spark strips before it reads a value."""
    return pc.utf8_trim(text, characters=_BLANKS)


def read_integers(text: pa.Array, target: pa.DataType) -> pa.Array:
    """Read whole numbers; a fraction or an exponent is malformed."""
    parts = pc.extract_regex(trimmed(text), _INTEGER)
    magnitude = _digits(parts, "digits", pa.uint64())
    negative = _is(parts, "sign", "-")
    signed = magnitude.astype(np.int64)  # 2**63 wraps to the least integer, which negation leaves alone
    signed = np.where(negative, np.negative(signed), signed)
    bounds = np.iinfo(target.to_pandas_dtype())
    fits = magnitude <= np.where(negative, np.uint64(-int(bounds.min)), np.uint64(bounds.max))
    return column(np.where(fits, signed, 0), present(parts) & fits, target)


def read_floats(text: pa.Array, target: pa.DataType) -> pa.Array:
    """Read numbers with or without fraction and exponent, 'NaN' and 'Infinity'."""
    bare = trimmed(text)
    number = pc.struct_field(pc.extract_regex(bare, _FLOAT), "number")
    words = pc.if_else(pc.match_substring_regex(bare, _ENDLESS), bare, pa.scalar(None, STRING))
    words = pc.if_else(pc.equal(pc.ascii_lower(bare), "nan"), "nan", words)
    return pc.coalesce(number, words).cast(target)


def read_decimals(text: pa.Array, target: pa.DataType) -> pa.Array:
    """Read numbers exactly, rounding half up to the scale."""
    parts = pc.extract_regex(trimmed(text), _DECIMAL)
    digits = pc.binary_join_element_wise(pc.struct_field(parts, "whole"), pc.struct_field(parts, "fraction"), "")
    some = pc.fill_null(pc.greater(pc.utf8_length(digits), 0), False)
    kept = pc.utf8_ltrim(digits, "0")
    # Rounding half up looks at one dropped digit only, so that digits beyond the 76th cannot matter.
    dropped = np.maximum(values(pc.utf8_length(kept)) - _MAX_DIGITS, 0)
    shift = _digits(parts, "exponent", pa.int64()) - values(pc.utf8_length(pc.struct_field(parts, "fraction")))
    magnitude = _big_integers(pc.utf8_slice_codeunits(kept, 0, _MAX_DIGITS))
    scaled = _times_power_of_ten(magnitude, shift + dropped + target.scale)
    signed = signed_like(np.where(_is(parts, "sign", "-"), -1, 1), scaled)
    return rebuilt(signed, present(some) & values(some), target)


def read_booleans(text: pa.Array, _target: pa.DataType) -> pa.Array:
    """Read t, true, y, yes, 1 and f, false, n, no, 0 in any case."""
    word = pc.utf8_lower(trimmed(text))
    known = pc.or_(pc.is_in(word, _TRUE), pc.is_in(word, _FALSE))
    return pc.if_else(known, pc.is_in(word, _TRUE), pa.scalar(None, pa.bool_()))


def read_dates(text: pa.Array, _target: pa.DataType) -> pa.Array:
    """Read year, year-month or year-month-day, the last with anything after a blank or a T."""
    parts = pc.extract_regex(trimmed(text), _DATE)
    days, real = _days(parts)
    real &= (days >= np.iinfo(np.int32).min) & (days <= np.iinfo(np.int32).max)
    return column(np.where(real, days, 0), present(parts) & real, DATE)


def read_stamps(text: pa.Array, target: pa.DataType) -> pa.Array:
    """Read a date, perhaps with a time of day, a fraction of a second and an offset; beyond microseconds is cut."""
    parts = pc.extract_regex(trimmed(text), _STAMP)
    days, real = _days(parts)
    hour, minute, second = (_digits(parts, name, pa.int64()) for name in ("hour", "minute", "second"))
    fraction = pc.utf8_rpad(pc.utf8_slice_codeunits(pc.struct_field(parts, "fraction"), 0, 6), 6, "0")
    offset, zoned = _zone_seconds(pc.struct_field(parts, "zone"), text)
    real &= (hour < _HOURS) & (minute < _MINUTES) & (second < _SECONDS) & zoned & (np.abs(days) <= _MAX_DAY)
    seconds = hour * 3600 + minute * 60 + second - (offset if target.tz else 0)
    micros = seconds * MICROS_PER_SECOND + _integers(fraction)
    start = np.where(real, days, 0) * MICROS_PER_DAY
    real &= (start <= 0) | (micros <= np.iinfo(np.int64).max - start)
    return column(np.where(real, start + micros, 0), present(parts) & real, pa.timestamp("us", target.tz))


def read_bytes(text: pa.Array, _target: pa.DataType) -> pa.Array:
    """Return the UTF-8 bytes."""
    return text.cast(BINARY)


def _days(parts: pa.Array) -> tuple[Values, Flags]:
    month, day = (np.where(_is(parts, name, ""), 1, _digits(parts, name, pa.int64())) for name in ("month", "day"))
    return day_number(_digits(parts, "year", pa.int64()), month, day)


def _zone_seconds(zone: pa.Array, text: pa.Array) -> tuple[Values, Flags]:
    """Return the seconds east of UTC and whether the zone could be read."""
    parts = pc.extract_regex(zone, _ZONE)
    named = pc.and_(pc.is_null(parts), pc.match_substring_regex(zone, _NAMED_ZONE))
    if pc.any(named).as_py():
        raise UnsupportedError.time_zone(text.filter(named)[0].as_py())
    hours, minutes, seconds = (
        _digits(parts, short, pa.int64()) + _digits(parts, long, pa.int64())
        for short, long in (("h", "hh"), ("m", "mm"), ("s", "ss"))
    )
    total = hours * 3600 + minutes * 60 + seconds
    real = present(parts) & (minutes < _MINUTES) & (seconds < _SECONDS) & (total <= _MAX_ZONE_SECONDS)
    return np.where(_is(parts, "sign", "-"), -total, total), np.asarray(real, dtype=np.bool_)


def _digits(parts: pa.Array, name: str, arrow_type: pa.DataType) -> Values:
    """Read one captured group as integers; zero where it is empty or absent."""
    group = pc.struct_field(parts, name)
    return _integers(pc.if_else(pc.equal(group, ""), "0", group), arrow_type)


def _integers(text: pa.Array, arrow_type: pa.DataType | None = None) -> Values:
    return values(pc.utf8_ltrim(text, "+").cast(arrow_type or pa.int64()))


def _is(parts: pa.Array, name: str, wanted: str) -> Flags:
    answer = pc.fill_null(pc.equal(pc.struct_field(parts, name), wanted), False)
    return np.asarray(values(answer), dtype=np.bool_)


def _big_integers(digits: pa.Array) -> Values:
    """Read up to 76 digits as Python integers, nineteen at a time."""
    padded = pc.utf8_lpad(digits, _MAX_DIGITS, "0")
    total = np.zeros(len(digits), dtype=object)
    for start in range(0, _MAX_DIGITS, 19):
        total = total * 10**19 + _integers(pc.utf8_slice_codeunits(padded, start, start + 19), pa.uint64()).astype(
            object
        )
    return total


def _times_power_of_ten(magnitude: Values, exponent: Values) -> Values:
    """Multiply by 10**exponent, rounding half up; exponents beyond the digits of any decimal are as good as endless."""
    up = powers_of_ten(np.clip(exponent, 0, _MAX_DIGITS + 1))
    down = powers_of_ten(np.clip(-exponent, 0, _MAX_DIGITS + 2))
    return np.asarray((magnitude * up + down // 2) // down)
