"""CAST as Spark does it with ANSI mode on, session time zone UTC.

A conversion returns NULL where a value cannot be had; here, in one place, such a NULL becomes an error, or stays for
TRY_CAST. Pairs of types that are missing from the table are those that Spark refuses, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._core.columns import parse, render
from dovetail._core.columns.civil import MICROS_PER_DAY, MICROS_PER_SECOND
from dovetail._core.columns.decimals import cut, decimal_of_integer, rebuilt, shifted, unscaled
from dovetail._core.columns.lanes import column, flags, present, values
from dovetail._core.columns.types import BIGINT, DATE, DOUBLE, STRING, family, sql_name
from dovetail.errors import UnsupportedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dovetail._core.columns.lanes import Flags, Values

    Conversion = Callable[[pa.Array, pa.DataType], pa.Array]

_INT64 = np.iinfo(np.int64)
_LATER = {("float", "string"), ("list", "list"), ("struct", "string")} | {
    (interval, other) for interval in ("day_time", "year_month") for other in ("string", "integer", "decimal")
}
"""Casts that Spark has and we have not."""


def cast(array: pa.Array, target: pa.DataType, *, safe: bool = False) -> pa.Array:
    """Return the column as `target`, as CAST does, or with `safe` as TRY_CAST does.

    Parameters
    ----------
    array
        A column of a canonical type.
    target
        The canonical type wanted.
    safe
        Give NULL instead of an error for a value that has no counterpart.

    Notes
    -----
    Fractions are cut for integers and rounded half up for decimals. NaN and Infinity become NULL as decimals, as in
    Spark. FLOAT and DOUBLE to STRING are not supported: their text depends on the Java version that Spark runs on.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cast(pa.array([" 12 ", None]), pa.int32()).to_pylist()
    [12, None]
    """
    if array.type == target:
        return array
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), target)
    convert = _conversion(array.type, target)
    if pa.types.is_floating(array.type) and pa.types.is_decimal(target):
        array = pc.if_else(pc.is_finite(array), array, pa.scalar(None, array.type))
    converted = convert(array, target)
    if not safe and converted.null_count > array.null_count:
        lost = present(array) & ~present(converted)
        value = array[int(np.flatnonzero(lost)[0])]
        raise UsageError.malformed(str(value), sql_name(array.type), sql_name(target))
    return converted


def _conversion(source: pa.DataType, target: pa.DataType) -> Conversion:
    pair = (family(source), family(target))
    if pair in _LATER:
        raise UnsupportedError.cast(sql_name(source), sql_name(target))
    convert = _CONVERSIONS.get(pair)
    if convert is None:
        raise UsageError.no_cast(sql_name(source), sql_name(target))
    return convert


def _integer_to_integer(array: pa.Array, target: pa.DataType) -> pa.Array:
    return _bounded(values(array), present(array), target)


def _bounded(numbers: Values, there: Flags, target: pa.DataType) -> pa.Array:
    """Keep what lies within an integer type."""
    bounds = np.iinfo(target.to_pandas_dtype())
    fits = np.asarray((numbers >= bounds.min) & (numbers <= bounds.max), dtype=np.bool_)
    return column(np.where(fits, numbers, 0), there & fits, target)


def _to_float(array: pa.Array, target: pa.DataType) -> pa.Array:
    with np.errstate(over="ignore"):
        return column(values(array).astype(target.to_pandas_dtype()), present(array), target)


def _float_to_integer(array: pa.Array, target: pa.DataType) -> pa.Array:
    whole, fits = _truncated(values(array).astype(np.float64), target)
    return column(whole, present(array) & fits, target)


def _truncated(numbers: Values, target: pa.DataType) -> tuple[Values, Flags]:
    """Cut fractions; a double of exactly 2**63 is taken as the greatest BIGINT, as in Java."""
    bounds = np.iinfo(target.to_pandas_dtype())
    fits = (np.floor(numbers) <= float(bounds.max)) & (np.ceil(numbers) >= float(bounds.min))
    top = numbers >= float(_INT64.max)
    whole = np.where(fits & ~top, np.trunc(numbers), 0).astype(np.int64)
    return np.where(fits & top, _INT64.max, whole), np.asarray(fits, dtype=np.bool_)


def _integer_to_decimal(array: pa.Array, target: pa.DataType) -> pa.Array:
    if _widens(decimal_of_integer(array.type), target):
        return array.cast(target)
    return rebuilt(shifted(unscaled(array), target.scale, 19), present(array), target)


def _float_to_decimal(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Take the shortest digits that print the double, as Spark does, not its exact binary value."""
    return parse.read_decimals(array.cast(DOUBLE).cast(STRING), target)


def _decimal_to_decimal(array: pa.Array, target: pa.DataType) -> pa.Array:
    if _widens(array.type, target):
        return array.cast(target)
    moved = shifted(unscaled(array), target.scale - array.type.scale, array.type.precision)
    return rebuilt(moved, present(array), target)


def _widens(source: pa.DataType, target: pa.DataType) -> bool:
    """Say whether every value fits as it is, so that Arrow's own cast will do."""
    wholes = (source.precision - source.scale, target.precision - target.scale)
    return bool(wholes[0] <= wholes[1] and source.scale <= target.scale)


def _decimal_to_integer(array: pa.Array, target: pa.DataType) -> pa.Array:
    return _bounded(cut(unscaled(array), array.type.scale), present(array), target)


def _decimal_to_float(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Go through the digits: reading them rounds correctly, which Arrow's own conversion does not always do."""
    return render.decimal_text(array).cast(target)


def _to_boolean(array: pa.Array, _target: pa.DataType) -> pa.Array:
    return flags(values(array) != 0, present(array))


def _decimal_to_boolean(array: pa.Array, _target: pa.DataType) -> pa.Array:
    return flags(np.asarray(unscaled(array) != 0, dtype=np.bool_), present(array))


def _boolean_to_decimal(array: pa.Array, target: pa.DataType) -> pa.Array:
    return _integer_to_decimal(array.cast(BIGINT), target)


def _integer_to_stamp(array: pa.Array, target: pa.DataType) -> pa.Array:
    limit = _INT64.max // MICROS_PER_SECOND
    seconds = values(array).astype(np.int64)
    micros = np.clip(seconds, -limit, limit) * MICROS_PER_SECOND
    saturated = np.where(seconds > limit, _INT64.max, np.where(seconds < -limit, _INT64.min, micros))
    return _zoned(saturated, present(array), target)


def _float_to_stamp(array: pa.Array, target: pa.DataType) -> pa.Array:
    micros, fits = _truncated(values(array).astype(np.float64) * MICROS_PER_SECOND, BIGINT)
    return _zoned(micros, present(array) & fits, target)


def _decimal_to_stamp(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Cut to microseconds; beyond 64 bits Spark wraps around, and so does this."""
    micros = cut(unscaled(array).astype(object) * MICROS_PER_SECOND, array.type.scale)
    wrapped = (micros - _INT64.min) % 2**64 + _INT64.min
    return _zoned(wrapped.astype(np.int64), present(array), target)


def _zoned(micros: Values, there: Flags, target: pa.DataType) -> pa.Array:
    """Only TIMESTAMP is a number of seconds; a wall clock is not."""
    if target.tz is None:
        raise UsageError.no_cast(sql_name(DOUBLE), sql_name(target))
    return column(micros, there, target)


def _stamp_micros(array: pa.Array, target: pa.DataType) -> Values:
    if array.type.tz is None:
        raise UsageError.no_cast(sql_name(array.type), sql_name(target))
    return values(micros_of(array))


def _stamp_to_integer(array: pa.Array, target: pa.DataType) -> pa.Array:
    return _bounded(_stamp_micros(array, target) // MICROS_PER_SECOND, present(array), target)


def _stamp_to_float(array: pa.Array, target: pa.DataType) -> pa.Array:
    return column(_stamp_micros(array, target) / MICROS_PER_SECOND, present(array), target)


def _stamp_to_decimal(array: pa.Array, target: pa.DataType) -> pa.Array:
    micros = _stamp_micros(array, target)
    return rebuilt(shifted(micros, target.scale - 6, 19), present(array), target)


def _date_to_stamp(array: pa.Array, target: pa.DataType) -> pa.Array:
    return _multiplied(values(array), present(array), MICROS_PER_DAY * (1000 if target.unit == "ns" else 1), target)


def _stamp_to_date(array: pa.Array, _target: pa.DataType) -> pa.Array:
    return column(values(micros_of(array)) // MICROS_PER_DAY, present(array), DATE)


def _stamp_to_stamp(array: pa.Array, target: pa.DataType) -> pa.Array:
    ticks = values(array)
    if array.type.unit == target.unit:
        return column(ticks, present(array), target)
    if target.unit == "us":
        return column(ticks // 1000, present(array), target)
    return _multiplied(ticks, present(array), 1000, target)


def _multiplied(ticks: Values, there: Flags, factor: int, target: pa.DataType) -> pa.Array:
    """Make ticks finer; what 64 bits cannot hold becomes NULL."""
    limit = _INT64.max // factor
    fits = (ticks >= -limit) & (ticks <= limit)
    return column(np.where(fits, ticks, 0).astype(np.int64) * factor, there & fits, target)


def micros_of(array: pa.Array) -> pa.Array:
    """Return a timestamp column in microseconds, as Spark would see it."""
    return cast(array, pa.timestamp("us", array.type.tz))


def _struct_to_struct(array: pa.Array, target: pa.DataType) -> pa.Array:
    if array.type.num_fields != target.num_fields:
        raise UsageError.no_cast(sql_name(array.type), sql_name(target))
    children = [cast(pc.struct_field(array, [i]), target.field(i).type) for i in range(target.num_fields)]
    return pa.StructArray.from_arrays(children, fields=list(target), mask=array.is_null())


def _text(write: Callable[[pa.Array], pa.Array]) -> Conversion:
    return lambda array, _target: write(array)


def _read_stamps(text: pa.Array, target: pa.DataType) -> pa.Array:
    return _stamp_to_stamp(parse.read_stamps(text, target), target)


_CONVERSIONS: dict[tuple[str, str], Conversion] = {
    ("integer", "integer"): _integer_to_integer,
    ("integer", "float"): _to_float,
    ("integer", "decimal"): _integer_to_decimal,
    ("integer", "boolean"): _to_boolean,
    ("integer", "stamp"): _integer_to_stamp,
    ("integer", "string"): _text(render.integer_text),
    ("float", "integer"): _float_to_integer,
    ("float", "float"): _to_float,
    ("float", "decimal"): _float_to_decimal,
    ("float", "boolean"): _to_boolean,
    ("float", "stamp"): _float_to_stamp,
    ("decimal", "integer"): _decimal_to_integer,
    ("decimal", "float"): _decimal_to_float,
    ("decimal", "decimal"): _decimal_to_decimal,
    ("decimal", "boolean"): _decimal_to_boolean,
    ("decimal", "stamp"): _decimal_to_stamp,
    ("decimal", "string"): _text(render.decimal_text),
    ("boolean", "integer"): _to_float,
    ("boolean", "float"): _to_float,
    ("boolean", "decimal"): _boolean_to_decimal,
    ("boolean", "string"): _text(render.boolean_text),
    ("date", "stamp"): _date_to_stamp,
    ("date", "string"): _text(render.date_text),
    ("stamp", "integer"): _stamp_to_integer,
    ("stamp", "float"): _stamp_to_float,
    ("stamp", "decimal"): _stamp_to_decimal,
    ("stamp", "date"): _stamp_to_date,
    ("stamp", "stamp"): _stamp_to_stamp,
    ("stamp", "string"): lambda array, _target: render.stamp_text(micros_of(array)),
    ("string", "integer"): parse.read_integers,
    ("string", "float"): parse.read_floats,
    ("string", "decimal"): parse.read_decimals,
    ("string", "boolean"): parse.read_booleans,
    ("string", "date"): parse.read_dates,
    ("string", "stamp"): _read_stamps,
    ("string", "binary"): parse.read_bytes,
    ("binary", "string"): _text(render.binary_text),
    ("struct", "struct"): _struct_to_struct,
}
