"""Exact decimal arithmetic on whole columns, with Spark's precisions and scales.

A decimal column is taken apart into its unscaled integers: int64 where every value has at most 18 digits, else Python
integers in an object array, on which NumPy runs the same expressions exactly at any width. One formula serves both.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.columns.lanes import present, values
from dovetail._core.columns.order_keys import decimal_words
from dovetail._core.columns.types import MAX_PRECISION, WORD_DIGITS

if TYPE_CHECKING:
    from dovetail._core.columns.lanes import Flags, Values

_MIN_ADJUSTED_SCALE = 6
_WORD = 1 << 64
_NEGATION = Context(prec=34, rounding=ROUND_HALF_EVEN)
_DIGITS_OF_INTEGER = {8: 3, 16: 5, 32: 10, 64: 20}


def decimal_of_integer(arrow_type: pa.DataType) -> pa.DataType:
    """Return the decimal in which Spark holds every value of an integer type."""
    return pa.decimal128(_DIGITS_OF_INTEGER[arrow_type.bit_width], 0)


def adjusted(precision: int, scale: int) -> pa.DataType:
    """Bound a result type to 38 digits; of the fraction, at least six digits are kept (or all, if fewer)."""
    if precision <= MAX_PRECISION:
        return pa.decimal128(precision, scale)
    whole = precision - scale
    return pa.decimal128(MAX_PRECISION, max(MAX_PRECISION - whole, min(scale, _MIN_ADJUSTED_SCALE)))


def sum_type(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """Return the type of left + right and left - right."""
    scale = max(left.scale, right.scale)
    return adjusted(max(left.precision - left.scale, right.precision - right.scale) + scale + 1, scale)


def product_type(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """Return the type of left * right."""
    return adjusted(left.precision + right.precision + 1, left.scale + right.scale)


def quotient_type(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """Return the type of left / right."""
    scale = max(6, left.scale + right.precision + 1)
    return adjusted(left.precision - left.scale + right.scale + scale, scale)


def remainder_type(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """Return the type of left % right."""
    scale = max(left.scale, right.scale)
    return adjusted(min(left.precision - left.scale, right.precision - right.scale) + scale, scale)


def rounded_type(arrow_type: pa.DataType, digits: int) -> pa.DataType:
    """Return the type of round(value, digits); rounding may carry into one more whole digit."""
    whole = arrow_type.precision - arrow_type.scale + 1
    if digits < 0:
        return pa.decimal128(min(max(whole, 1 - digits), MAX_PRECISION), 0)
    scale = min(arrow_type.scale, digits)
    return pa.decimal128(min(whole + scale, MAX_PRECISION), scale)


def unscaled(array: pa.Array) -> Values:
    """Return the unscaled integers of a decimal or integer column; zero under a NULL."""
    if not pa.types.is_decimal(array.type):
        return values(array).astype(np.int64)
    words = decimal_words(array)
    if array.type.precision <= WORD_DIGITS:
        return np.where(present(array), words[:, 0].view(np.int64), 0)
    total = np.ascontiguousarray(words[:, -1]).view(np.int64).astype(object)
    for number in range(words.shape[1] - 2, -1, -1):
        total = total * _WORD + words[:, number].astype(object)
    return np.where(present(array), total, 0)


def rebuilt(numbers: Values, there: Flags, arrow_type: pa.DataType) -> pa.Array:
    """Build a decimal column from unscaled integers; what does not fit the precision becomes NULL."""
    kept = there & fits(numbers, arrow_type.precision)
    numbers = np.where(kept, numbers, 0)
    words = np.empty((len(numbers), arrow_type.bit_width // 64), dtype=np.uint64)
    if numbers.dtype == object:
        for number in range(words.shape[1]):
            words[:, number] = ((numbers >> (64 * number)) & (_WORD - 1)).astype(np.uint64)
    else:
        words[:, 0] = numbers.view(np.uint64)
        words[:, 1:] = (numbers >> 63).view(np.uint64)[:, None]
    validity = pa.array(kept, pa.bool_()).buffers()[1]
    return pa.Array.from_buffers(arrow_type, len(numbers), [validity, pa.py_buffer(words)])


def fits(numbers: Values, precision: int) -> Flags:
    """Say per integer whether it has at most `precision` digits."""
    if numbers.dtype != object and precision > WORD_DIGITS:
        return np.ones(len(numbers), dtype=np.bool_)
    limit = 10**precision
    return np.asarray((numbers < limit) & (numbers > -limit), dtype=np.bool_)


def shifted(numbers: Values, by: int, digits: int) -> Values:
    """Multiply by 10**by, rounding half away from zero where `by` is negative; no value has more digits than given."""
    if by < 0:
        return half_up(numbers, -by)
    if by == 0:
        return numbers
    wide = numbers if digits + by <= WORD_DIGITS else numbers.astype(object)
    return np.asarray(wide * 10**by)


def half_up(numbers: Values, drop: int) -> Values:
    """Drop the last `drop` decimal digits, rounding half away from zero."""
    if drop > WORD_DIGITS:
        numbers = numbers.astype(object)
    return signed_like(numbers, (np.abs(numbers) + 10**drop // 2) // 10**drop)


def cut(numbers: Values, drop: int) -> Values:
    """Drop the last `drop` decimal digits, towards zero."""
    if drop > WORD_DIGITS:
        numbers = numbers.astype(object)
    return signed_like(numbers, np.abs(numbers) // 10**drop)


def signed_like(signs: Values, magnitudes: Values) -> Values:
    """Give each magnitude the sign of its number."""
    return np.where(signs < 0, -magnitudes, magnitudes)


def wide(numbers: Values, digits: int) -> Values:
    """Make room for results of `digits` digits."""
    return numbers if digits <= WORD_DIGITS else numbers.astype(object)


def negated(array: pa.Array) -> Values:
    """Return the unscaled integers of a decimal column with their signs changed, which rounds them to 34 digits."""
    numbers = unscaled(array)
    if array.type.precision <= _NEGATION.prec:
        return -numbers
    return np.array([int(_NEGATION.minus(Decimal(number))) for number in numbers.tolist()], dtype=object)


def powers_of_ten(exponents: Values) -> Values:
    """Return 10**exponent per row, as Python integers; exponents are not negative."""
    table = np.array([10**exponent for exponent in range(int(exponents.max(initial=0)) + 1)], dtype=object)
    return table[exponents]
