"""Aggregates over rows that are stored lane by lane: every row's numbers mean the same in every batch.

Where a batch join may look at all values before it prepares them (their ranks, their median, how large they are), what
is stored must not. What comes out of the lanes is finished by the same folds as in the batch join.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from dovetail._core.aggregate.exact import LIMB, MASK, decimal_lanes
from dovetail._core.aggregate.functions import FloatTotal, family, filtered, passes, prepare
from dovetail._core.aggregate.precise import square
from dovetail._core.columns.cast import cast
from dovetail._core.columns.labels import Labels
from dovetail._core.columns.types import DOUBLE
from dovetail._core.kernels.pages import LEAST, MAX, PLAIN, SUM
from dovetail._core.sweep.numbering import ValueNumbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from dovetail._core.aggregate.functions import Fold
    from dovetail._core.aggregate.run import Argument
    from dovetail._core.kernels.window_ends import Ends
    from dovetail._core.kernels.window_folds import Folds
    from dovetail._core.plan.aggregates import Aggregate

    Ints = NDArray[np.int64]
    Encoded = tuple[list[Ints], list[NDArray[np.float64]]]
    Total = tuple[NDArray[np.float64], NDArray[np.float64]]

_HALF_A_WORD = 32


class Stored(ABC):
    """One or several aggregates over one argument: its lanes of integers, by how they fold, and of doubles."""

    kinds: tuple[int, ...] = ()
    doubles: int = 0

    @abstractmethod
    def encode(self, argument: Argument, rows: int) -> Encoded:
        """The lanes of some rows."""


class Folded(Stored):
    """Aggregates that are told by the folds of their lanes."""

    @abstractmethod
    def finish(self, words: Sequence[Ints], totals: Sequence[Total], function: str) -> pa.Array:
        """The column of results, of what `Area.fold` made of the lanes, with the number of rows before them."""


class StoredCount(Folded):
    """How many rows, or how many values are not NULL."""

    def __init__(self, *, every: bool) -> None:
        self.kinds = () if every else (SUM,)

    def encode(self, argument: Argument, rows: int) -> Encoded:
        """A one for each value."""
        del rows
        return ([_valid(filtered(*argument))] if self.kinds else []), []

    def finish(self, words: Sequence[Ints], totals: Sequence[Total], function: str) -> pa.Array:
        """Counts are never NULL."""
        del totals, function
        return pa.array(words[-1], pa.int64())


class StoredTotal(Folded):
    """Sum, mean or spread of numbers."""

    def __init__(self, aggregate: Aggregate, kind: pa.DataType) -> None:
        self._kind = pa.float64() if pa.types.is_null(kind) else kind
        self._fold: Fold = prepare(aggregate, pa.nulls(0, self._kind), None, np.empty(0, np.int64), 0)
        self._spread = aggregate.function in ("stddev", "variance")
        self.is_integer = pa.types.is_integer(self._kind) and not self._spread
        if self._spread or pa.types.is_floating(self._kind):
            self.kinds, self.doubles = (SUM,), 3 if self._spread else 1
        elif pa.types.is_decimal(self._kind):
            self.kinds = (SUM,) * (1 + len(self._fold.lanes[1:]))
        else:
            self.kinds = (SUM,) * (2 if self._kind.bit_width <= _HALF_A_WORD else 3)

    def encode(self, argument: Argument, rows: int) -> Encoded:
        """Whether each value is there, and its limbs or doubles."""
        del rows
        values = filtered(*argument)
        assert values is not None
        values = values.cast(self._kind) if pa.types.is_null(values.type) else values
        valid = _valid(values)
        if self.doubles:
            return [valid], self._doubles(values)
        zero = pa.scalar(Decimal(0) if pa.types.is_decimal(self._kind) else 0, self._kind)
        filled = values.fill_null(zero) if values.null_count else values
        if pa.types.is_decimal(self._kind):
            return [valid, *(lane.values for lane in decimal_lanes(filled))], []
        numbers = filled.to_numpy(zero_copy_only=False).astype(np.int64)
        return [valid, *([numbers] if len(self.kinds) == 2 else [numbers & MASK, numbers >> LIMB])], []  # noqa: PLR2004

    def _doubles(self, values: pa.Array) -> list[NDArray[np.float64]]:
        values = cast(values, DOUBLE)
        numbers = np.asarray((values.fill_null(0.0) if values.null_count else values).to_numpy(zero_copy_only=False))
        if not self._spread:
            return [numbers]
        with np.errstate(over="ignore", invalid="ignore"):
            return [numbers, *square(numbers)]

    def finish(self, words: Sequence[Ints], totals: Sequence[Total], function: str) -> pa.Array:
        """As the batch join does."""
        if isinstance(self._fold, FloatTotal):
            return self._fold.finish_total(words[1], list(totals), function)
        return self._fold.finish([*words[1:], *(np.stack(own, axis=1) for own in totals)], function)


class StoredExtreme(Folded):
    """The least or greatest value."""

    kinds = (SUM, MAX)

    def __init__(self, kind: pa.DataType, *, greatest: bool) -> None:
        self.labels, self.greatest = Labels(kind), greatest

    def encode(self, argument: Argument, rows: int) -> Encoded:
        """Whether each value is there, and its key, turned round for the least."""
        values = filtered(*argument)
        assert values is not None
        valid = _valid(values)
        keys = np.full(rows, LEAST)
        found = self.labels.keys(values.drop_null() if values.null_count else values)
        keys[valid > 0] = found if self.greatest else ~found
        return [valid, keys], []

    def finish(self, words: Sequence[Ints], totals: Sequence[Total], function: str) -> pa.Array:
        """NULL without values."""
        del totals, function
        return self.labels.array(words[2] if self.greatest else ~words[2], words[1] == 0)


class StoredEnd(Stored):
    """The value of the first or last row: a flag that says whether the row counts, and the value's key."""

    kinds = (MAX, PLAIN)

    def __init__(self, kind: pa.DataType, *, last: bool) -> None:
        self.labels, self.last = Labels(kind), last

    def encode(self, argument: Argument, rows: int) -> Encoded:
        """0 for a row that its filter leaves out, 1 for NULL, 2 for a value."""
        values, where = argument
        assert values is not None
        valid = _valid(values)
        flags = 1 + valid if where is None else (1 + valid) * passes(where)
        keys = np.zeros(rows, np.int64)
        keys[valid > 0] = self.labels.keys(values.drop_null() if values.null_count else values)
        return [flags, keys], []

    def column(self, ends: Ends) -> pa.Array:
        """NULL without rows, and for a row whose value is NULL."""
        return self.labels.array(ends.value, ends.flag < 2)  # noqa: PLR2004 -- the flag of a value


class StoredDistinct(Stored):
    """Different values: a number for each, -1 for what does not count."""

    kinds = (PLAIN,)

    def __init__(self, kind: pa.DataType) -> None:
        self.numbers = ValueNumbers(kind)

    def encode(self, argument: Argument, rows: int) -> Encoded:
        """The number of each value."""
        values = filtered(*argument)
        assert values is not None
        codes = np.full(rows, -1)
        codes[_valid(values) > 0] = self.numbers.give(values.drop_null() if values.null_count else values)
        return [codes], []


def stored(aggregate: Aggregate, kind: pa.DataType | None) -> Stored:
    """How an aggregate over values of a type is stored."""
    function = aggregate.function
    if function == "count":
        return StoredCount(every=kind is None and aggregate.where is None)
    assert kind is not None
    if function in ("first", "last"):
        return StoredEnd(kind, last=function == "last")
    if function == "count_distinct":
        return StoredDistinct(kind)
    if function in ("min", "max"):
        return StoredExtreme(kind, greatest=function == "max")
    return StoredTotal(aggregate, kind)


class Found(NamedTuple):
    """What the windows of some base rows hold."""

    size: int
    folds: Folds
    ends: dict[Any, Ends]
    distinct: dict[Any, Ints]


class Layout:
    """Which lanes the aggregates of a call have, those of one family shared."""

    def __init__(self, aggregates: Sequence[Aggregate], kinds: Sequence[pa.DataType | None]) -> None:
        self.families: dict[Any, Stored] = {}
        self.lanes: dict[Any, tuple[int, int]] = {}
        self._readers: dict[Any, int] = {}
        self.kinds: list[int] = []
        self.doubles = 0
        for number, (aggregate, kind) in enumerate(zip(aggregates, kinds, strict=True)):
            key = family(aggregate)
            if key in self.families:
                continue
            own = stored(aggregate, kind)
            self.families[key], self._readers[key] = own, number
            self.lanes[key] = len(self.kinds), self.doubles
            self.kinds += own.kinds
            self.doubles += own.doubles
        self.ended = {key: own for key, own in self.families.items() if isinstance(own, StoredEnd)}
        self.counted = {key: own for key, own in self.families.items() if isinstance(own, StoredDistinct)}
        self._columns = {aggregate.name: self._column(aggregate) for aggregate in aggregates}

    def encode(self, arguments: Sequence[Argument], rows: int) -> tuple[Ints, NDArray[np.float64]]:
        """The lanes of some rows."""
        words, doubles = np.empty((len(self.kinds), rows), np.int64), np.empty((self.doubles, rows))
        for key, own in self.families.items():
            integers, numbers = own.encode(arguments[self._readers[key]], rows)
            first, second = self.lanes[key]
            for lane, values in enumerate(integers):
                words[first + lane] = values
            for lane, totals in enumerate(numbers):
                doubles[second + lane] = totals
        return words, doubles

    def column(self, aggregate: Aggregate, found: Found) -> pa.Array:
        """The results of one aggregate."""
        return self._columns[aggregate.name](found)

    def _column(self, aggregate: Aggregate) -> Callable[[Found], pa.Array]:
        """How to read the results of one aggregate."""
        key = family(aggregate)
        own = self.families[key]
        if isinstance(own, StoredEnd):
            return lambda found: own.column(found.ends[key])
        if isinstance(own, StoredDistinct):
            return lambda found: pa.array(found.distinct[key], pa.int64())
        assert isinstance(own, Folded)
        first, second = self.lanes[key]
        return partial(_finished, own, aggregate.function, first, second)


def _finished(own: Folded, function: str, first: int, second: int, found: Found) -> pa.Array:
    """The results of folds, the lanes of which begin at two places."""
    folds, rows = found.folds, slice(0, found.size)
    words = [folds.words[0, rows], *folds.words[1 + first : 1 + first + len(own.kinds), rows]]
    totals = [(folds.high[i, rows], folds.low[i, rows]) for i in range(second, second + own.doubles)]
    return own.finish(words, totals, function)


def _valid(values: pa.Array | None) -> Ints:
    """1 where there is a value."""
    assert values is not None
    if not values.null_count:
        return np.ones(len(values), np.int64)
    return np.asarray(values.is_valid().to_numpy(zero_copy_only=False), np.int64)
