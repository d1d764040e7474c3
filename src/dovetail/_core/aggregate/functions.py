"""The aggregates: what each prepares, and what it makes of the folded lanes."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._core.aggregate.exact import (
    decimal_lanes,
    decimal_total,
    double_lanes,
    double_total,
    integer_lanes,
    integer_total,
)
from dovetail._core.aggregate.lanes import Lane
from dovetail._core.aggregate.precise import add, rounded, square, squared_over
from dovetail._core.columns.cast import cast as cast_as_spark
from dovetail._core.columns.long_texts import in_one_array
from dovetail._core.columns.order_keys import from_keys, has_order, is_plain, keys_with_nulls, order_keys, value_keys
from dovetail._core.columns.types import DOUBLE, MAX_PRECISION, sql_name
from dovetail._core.condition.parse import told
from dovetail._core.kernels.memory import ones
from dovetail._core.kernels.segments import LEAST
from dovetail._core.kernels.sort import sort_with_order
from dovetail._core.sweep.ranks import dense_ranks
from dovetail.errors import UnsupportedError, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dovetail._core.aggregate.precise import Pair
    from dovetail._core.condition.values import Expression
    from dovetail._core.plan.aggregates import Aggregate


class Fold(Protocol):
    """One or several aggregates over one argument in the making."""

    lanes: list[Lane]

    def finish(self, folded: list[NDArray[Any]], function: str) -> pa.Array:
        """The column of results of one of the aggregates."""
        ...


_ORDERED = ("first", "last", "min", "max", "count_distinct")
"""Aggregates that ask which of two values comes first, or whether they are one; for `first` and `last`, among ties."""
_SHARED = {"sum": "total", "avg": "total", "stddev": "spread", "variance": "spread"}


def family(aggregate: Aggregate) -> tuple[str, Expression | None, Expression | None]:
    """What an aggregate prepares: equal for those that can share it."""
    return _SHARED.get(aggregate.function, aggregate.function), aggregate.argument, aggregate.where


def prepare(
    aggregate: Aggregate,
    values: pa.Array | None,
    where: pa.Array | None,
    sequence: NDArray[np.int64],
    rows: int,
    *,
    alike: bool = False,
) -> Fold:
    """Prepare an aggregate over partner rows, for all of its family.

    `values` are its argument, one per row (None for `count(*)`), `where` its filter; `sequence` is the order key by
    which `first` and `last` go, ties being broken by the value itself, NULL before all others. `alike` asks for lanes
    that do not depend on the values: sums of those of several tables can be added up.
    """
    if aggregate.function in _ORDERED and values is not None and not has_order(values.type):
        raise UnsupportedError.aggregate_type(told(aggregate), sql_name(values.type))
    if aggregate.function in ("first", "last"):
        assert values is not None
        order = np.lexsort((*keys_with_nulls(values)[::-1], sequence))
        kept = order if where is None else order[passes(where)[order]]
        return Extreme(values, kept, greatest=aggregate.function == "last")
    if aggregate.function == "count":
        plain = values if values is None or where is None else _presence(values)
        return Count(filtered(plain, where), rows)
    values = filtered(values, where)
    assert values is not None
    if aggregate.function == "count_distinct":
        return Distinct(values)
    if aggregate.function in ("min", "max"):
        return _extreme(values, greatest=aggregate.function == "max", alike=alike)
    return _number(aggregate, values, alike=alike)


def filtered(values: pa.Array | None, where: pa.Array | None) -> pa.Array | None:
    """An argument with NULL where the filter does not hold; of `count(*)`, something that is there where it does."""
    if where is None:
        return values
    held = pa.array(passes(where))
    kept = held if values is None else values
    return pc.if_else(held, kept, pa.scalar(None, kept.type))


def _presence(values: pa.Array) -> pa.Array:
    """Something of a plain type that is NULL where the values are."""
    there = values.is_valid()
    return pc.if_else(there, there, pa.scalar(None, pa.bool_()))


def passes(where: pa.Array) -> NDArray[np.bool_]:
    """Where a filter is true; NULL is not."""
    found = where.cast(pa.bool_()).fill_null(False).to_numpy(zero_copy_only=False)  # noqa: FBT003
    return np.asarray(found, np.bool_)


def result_type(aggregate: Aggregate, kind: pa.DataType | None) -> pa.DataType:
    """The Arrow type of an aggregate over values of a type."""
    values = None if kind is None else pa.nulls(0, kind)
    fold = prepare(aggregate, values, None, np.empty(0, np.int64), 0)
    return fold.finish([lane.empty(0) for lane in fold.lanes], aggregate.function).type


class Count:
    """How many partners, or how many of their values are not NULL."""

    def __init__(self, values: pa.Array | None, rows: int) -> None:
        self.lanes = [Lane("count", ones(rows)) if values is None else _valid(values)]

    def finish(self, folded: list[NDArray[Any]], _function: str) -> pa.Array:
        """Counts are never NULL."""
        return pa.array(folded[0], pa.int64())


class Distinct:
    """How many different values, NULL not counted; what makes two values one is in `codes`, -1 for NULL.

    It has no lanes: whether a value is a new one depends on all others.
    """

    def __init__(self, values: pa.Array) -> None:
        self.lanes: list[Lane] = []
        valid = values.is_valid().to_numpy(zero_copy_only=False)
        self.codes = np.full(len(values), -1)
        self.codes[valid] = dense_ranks(order_keys([values.filter(pa.array(valid))])[0])[0]

    def finish(self, folded: list[NDArray[Any]], _function: str) -> pa.Array:
        """Counts are never NULL."""
        return pa.array(folded[0] if folded else np.empty(0, np.int64), pa.int64())


class Extreme:
    """The value of the partner that comes last, or first, in an order of the rows."""

    def __init__(self, values: pa.Array, order: NDArray[np.int64], *, greatest: bool) -> None:
        self._values = values
        self._order = order if greatest else order[::-1]
        place = np.full(len(values), LEAST)
        place[self._order] = np.arange(order.size)
        self.lanes = [Lane("max", place)]

    def finish(self, folded: list[NDArray[Any]], _function: str) -> pa.Array:
        """NULL without partners."""
        if self._order.size == 0:
            return pa.nulls(folded[0].size, self._values.type)
        with in_one_array():
            return self._values.take(pa.array(self.rows(folded[0]), mask=folded[0] == LEAST))

    def rows(self, folded: NDArray[np.int64]) -> NDArray[np.int64]:
        """The partners that come last, or first; any row where there is none."""
        return self._order[np.where(folded == LEAST, 0, folded)]


class PlainExtreme:
    """The least or greatest value of a type whose order keys can be turned back: nothing is sorted."""

    def __init__(self, keys: NDArray[np.int64], kind: pa.DataType) -> None:
        self._kind = kind
        self.lanes = [Lane("max", keys)]

    def finish(self, folded: list[NDArray[Any]], function: str) -> pa.Array:
        """NULL without values."""
        keys = folded[0] if function == "max" else ~folded[0]
        return from_keys(keys, folded[0] == LEAST, self._kind)


def _extreme(values: pa.Array, *, greatest: bool, alike: bool) -> Fold:
    """The extreme that fits the type; the least is the greatest of the integers turned round."""
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    present = np.flatnonzero(valid)
    found = value_keys(values if present.size == len(values) else values.take(pa.array(present)))
    turned = found if greatest else ~found
    if alike or not is_plain(values.type) or turned.min(initial=0) == LEAST:
        return Extreme(values, present[sort_with_order(found)[1]], greatest=greatest)
    if present.size == len(values):
        return PlainExtreme(turned, values.type)
    keys = np.full(len(values), LEAST)
    keys[present] = turned
    return PlainExtreme(keys, values.type)


def _number(aggregate: Aggregate, values: pa.Array, *, alike: bool) -> Fold:
    """The sum, mean or spread that fits the type."""
    kind = values.type
    if pa.types.is_null(kind):
        values, kind = values.cast(pa.float64()), pa.float64()
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise UsageError.no_sum(told(aggregate), sql_name(kind))
    if aggregate.function in ("stddev", "variance"):
        return Spread(values, alike=alike)
    if pa.types.is_integer(kind):
        return IntegerTotal(values, told(aggregate), alike=alike)
    return FloatTotal(values, alike=alike) if pa.types.is_floating(kind) else DecimalTotal(values, told(aggregate))


class IntegerTotal:
    """Sum (BIGINT) or mean (DOUBLE) of integers, exact until the end."""

    def __init__(self, values: pa.Array, text: str, *, alike: bool) -> None:
        self._text = text
        numbers = values.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        self.lanes = [_valid(values), *integer_lanes(numbers, alike=alike)]

    def finish(self, folded: list[NDArray[Any]], function: str) -> pa.Array:
        """NULL without values; an overflow is an error, as in Spark."""
        count, limbs = folded[0], folded[1:]
        if function == "avg":
            total = sum(limb.astype(np.float64) * 2.0 ** (32 * i) for i, limb in enumerate(limbs))
            return _mean(cast("NDArray[np.float64]", total), count)
        whole, outside = integer_total(limbs)
        if outside.any():
            raise UsageError.sum_overflow(self._text, "BIGINT")
        return pa.array(whole, pa.int64(), mask=count == 0)


class FloatTotal:
    """Sum or mean of doubles, each added up from its own values in twice the precision: nothing drifts."""

    def __init__(self, values: pa.Array, *, alike: bool) -> None:
        self.lanes = [_valid(values), *double_lanes(_doubles(values), alike=alike)]

    def finish(self, folded: list[NDArray[Any]], function: str) -> pa.Array:
        """NULL without values."""
        return self.finish_total(folded[0], [(own[:, 0], own[:, 1]) for own in folded[1:]], function)

    @staticmethod
    def finish_total(count: NDArray[np.int64], parts: list[Pair], function: str) -> pa.Array:
        """The same of the lanes' sums and what they have lost."""
        total = double_total(parts)
        return _mean(total, count) if function == "avg" else pa.array(total, pa.float64(), mask=count == 0)


class Spread:
    """Sample variance or standard deviation, from exact squares of the exact distances to the median of all values.

    Lanes that are to be `alike` go by the distances to 0.
    """

    def __init__(self, values: pa.Array, *, alike: bool) -> None:
        numbers = _doubles(values)
        valid = values.is_valid().to_numpy(zero_copy_only=False)
        finite = numbers[valid & np.isfinite(numbers)]
        middle, zero = np.array(np.median(finite) if finite.size and not alike else 0.0), np.array(0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            apart, rest = (np.where(valid, own, 0.0) for own in add((numbers, zero), (-middle, zero)))
            squares, lost = square(apart)
            lost += rest * (2 * apart + rest)
        lanes = [apart, squares, lost, rest] if rest.any() else [apart, squares, lost]
        self.lanes = [_valid(values), *(Lane("total", own) for own in lanes)]

    def finish(self, folded: list[NDArray[Any]], function: str) -> pa.Array:
        """NULL for fewer than two values."""
        count = folded[0]
        apart, squares, lost, *rest = ((own[:, 0], own[:, 1]) for own in folded[1:])
        with np.errstate(all="ignore"):
            whole = add(apart, rest[0]) if rest else apart
            off = squared_over(whole, np.maximum(count, 1).astype(np.float64))
            around = rounded(add(add(squares, lost), (-off[0], -off[1])))
            variance = np.maximum(around, 0.0) / (count - 1)
            return pa.array(variance if function == "variance" else np.sqrt(variance), pa.float64(), mask=count < 2)  # noqa: PLR2004


class DecimalTotal:
    """Sum or mean of decimals, exact; precision and scale grow as Spark's do."""

    def __init__(self, values: pa.Array, text: str) -> None:
        self._text, self._kind = text, values.type
        zero = pa.scalar(Decimal(0), values.type)
        self.lanes = [_valid(values), *decimal_lanes(values.fill_null(zero))]

    def finish(self, folded: list[NDArray[Any]], function: str) -> pa.Array:
        """NULL without values; an overflow is an error, as in Spark."""
        count, limbs = folded[0], folded[1:]
        scale = self._kind.scale
        total, outside = decimal_total(limbs, scale)
        if outside.any():
            raise UsageError.sum_overflow(self._text, f"DECIMAL({MAX_PRECISION},{scale})")
        none = pa.array(count == 0)
        total = pc.if_else(none, None, total)
        if function != "avg":
            return total.cast(pa.decimal128(min(MAX_PRECISION, self._kind.precision + 10), scale))
        precision, places = min(MAX_PRECISION, self._kind.precision + 4), min(MAX_PRECISION, scale + 4)
        mean = _decimal_mean(total, count, places)
        try:
            return mean.cast(pa.decimal128(precision, places))
        except pa.ArrowInvalid:
            raise UsageError.sum_overflow(self._text, f"DECIMAL({precision},{places})") from None


def _doubles(values: pa.Array) -> NDArray[np.float64]:
    """A column of numbers as doubles, 0 where it is NULL."""
    doubles = cast_as_spark(values, DOUBLE)
    return np.asarray((doubles.fill_null(0.0) if doubles.null_count else doubles).to_numpy(zero_copy_only=False))


def _mean(total: NDArray[np.float64], count: NDArray[np.int64]) -> pa.Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return pa.array(total / count, pa.float64(), mask=count == 0)


def _decimal_mean(total: pa.Array, count: NDArray[np.int64], places: int) -> pa.Array:
    """Divide with more digits than are kept, then round half away from zero."""
    wide = total.cast(pa.decimal256(50, total.type.scale + 6))
    by = pa.array(np.maximum(count, 1), pa.int64()).cast(pa.decimal256(19, 0))
    mean = pc.round(pc.divide(wide, by), places, round_mode="half_towards_infinity")
    return mean.cast(pa.decimal256(60, places))


def _valid(values: pa.Array) -> Lane:
    """Count the values that are not NULL."""
    if not values.null_count:
        return Lane("count", ones(len(values)))
    return Lane("sum", values.is_valid().to_numpy(zero_copy_only=False).astype(np.int64))
