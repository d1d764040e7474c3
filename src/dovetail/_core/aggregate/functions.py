"""The aggregates: what each prepares, and what it makes of the folded lanes."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._core.aggregate.exact import decimal_lanes, decimal_total, integer_lanes, integer_total
from dovetail._core.aggregate.lanes import Lane
from dovetail._core.columns.order_keys import order_keys
from dovetail._core.columns.types import sql_name
from dovetail._core.kernels.segments import LEAST
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dovetail._core.plan.aggregates import Aggregate

MOST_DIGITS = 38


class Fold(Protocol):
    """One aggregate in the making."""

    lanes: list[Lane]

    def finish(self, folded: list[NDArray[Any]]) -> pa.Array:
        """The column of results."""
        ...


def prepare(aggregate: Aggregate, values: pa.Array | None, sequence: NDArray[np.int64], rows: int) -> Fold:
    """Prepare an aggregate over partner rows.

    `values` are its argument, one per row (None for `count(*)`); `sequence` is the order key by which `first` and
    `last` go, ties being broken by the value itself, NULL before all others.
    """
    if aggregate.function == "count":
        return Count(values, rows)
    assert values is not None
    if aggregate.function in ("sum", "avg"):
        return _total(aggregate, values)
    if aggregate.function in ("min", "max"):
        present = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
        keys = order_keys([values.take(pa.array(present))])[0]
        order = present[np.argsort(keys, kind="stable")]
    else:
        order = np.lexsort((_with_nulls_first(values), sequence))
    return Extreme(values, order, greatest=aggregate.function in ("max", "last"))


def result_type(aggregate: Aggregate, kind: pa.DataType | None) -> pa.DataType:
    """The Arrow type of an aggregate over values of a type."""
    values = None if kind is None else pa.nulls(0, kind)
    fold = prepare(aggregate, values, np.empty(0, np.int64), 0)
    return fold.finish([lane.empty(0) for lane in fold.lanes]).type


def _with_nulls_first(values: pa.Array) -> NDArray[np.int64]:
    """Ranks of values from 1 up, 0 for NULL."""
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    out = np.zeros(len(values), np.int64)
    keys = order_keys([values.filter(pa.array(valid))])[0]
    out[valid] = np.unique(keys, return_inverse=True)[1] + 1
    return out


class Count:
    """How many partners, or how many of their values are not NULL."""

    def __init__(self, values: pa.Array | None, rows: int) -> None:
        self.lanes = [Lane("count", np.ones(rows, np.int64)) if values is None else _valid(values)]

    def finish(self, folded: list[NDArray[Any]]) -> pa.Array:
        """Counts are never NULL."""
        return pa.array(folded[0], pa.int64())


class Extreme:
    """The value of the partner that comes last, or first, in an order of the rows."""

    def __init__(self, values: pa.Array, order: NDArray[np.int64], *, greatest: bool) -> None:
        self._values = values
        self._order = order if greatest else order[::-1]
        place = np.full(len(values), LEAST)
        place[self._order] = np.arange(order.size)
        self.lanes = [Lane("max", place)]

    def finish(self, folded: list[NDArray[Any]]) -> pa.Array:
        """NULL without partners."""
        none = folded[0] == LEAST
        if self._order.size == 0:
            return pa.nulls(none.size, self._values.type)
        rows = self._order[np.where(none, 0, folded[0])]
        return self._values.take(pa.array(rows, mask=none))


def _total(aggregate: Aggregate, values: pa.Array) -> Fold:
    """The sum or mean that fits the type."""
    kind = values.type
    if pa.types.is_null(kind):
        values, kind = values.cast(pa.float64()), pa.float64()
    average = aggregate.function == "avg"
    if pa.types.is_integer(kind):
        return IntegerTotal(values, str(aggregate), average=average)
    if pa.types.is_floating(kind):
        return FloatTotal(values, average=average)
    if pa.types.is_decimal(kind):
        return DecimalTotal(values, str(aggregate), average=average)
    raise UsageError.no_sum(str(aggregate), sql_name(kind))


class IntegerTotal:
    """Sum (BIGINT) or mean (DOUBLE) of integers, exact until the end."""

    def __init__(self, values: pa.Array, text: str, *, average: bool) -> None:
        self._text, self._average = text, average
        numbers = values.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        self.lanes = [_valid(values), *integer_lanes(numbers)]

    def finish(self, folded: list[NDArray[Any]]) -> pa.Array:
        """NULL without values; an overflow is an error, as in Spark."""
        count, limbs = folded[0], folded[1:]
        if self._average:
            total = sum(limb.astype(np.float64) * 2.0 ** (32 * i) for i, limb in enumerate(limbs))
            return _mean(cast("NDArray[np.float64]", total), count)
        whole, outside = integer_total(limbs)
        if outside.any():
            raise UsageError.sum_overflow(self._text, "BIGINT")
        return pa.array(whole, pa.int64(), mask=count == 0)


class FloatTotal:
    """Sum or mean of doubles, added pairwise along a tree: no running difference, so no drift."""

    def __init__(self, values: pa.Array, *, average: bool) -> None:
        self._average = average
        numbers = values.fill_null(0.0).to_numpy(zero_copy_only=False).astype(np.float64)
        self.lanes = [_valid(values), Lane("sum", numbers)]

    def finish(self, folded: list[NDArray[Any]]) -> pa.Array:
        """NULL without values."""
        count, total = folded
        return _mean(total, count) if self._average else pa.array(total, pa.float64(), mask=count == 0)


class DecimalTotal:
    """Sum or mean of decimals, exact; precision and scale grow as Spark's do."""

    def __init__(self, values: pa.Array, text: str, *, average: bool) -> None:
        self._text, self._average, self._kind = text, average, values.type
        zero = pa.scalar(Decimal(0), values.type)
        self.lanes = [_valid(values), *decimal_lanes(values.fill_null(zero))]

    def finish(self, folded: list[NDArray[Any]]) -> pa.Array:
        """NULL without values; an overflow is an error, as in Spark."""
        count, limbs = folded[0], folded[1:]
        scale = self._kind.scale
        total, outside = decimal_total(limbs, scale)
        if outside.any():
            raise UsageError.sum_overflow(self._text, f"DECIMAL({MOST_DIGITS},{scale})")
        none = pa.array(count == 0)
        total = pc.if_else(none, None, total)
        if not self._average:
            return total.cast(pa.decimal128(min(MOST_DIGITS, self._kind.precision + 10), scale))
        return _decimal_mean(total, count, self._kind)


def _mean(total: NDArray[np.float64], count: NDArray[np.int64]) -> pa.Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return pa.array(total / count, pa.float64(), mask=count == 0)


def _decimal_mean(total: pa.Array, count: NDArray[np.int64], kind: pa.DataType) -> pa.Array:
    """Divide with more digits than are kept, then round half away from zero."""
    precision, scale = min(MOST_DIGITS, kind.precision + 4), min(MOST_DIGITS, kind.scale + 4)
    wide = total.cast(pa.decimal256(50, kind.scale + 6))
    by = pa.array(np.maximum(count, 1), pa.int64()).cast(pa.decimal256(19, 0))
    mean = pc.round(pc.divide(wide, by), scale, round_mode="half_towards_infinity")
    return mean.cast(pa.decimal256(60, scale)).cast(pa.decimal128(precision, scale))


def _valid(values: pa.Array) -> Lane:
    """Count the values that are not NULL."""
    if not values.null_count:
        return Lane("count", np.ones(len(values), np.int64))
    return Lane("sum", values.is_valid().to_numpy(zero_copy_only=False).astype(np.int64))
