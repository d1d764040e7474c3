"""The common type in which Spark compares two values, or brings several together.

The rules are those of Spark 4 with ANSI mode on. A string gives way to whatever it meets. Integers with FLOAT meet in
DOUBLE, not in FLOAT. Decimals widen to hold both sides; where that needs more than 38 digits Spark keeps the whole
digits and rounds the fraction, and so do we: 1.4 as DECIMAL(38,18) equals 1 as DECIMAL(38,0), in Spark as here.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa

from dovetail._core.columns.decimals import decimal_of_integer
from dovetail._core.columns.types import (
    BIGINT,
    DATE,
    DOUBLE,
    MAX_PRECISION,
    NULL,
    family,
    is_moment,
    is_number,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_WIDE_PRECISION = 76
# Where two types meet: in a comparison, inside a compared struct or array, in CASE and its kin, in least and greatest.
_COMPARED, _INSIDE, _CHOSEN, _RANKED = "compared", "inside", "chosen", "ranked"
_STRING_YIELDS_TO = {"boolean", "binary", "date", "stamp"}


def comparison_type(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """Return the type in which Spark compares the two, or None where Spark refuses.

    Parameters
    ----------
    left, right
        Canonical Arrow types.

    Notes
    -----
    Both sides are then cast to the result with `cast`, which rounds decimals as Spark does. NULL meets any type.
    Timestamps in nanoseconds, which Spark does not have, meet the others in nanoseconds.

    Examples
    --------
    >>> import pyarrow as pa
    >>> comparison_type(pa.int64(), pa.float32()), comparison_type(pa.int32(), pa.bool_())
    (DataType(double), None)
    """
    return _wider(left, right, _COMPARED)


def common_type(types: Iterable[pa.DataType], *, promote_strings: bool = True) -> pa.DataType | None:
    """Return the type of a CASE, coalesce or IN over values of these types, taken from left to right.

    `least` and `greatest` do not promote strings: there a string only meets strings.
    """
    place = _CHOSEN if promote_strings else _RANKED

    def meet(one: pa.DataType | None, other: pa.DataType) -> pa.DataType | None:
        return None if one is None else _wider(one, other, place)

    return reduce(meet, types, NULL)


def number_type(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """Return the wider of two number types."""
    kinds = {family(left), family(right)}
    if "float" in kinds:
        return left if left == right else DOUBLE
    if kinds == {"integer"}:
        return max(left, right, key=lambda arrow_type: arrow_type.bit_width)
    return _wider_decimal(as_decimal(left), as_decimal(right))


def as_decimal(arrow_type: pa.DataType) -> pa.DataType:
    """Return a decimal type as it is, and an integer type as the decimal that holds it."""
    return arrow_type if pa.types.is_decimal(arrow_type) else decimal_of_integer(arrow_type)


def string_meets(other: pa.DataType) -> pa.DataType | None:
    """Return what a string becomes when it meets a value of another type."""
    kind = family(other)
    if kind == "integer":
        return BIGINT
    if kind in {"float", "decimal"}:
        return DOUBLE
    return other if kind in _STRING_YIELDS_TO else None


def _wider(left: pa.DataType, right: pa.DataType, place: str) -> pa.DataType | None:
    if left == right:
        return None if family(left) == "map" else left
    kinds = (family(left), family(right))
    if "null" in kinds:
        return right if kinds[0] == "null" else left
    if "string" in kinds and place in {_COMPARED, _CHOSEN}:
        return string_meets(right if kinds[0] == "string" else left)
    if is_number(left) and is_number(right):
        return _tight_number(left, right) if place == _INSIDE else number_type(left, right)
    if is_moment(left) and is_moment(right):
        return _wider_moment(left, right)
    return _wider_nested(left, right, _INSIDE if place == _COMPARED else place)


def _tight_number(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """Inside compared structs and arrays, decimals only meet their own type or an integer that fits them."""
    met = number_type(left, right)
    if "decimal" in {family(left), family(right)}:
        return met if met in {left, right} and "integer" in {family(left), family(right)} else None
    return met


def _wider_decimal(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    whole = max(left.precision - left.scale, right.precision - right.scale)
    scale = max(left.scale, right.scale)
    if max(left.precision, right.precision) > MAX_PRECISION:
        return pa.decimal256(min(whole + scale, _MAX_WIDE_PRECISION), min(scale, _MAX_WIDE_PRECISION - whole))
    if whole + scale <= MAX_PRECISION:
        return pa.decimal128(whole + scale, scale)
    return pa.decimal128(MAX_PRECISION, max(MAX_PRECISION - whole, 0))


def _wider_moment(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    stamps = [arrow_type for arrow_type in (left, right) if arrow_type != DATE]
    unit = "ns" if any(stamp.unit == "ns" for stamp in stamps) else "us"
    return pa.timestamp(unit, tz="UTC" if any(stamp.tz for stamp in stamps) else None)


def _wider_nested(left: pa.DataType, right: pa.DataType, place: str) -> pa.DataType | None:
    if family(left) == "struct" and family(right) == "struct":
        return _wider_struct(left, right, place)
    if family(left) == "list" and family(right) == "list":
        item = _wider(left.value_type, right.value_type, place)
        return None if item is None else pa.list_(item)
    return None


def _wider_struct(left: pa.DataType, right: pa.DataType, place: str) -> pa.DataType | None:
    """Widen field by field if the names agree; Spark takes structs of other names only if their types are the same."""
    if left.num_fields != right.num_fields:
        return None
    same_names = [field.name.lower() for field in left] == [field.name.lower() for field in right]
    fields = []
    for one, other in zip(left, right, strict=True):
        met = _wider(one.type, other.type, place) if same_names or one.type == other.type else None
        if met is None:
            return None
        fields.append(pa.field(one.name, met))
    return pa.struct(fields)
