"""Values as Spark prints them: what CAST(... AS STRING) gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._core.columns.civil import MICROS_PER_DAY, MICROS_PER_SECOND, day_of_month, month_of_year, year_of
from dovetail._core.columns.lanes import values
from dovetail._core.columns.types import STRING

if TYPE_CHECKING:
    from dovetail._core.columns.lanes import Values

_LAST_FOUR_DIGIT_YEAR = 9999
_BITS_OF_38_DIGITS = 128


def integer_text(array: pa.Array) -> pa.Array:
    """Print integers."""
    return array.cast(STRING)


def boolean_text(array: pa.Array) -> pa.Array:
    """Print 'true' and 'false'."""
    return array.cast(STRING)


def decimal_text(array: pa.Array) -> pa.Array:
    """Print decimals plainly, with all digits of their scale; Arrow would print small ones with an exponent."""
    scale = array.type.scale
    plain = pa.decimal128 if array.type.bit_width == _BITS_OF_38_DIGITS else pa.decimal256
    magnitude = pc.abs(array)
    whole = pa.Array.from_buffers(
        plain(array.type.precision, 0), len(array), magnitude.buffers(), offset=magnitude.offset
    )
    digits = pc.utf8_lpad(whole.cast(STRING), scale + 1, "0")
    sign = pc.if_else(pc.less(array, pa.scalar(0, pa.decimal128(1, 0)).cast(array.type)), "-", "")
    if scale == 0:
        return _joined(sign, digits)
    before = pc.utf8_slice_codeunits(digits, 0, -scale)
    return _joined(sign, before, ".", pc.utf8_slice_codeunits(digits, -scale))


def date_text(array: pa.Array) -> pa.Array:
    """Print dates as 2026-01-31; years beyond four digits carry a sign."""
    return pc.if_else(array.is_valid(), _day_text(values(array)), pa.scalar(None, STRING))


def stamp_text(array: pa.Array) -> pa.Array:
    """Print timestamps in UTC as 2026-01-31 12:00:00.5, without trailing zeros."""
    micros = values(array)
    seconds = micros % MICROS_PER_DAY // MICROS_PER_SECOND
    clock = [_padded(part, 2) for part in (seconds // 3600, seconds // 60 % 60, seconds % 60)]
    fraction = pc.utf8_rtrim(_joined(".", _padded(micros % MICROS_PER_SECOND, 6)), "0")
    day = _day_text(micros // MICROS_PER_DAY)
    text = pc.utf8_rtrim(_joined(day, " ", clock[0], ":", clock[1], ":", clock[2], fraction), ".")
    return pc.if_else(array.is_valid(), text, pa.scalar(None, STRING))


def binary_text(array: pa.Array) -> pa.Array:
    """Take bytes for UTF-8; like Spark, do not look whether they are."""
    return array.cast(STRING, safe=False)


def _day_text(days: Values) -> pa.Array:
    year = year_of(days)
    sign = np.where(year > _LAST_FOUR_DIGIT_YEAR, "+", np.where(year < 0, "-", ""))
    month, day = _padded(month_of_year(days), 2), _padded(day_of_month(days), 2)
    return _joined(pa.array(sign, STRING), _padded(np.abs(year), 4), "-", month, "-", day)


def _padded(numbers: Values, width: int) -> pa.Array:
    return pc.utf8_lpad(pa.array(numbers.astype(np.int64)).cast(STRING), width, "0")


def _joined(*parts: pa.Array | str) -> pa.Array:
    return pc.binary_join_element_wise(*parts, "")
