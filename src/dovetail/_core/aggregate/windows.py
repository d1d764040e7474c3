"""Aggregates over windows of a timeline: what they share is sorted and built once, for any number of windows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dovetail._core.aggregate.distinct import distinct_in_slices
from dovetail._core.aggregate.functions import Distinct, family, passes, prepare
from dovetail._core.aggregate.lanes import Lane, SliceFolds
from dovetail._core.columns.long_texts import in_one_array
from dovetail._core.columns.order_keys import keys_with_nulls
from dovetail._core.kernels.compile import NO_ROW

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dovetail._core.aggregate.functions import Fold
    from dovetail._core.aggregate.run import Argument
    from dovetail._core.plan.aggregates import Aggregate
    from dovetail._core.sweep.timeline import Timeline

    Positions = NDArray[np.int64]
    Column = Callable[[Positions, Positions], pa.Array]


@dataclass(frozen=True)
class Windows:
    """Where the windows of one kind lie: positions `[low, high)` of a timeline, and the base row of each.

    There are `size` base rows; those without a window have an empty one.
    """

    low: Positions
    high: Positions
    rows: Positions
    size: int

    def spread(self, folded: NDArray[Any], lane: Lane | None) -> NDArray[Any]:
        """Bring folds to the base rows."""
        out = np.zeros(self.size, folded.dtype) if lane is None else lane.empty(self.size)
        out[self.rows] = folded
        return out


@dataclass(frozen=True)
class WindowFolds:
    """Folds over the windows of one timeline."""

    line: Timeline
    _shared: dict[object, Callable[[Windows], list[NDArray[Any]]]] = field(default_factory=dict)
    _folds: dict[object, Fold] = field(default_factory=dict)

    def column(self, aggregate: Aggregate, argument: Argument, windows: Windows) -> pa.Array:
        """One aggregate over every window; `argument` has a value for each stored row."""
        if aggregate.function in ("first", "last"):
            return self._end(aggregate, argument, windows)
        key = family(aggregate)
        if key not in self._folds:
            own = prepare(aggregate, *argument, np.empty(0, np.int64), self.line.order.size)
            self._folds[key], self._shared[key] = own, self._folder(own)
        return self._folds[key].finish(self._shared[key](windows), aggregate.function)

    def _folder(self, own: Fold) -> Callable[[Windows], list[NDArray[Any]]]:
        """How to fold what an aggregate has prepared."""
        if isinstance(own, Distinct):
            codes = self.line.take(own.codes)
            return lambda at: [at.spread(distinct_in_slices(codes, at.low, at.high), None)]
        lanes = [lane if lane.fold == "count" else Lane(lane.fold, self.line.take(lane.values)) for lane in own.lanes]
        folds = [SliceFolds(lane, self.line.threads) for lane in lanes]
        return lambda at: [at.spread(fold.over(at.low, at.high), fold.lane) for fold in folds]

    def _end(self, aggregate: Aggregate, argument: Argument, windows: Windows) -> pa.Array:
        """The first or last value: that at an end of the window, once tied rows stand in the order of the values."""
        values, last = argument.values, aggregate.function == "last"
        assert values is not None
        positions = np.where(windows.low < windows.high, windows.high - 1 if last else windows.low, NO_ROW)
        order = self._by_value(values)
        if argument.where is not None:
            held = _last_before(passes(argument.where)[order]) if last else _first_after(passes(argument.where)[order])
            found = np.append(held, NO_ROW)[positions]
            positions = np.where((found >= windows.low) & (found < windows.high), found, NO_ROW)
        rows = windows.spread(np.append(order, NO_ROW)[positions] + 1, None) - 1
        with in_one_array():
            return values.take(pa.array(rows, mask=rows == NO_ROW))

    def _by_value(self, values: pa.Array) -> Positions:
        """The stored rows in the order of the timeline, those of one time by their values."""
        if not self.line.has_ties:
            return self.line.order
        tied = self.line.order[self.line.tied_rows()]
        return self.line.arranged(keys_with_nulls(values.take(pa.array(tied)))).order


def _last_before(held: NDArray[np.bool_]) -> Positions:
    """The last position up to each one that holds; NO_ROW if there is none."""
    return np.maximum.accumulate(np.where(held, np.arange(held.size), NO_ROW))


def _first_after(held: NDArray[np.bool_]) -> Positions:
    """The first position from each one on that holds; NO_ROW if there is none."""
    turned = _last_before(held[::-1])[::-1]
    return np.where(turned == NO_ROW, NO_ROW, held.size - 1 - turned)
