"""The axis of a join by time: one type for both sides, and distances on it.

Numbers, dates and timestamps become *ticks*: int64 (Python integers where decimals are too wide), or doubles. An offset
is rounded to whole ticks so that a bound stays exact: on dates, "within 12 hours" is "on the same day". Bounds that
leave the axis saturate. Strings, binaries and booleans have an order and no distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from math import ceil, floor, isfinite
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from dovetail._core.columns.coerce import comparison_type
from dovetail._core.columns.decimals import unscaled
from dovetail._core.columns.order_keys import float_keys, has_order, order_keys
from dovetail._core.columns.types import DAY_TIME, DOUBLE, family, sql_name
from dovetail._core.plan.offset import Duration, Number
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dovetail._core.plan.offset import Offset

    Ticks = NDArray[Any]

LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
"""The ends of every axis of 64 bits, and of all order keys."""
_TIMES = {"date", "stamp"}
_NUMBERS = {"integer", "float", "decimal", "null"}
_NANOS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_NANOS_PER_DAY = 86_400 * 10**9
EXACT = Context(prec=80)


def axis_type(left: pa.DataType, right: pa.DataType, text: str) -> pa.DataType:
    """The type in which both sides' times are compared."""
    zones = {kind.tz is not None for kind in (left, right) if pa.types.is_timestamp(kind)}
    if len(zones) > 1:
        raise UsageError.mixed_zones(text)
    common = comparison_type(left, right)
    strings = {family(left), family(right)} - {"null"} > {"string"}
    if common is None or strings or not has_order(common):
        raise UsageError.no_axis(text, sql_name(left), sql_name(right))
    if pa.types.is_floating(common):
        return DOUBLE
    return pa.int64() if pa.types.is_integer(common) else common


def check_distance(kind: pa.DataType, what: str, text: str) -> None:
    """Refuse an axis that has an order but no distance."""
    if family(kind) not in _TIMES | _NUMBERS:
        raise UsageError.no_distance(what, text, sql_name(kind))


def check_offset(option: str, offset: Offset, kind: pa.DataType, column: pa.DataType | None) -> None:
    """Refuse an offset that does not fit the axis: durations are for times, numbers for numbers."""
    if column is not None:
        fits = column == DAY_TIME if family(kind) in _TIMES else family(column) in _NUMBERS
        if not fits and family(column) != "null":
            raise UsageError.offset_column(option, sql_name(column), sql_name(kind))
    elif isinstance(offset, Number) and offset.value and family(kind) in _TIMES:
        raise UsageError.needs_duration(option, float(offset.value), sql_name(kind))
    elif isinstance(offset, Duration) and family(kind) not in _TIMES:
        raise UsageError.needs_number(option, sql_name(kind))


def ticks(left: pa.Array, right: pa.Array) -> tuple[Ticks, Ticks]:
    """The values of both sides of an axis, none of them NULL, as numbers to compute with."""
    ours, theirs = ticks_of(left), ticks_of(right)
    if object in (ours.dtype, theirs.dtype):
        return ours.astype(object), theirs.astype(object)
    return ours, theirs


def ticks_of(array: pa.Array) -> Ticks:
    """The values of an array without NULL as numbers to compute with."""
    if pa.types.is_floating(array.type):
        return np.asarray(array.to_numpy(zero_copy_only=False), np.float64)
    if not pa.types.is_decimal(array.type):
        return order_keys([array])[0]
    numbers = unscaled(array)
    wide = numbers.dtype == object and (min(numbers, default=0) < LEAST or max(numbers, default=0) > MOST)
    return numbers if wide else numbers.astype(np.int64)


@dataclass(frozen=True, slots=True)
class Steps:
    """An offset in ticks, for all rows or for each; rows in `none` have no offset, and nothing is within their reach.

    On whole ticks `size` is such that both ends of a bound are closed; on doubles `is_open` says that they are not.
    """

    size: Any
    none: NDArray[np.bool_] | None = None
    is_open: bool = False


Rounding = Literal["within", "below", "beyond"]
_ROUNDED: dict[str, Callable[[Fraction], int]] = {
    "within": floor,
    "below": lambda size: ceil(size) - 1,
    "beyond": ceil,
}


def steps(offset: Offset, kind: pa.DataType, column: pa.Array | None, rounding: Rounding = "within") -> Steps:
    """Bring an offset to the ticks of an axis; `column` holds the offsets of a `PerRow`.

    Times up to that far away lie `within` this many ticks, nearer ones `below` it, and the next ones `beyond`.
    """
    if column is not None:
        return _steps_per_row(column, kind, rounding)
    size = numbers(offset, kind, None)
    if pa.types.is_floating(kind):
        return Steps(float(size), None, rounding == "below")
    return Steps(_ROUNDED[rounding](size))


def numbers(offset: Offset | None, kind: pa.DataType, column: pa.Array | None) -> Any:
    """An offset in ticks that need not be whole; of a column, one per row, and 0 where there is none."""
    if column is None:
        value = offset.value if isinstance(offset, Number) else Fraction(getattr(offset, "nanoseconds", 0))
        return value if pa.types.is_floating(kind) else value * _ticks_per(kind)
    if pa.types.is_floating(kind):
        return np.nan_to_num(_doubles(column), posinf=np.inf, neginf=-np.inf)
    scale = _ticks_per(kind) * (1000 if pa.types.is_duration(column.type) else 1)
    values = _plain(column).tolist() if pa.types.is_duration(column.type) else column.to_pylist()
    return np.array([Fraction(value) * scale if _usable(value) else Fraction(0) for value in values], object)


def _steps_per_row(column: pa.Array, kind: pa.DataType, rounding: Rounding) -> Steps:
    there = column.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_null(column.type):
        return Steps(0, ~there)
    if pa.types.is_floating(kind):
        return Steps(numbers(None, kind, column), ~there | np.isnan(_doubles(column)), rounding == "below")
    if _whole_ticks(column.type, kind):
        return Steps(_plain(column) - (rounding == "below"), ~there)
    usable = np.array([_usable(value) for value in column.to_pylist()], np.bool_)
    sizes = [_ROUNDED[rounding](size) for size in numbers(None, kind, column)]
    return Steps(np.array(sizes, object), ~usable)


def _usable(value: Any) -> bool:
    """Whether a row's own distance is a finite one."""
    return value is not None and (not isinstance(value, float) or isfinite(value))


def _whole_ticks(column: pa.DataType, kind: pa.DataType) -> bool:
    """Whether a column of offsets counts the ticks of the axis themselves."""
    if pa.types.is_duration(column):
        return bool(pa.types.is_timestamp(kind) and kind.unit == column.unit)
    return bool(pa.types.is_integer(column) and pa.types.is_integer(kind))


def _plain(column: pa.Array) -> NDArray[np.int64]:
    """The integers of a column, 0 where it is NULL."""
    bare = column.view(pa.int64()) if pa.types.is_duration(column.type) else column.cast(pa.int64())
    return np.asarray(bare.fill_null(0).to_numpy(zero_copy_only=False), np.int64)


def _doubles(column: pa.Array) -> NDArray[np.float64]:
    return np.asarray(column.cast(DOUBLE).fill_null(0.0).to_numpy(zero_copy_only=False))


def _ticks_per(kind: pa.DataType) -> Fraction:
    """How many ticks a nanosecond has, or the number 1."""
    if pa.types.is_date(kind):
        return Fraction(1, _NANOS_PER_DAY)
    if pa.types.is_timestamp(kind):
        return Fraction(1, _NANOS[kind.unit])
    return Fraction(10 ** (kind.scale if pa.types.is_decimal(kind) else 0))


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of what each row reaches; rows in `none` reach nothing.

    It is closed once `inset` is added to its keys: a step inward where an end on doubles is open.
    """

    ticks: Ticks
    none: NDArray[np.bool_] | None
    inset: int = 0


def bound(at: Ticks, by: Steps, sign: int) -> Bound:
    """Move times down (sign -1, a lower bound) or up (+1, an upper one); ends beyond the axis saturate."""
    if at.dtype == np.float64:
        with np.errstate(over="ignore", invalid="ignore"):
            moved = at + sign * by.size
        return Bound(moved, by.none, -sign if by.is_open else 0)
    if object in (at.dtype, np.asarray(by.size).dtype) or np.asarray(by.size).dtype == np.uint64:
        exact = at.astype(object) + sign * np.asarray(by.size, object)
        return Bound(exact, by.none) if at.dtype == object else _clipped(exact, by.none, sign)
    size = np.asarray(by.size, np.int64)
    with np.errstate(over="ignore"):
        moved = at + sign * size
    up = (size > 0) == (sign > 0)
    wrapped = (size != 0) & ((moved < at) == up) & (moved != at)
    if not wrapped.any():
        return Bound(moved, by.none)
    return _clipped(at.astype(object) + sign * size.astype(object), by.none, sign)


def _clipped(exact: Ticks, none: NDArray[np.bool_] | None, sign: int) -> Bound:
    """Bounds that fit 64 bits; one beyond every value, on the side where nothing satisfies it, reaches nothing."""
    out_of_reach = np.asarray(exact > MOST if sign < 0 else exact < LEAST, np.bool_)
    fitted = np.clip(exact, LEAST, MOST).astype(np.int64)
    return Bound(fitted, out_of_reach if none is None else none | out_of_reach)


def comparable(*arrays: Ticks) -> list[NDArray[np.int64]]:
    """Ticks as int64 keys that compare across all arrays."""
    if arrays[0].dtype == np.float64:
        return [float_keys(own) for own in arrays]
    if all(own.dtype == np.int64 for own in arrays):
        return list(arrays)
    together = np.concatenate([own.astype(object) for own in arrays])
    ranks = np.unique(together, return_inverse=True)[1].astype(np.int64)
    return np.split(ranks, np.cumsum([own.size for own in arrays])[:-1])


def distances(one: Ticks, other: Ticks) -> Ticks:
    """How far apart values lie: equal ones not at all, NaN infinitely far from any other."""
    if one.dtype == np.float64:
        with np.errstate(invalid="ignore", over="ignore"):
            apart = np.abs(one - other)
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        return np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart))
    upper, lower = np.maximum(one, other), np.minimum(one, other)
    return np.asarray(upper - lower if one.dtype == object else upper.view(np.uint64) - lower.view(np.uint64))


def furthest(offset: Offset, kind: pa.DataType, greatest: pa.Scalar | None) -> Any:
    """How many ticks, rounded up, an offset reaches at most; None if nothing bounds it.

    `greatest` is the greatest value of a `PerRow`'s column; if there is none, nothing is within reach.
    """
    if greatest is not None and not greatest.is_valid:
        return 0
    size = numbers(offset, kind, None if greatest is None else pa.array([greatest], greatest.type))
    if greatest is not None and isinstance(greatest.as_py(), float) and not isfinite(greatest.as_py()):
        return None
    reach = size if greatest is None else size[0]
    return float(reach) if pa.types.is_floating(kind) else ceil(reach)


def moved(at: pa.Scalar, kind: pa.DataType, by: Any) -> pa.Scalar | None:
    """A time of an axis, moved by so many ticks; None if that leaves the axis."""
    if not by:
        return at
    origin = ticks_of(pa.array([at], kind))[0]
    if pa.types.is_floating(kind):
        return pa.scalar(float(origin) + by, kind)
    number = int(origin) + by
    try:
        if pa.types.is_decimal(kind):
            return pa.scalar(Decimal(number).scaleb(-kind.scale, EXACT), kind)
        whole = pa.scalar(number, pa.int32() if pa.types.is_date(kind) else pa.int64())
    except (OverflowError, pa.ArrowInvalid):
        return None
    return whole.cast(kind)
