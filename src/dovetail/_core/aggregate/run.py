"""All aggregates of a call, folded in one sweep where the condition allows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dovetail._core.aggregate.distinct import distinct_in_pairs, distinct_in_slices
from dovetail._core.aggregate.functions import Distinct, family, prepare
from dovetail._core.aggregate.lanes import SliceFolds, fold_pairs, fold_threshold, words
from dovetail._core.kernels.memory import empty, zeros
from dovetail._core.kernels.slices import put_values
from dovetail._core.kernels.sort import ascends
from dovetail._core.kernels.threads import shares, together
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
    from dovetail._core.sweep.bounds import Slices
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
    threads: int = 1,
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
    partners = _Partners(join, per, other_order, own_order.size, threads)
    home = _Home(keys[per].at(own_order), size, threads)
    folded: dict[object, tuple[Fold, list[NDArray[Any]]]] = {}
    columns = []
    for number, (aggregate, argument) in enumerate(zip(aggregates, picked, strict=True)):
        if family(aggregate) not in folded:
            own = (
                prepare(aggregate, *argument, sequence, sequence.size)
                if digest is None
                else digest.prepare(number, aggregate, argument, sequence)
            )
            found = partners.fold(own)
            if digest is not None:
                found = digest.joined(number, own, found, sequence.size)
            lanes: Sequence[Lane | None] = own.lanes or [None]
            folded[family(aggregate)] = own, [home.bring(*one) for one in zip(found, lanes, strict=True)]
        shared, values = folded[family(aggregate)]
        columns.append(shared.finish(values, aggregate.function))
    return columns


@dataclass(frozen=True)
class _Partners:
    """What stands beside each of `size` positions of the `per` side: rows of the other one, in `order`."""

    join: Join
    per: Side
    order: NDArray[np.int64]
    size: int
    threads: int

    def fold(self, own: Fold) -> list[NDArray[Any]]:
        """The folds of an aggregate's lanes; of one that has none, what it counts."""
        pairs, slices = self.join.pairs, self.slices
        if isinstance(own, Distinct):
            codes = own.codes[self.order]
            if slices is not None:
                return [distinct_in_slices(codes, slices.low, slices.high)]
            return [distinct_in_pairs(codes, self._pieces, self.per, self.size)]
        if slices is not None:
            return [self.counts if lane.fold == "count" else self._of_slices(lane, slices) for lane in own.lanes]
        lanes = [lane.arranged(self.order) for lane in own.lanes]
        if isinstance(pairs, ThresholdJoin) and pairs.stored != self.per:
            return [fold_threshold(lane, pairs) for lane in lanes]
        return fold_pairs(lanes, self._pieces(), self.per, self.size)

    @property
    def slices(self) -> Slices | None:
        """Where all partners of a position stand side by side; None if they do not."""
        pairs = self.join.pairs
        return pairs.found if isinstance(pairs, SliceJoin) and pairs.stored != self.per else None

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many partners there are, by slices: the same for all aggregates."""
        assert self.slices is not None
        return np.subtract(self.slices.high, self.slices.low, out=empty(self.size, np.int64))

    def _of_slices(self, lane: Lane, slices: Slices) -> NDArray[Any]:
        return SliceFolds(lane.arranged(self.order, self.threads), self.threads).over(slices.low, slices.high)

    def _pieces(self) -> Iterator[Matches]:
        return (piece for task in self.join.pairs.tasks(1) for piece in task)


@dataclass(frozen=True)
class _Home:
    """Where folds go from the positions in which they were found: to `rows` of a table of `size` rows."""

    rows: NDArray[np.int64]
    size: int
    threads: int
    counts: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = field(default_factory=list)
    """Counts that were brought, as they were and as they are: aggregates share them."""

    def bring(self, folded: NDArray[Any], lane: Lane | None) -> NDArray[Any]:
        """Bring folds to their rows; rows that cannot match have the fold of nothing."""
        if self.in_order:
            return folded
        if lane is None or lane.fold != "count":
            return self._spread(folded, lane)
        if not any(own is folded for own, _ in self.counts):
            self.counts.append((folded, self._spread(folded, lane)))
        return next(brought for own, brought in self.counts if own is folded)

    @cached_property
    def in_order(self) -> bool:
        """Whether they stand there already."""
        return self.rows.size == self.size and ascends(self.rows)

    def _spread(self, folded: NDArray[Any], lane: Lane | None) -> NDArray[Any]:
        if self.rows.size == self.size:
            out = empty(folded.size, folded.dtype).reshape(folded.shape)
        else:
            out = zeros(self.size, np.int64) if lane is None else lane.empty(self.size)
        values, target = words(folded), words(out)
        parts = shares(self.rows.size, self.threads)
        together(self.threads, [partial(put_values, values[own], self.rows[own], target) for own in parts])
        return out


def _orders(join: Join, per: Side) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions of the kept side, then of the folded one."""
    orders = (join.left_order, join.right_order)
    return orders if per == "left" else orders[::-1]
