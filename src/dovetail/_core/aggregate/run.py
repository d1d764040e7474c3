"""All aggregates of a call, folded in one sweep where the condition allows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.aggregate.functions import prepare
from dovetail._core.aggregate.lanes import fold_pairs, fold_slices, fold_threshold
from dovetail._core.kernels.slices import put_values
from dovetail._core.kernels.sort import ascends
from dovetail._core.sweep.slice_join import SliceJoin
from dovetail._core.sweep.threshold_join import ThresholdJoin

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from dovetail._core.aggregate.lanes import Lane
    from dovetail._core.condition.values import Side
    from dovetail._core.plan.aggregates import Aggregate
    from dovetail._core.sweep.build import Join
    from dovetail._core.sweep.matches import SideKeys


def fold(
    aggregates: Sequence[Aggregate],
    arguments: Sequence[pa.Array | None],
    join: Join,
    per: Side,
    keys: dict[Side, SideKeys],
    size: int,
) -> list[pa.Array]:
    """One column per aggregate, one row per row of the `per` side's table, which has `size` rows.

    The other side is folded: `arguments` are its columns. Slices and thresholds that probe with the `per` side are
    folded without pairs; any other join is folded pair by pair.
    """
    other: Side = "right" if per == "left" else "left"
    own_order, other_order = _orders(join, per)
    sequence = _sequence(keys[other])
    folds = [
        prepare(
            aggregate, None if argument is None else argument.take(pa.array(keys[other].rows)), sequence, sequence.size
        )
        for aggregate, argument in zip(aggregates, arguments, strict=True)
    ]
    lanes = [lane.arranged(other_order) for own in folds for lane in own.lanes]
    folded = _folded(lanes, join, per, own_order.size)
    rows = keys[per].at(own_order)
    if not (rows.size == size and ascends(rows)):
        folded = [_spread(lane, values, rows, size) for lane, values in zip(lanes, folded, strict=True)]
    spread = list(folded)
    return [own.finish([spread.pop(0) for _ in own.lanes]) for own in folds]


def _folded(lanes: list[Lane], join: Join, per: Side, size: int) -> list[NDArray[Any]]:
    pairs = join.pairs
    if isinstance(pairs, SliceJoin) and pairs.stored != per:
        return [fold_slices(lane, pairs.found) for lane in lanes]
    if isinstance(pairs, ThresholdJoin) and pairs.stored != per:
        return [fold_threshold(lane, pairs) for lane in lanes]
    return fold_pairs(lanes, (piece for task in pairs.tasks(1) for piece in task), per, size)


def _orders(join: Join, per: Side) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions of the kept side, then of the folded one."""
    orders = (join.left_order, join.right_order)
    return orders if per == "left" else orders[::-1]


def _sequence(keys: SideKeys) -> NDArray[np.int64]:
    """What `first` and `last` go by: the folded side's value in the first comparison."""
    return keys.values[0] if keys.values else np.zeros(keys.rows.size, np.int64)


def _spread(lane: Lane, folded: NDArray[Any], rows: NDArray[np.int64], size: int) -> NDArray[Any]:
    """Bring folds from positions to rows of the table; rows that cannot match keep the fold of nothing."""
    out = lane.empty(size)
    put_values(folded, rows, out)
    return out
