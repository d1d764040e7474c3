"""All aggregates of a call, folded in one sweep where the condition allows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dovetail._core.aggregate.distinct import distinct_in_pairs, distinct_in_slices
from dovetail._core.aggregate.functions import Distinct, family, prepare
from dovetail._core.aggregate.lanes import SliceFolds, fold_pairs, fold_threshold, words
from dovetail._core.kernels.memory import zeros
from dovetail._core.kernels.slices import put_values
from dovetail._core.kernels.sort import ascends
from dovetail._core.sweep.prepare import pick
from dovetail._core.sweep.slice_join import SliceJoin
from dovetail._core.sweep.threshold_join import ThresholdJoin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import pyarrow as pa
    from numpy.typing import NDArray

    from dovetail._core.aggregate.digest import Digest
    from dovetail._core.aggregate.functions import Fold
    from dovetail._core.aggregate.lanes import Lane
    from dovetail._core.condition.values import Side
    from dovetail._core.plan.aggregates import Aggregate
    from dovetail._core.sweep.build import Join
    from dovetail._core.sweep.matches import Matches, SideKeys


class Argument(NamedTuple):
    """What an aggregate reads: the values of its argument and of its filter, one per row; None if it has none."""

    values: pa.Array | None
    where: pa.Array | None

    def pick(self, rows: NDArray[np.int64]) -> Argument:
        """Some of the rows."""
        return Argument(*(None if array is None else pick(array, rows) for array in self))


def fold(
    aggregates: Sequence[Aggregate],
    arguments: Sequence[Argument],
    join: Join,
    per: Side,
    keys: dict[Side, SideKeys],
    size: int,
    *,
    ordered: bool,
    digest: Digest | None = None,
) -> list[pa.Array]:
    """One column per aggregate, one row per row of the `per` side's table, which has `size` rows.

    The other side is folded: `arguments` are its columns. Slices and thresholds that probe with the `per` side are
    folded without pairs; any other join is folded pair by pair. `first` and `last` go by the folded side's value in the
    first comparison if that is `ordered`, else by what they aggregate. A `digest` is of further rows that match all
    rows of the `per` side that can match.
    """
    other: Side = "right" if per == "left" else "left"
    own_order, other_order = _orders(join, per)
    sequence = keys[other].values[0] if ordered else np.zeros(keys[other].rows.size, np.int64)
    picked = [argument.pick(keys[other].rows) for argument in arguments]
    rows = keys[per].at(own_order)
    in_order = rows.size == size and ascends(rows)
    folded: dict[object, tuple[Fold, list[NDArray[Any]]]] = {}
    columns = []
    for number, (aggregate, argument) in enumerate(zip(aggregates, picked, strict=True)):
        if family(aggregate) not in folded:
            own = (
                prepare(aggregate, *argument, sequence, sequence.size)
                if digest is None
                else digest.prepare(number, aggregate, argument, sequence)
            )
            found = _folded(own, other_order, join, per, own_order.size)
            if digest is not None:
                found = digest.joined(number, own, found, sequence.size)
            lanes: Sequence[Lane | None] = own.lanes or [None]
            spread = [v if in_order else _spread(v, rows, size, lane) for lane, v in zip(lanes, found, strict=True)]
            folded[family(aggregate)] = own, spread
        shared, values = folded[family(aggregate)]
        columns.append(shared.finish(values, aggregate.function))
    return columns


def _folded(own: Fold, order: NDArray[np.int64], join: Join, per: Side, size: int) -> list[NDArray[Any]]:
    """The folds of an aggregate's lanes; of one that has none, what it counts."""
    if isinstance(own, Distinct):
        return [_distinct(own.codes[order], join, per, size)]
    lanes = [lane.arranged(order) for lane in own.lanes]
    pairs = join.pairs
    if isinstance(pairs, SliceJoin) and pairs.stored != per:
        return [SliceFolds(lane).over(pairs.found.low, pairs.found.high) for lane in lanes]
    if isinstance(pairs, ThresholdJoin) and pairs.stored != per:
        return [fold_threshold(lane, pairs) for lane in lanes]
    return fold_pairs(lanes, _pieces(join), per, size)


def _distinct(codes: NDArray[np.int64], join: Join, per: Side, size: int) -> NDArray[np.int64]:
    pairs = join.pairs
    if isinstance(pairs, SliceJoin) and pairs.stored != per:
        return distinct_in_slices(codes, pairs.found.low, pairs.found.high)
    return distinct_in_pairs(codes, lambda: _pieces(join), per, size)


def _pieces(join: Join) -> Iterator[Matches]:
    return (piece for task in join.pairs.tasks(1) for piece in task)


def _orders(join: Join, per: Side) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions of the kept side, then of the folded one."""
    orders = (join.left_order, join.right_order)
    return orders if per == "left" else orders[::-1]


def _spread(folded: NDArray[Any], rows: NDArray[np.int64], size: int, lane: Lane | None) -> NDArray[Any]:
    """Bring folds from positions to rows of the table; rows that cannot match keep the fold of nothing."""
    out = zeros(size, np.int64) if lane is None else lane.empty(size)
    put_values(words(folded), rows, words(out))
    return out
