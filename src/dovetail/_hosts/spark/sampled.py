"""The samples of both sides as order keys, for choosing shapes and cutting cells."""

from __future__ import annotations

from math import inf, isnan
from typing import TYPE_CHECKING

import pyarrow as pa

from dovetail._core.columns.number_line import places
from dovetail._core.emit.cell import Cell
from dovetail._core.plan.choose import Sample
from dovetail._core.plan.span import Span
from dovetail._core.sweep.placed_join import PlacedJoin
from dovetail._hosts.ring.projection import side_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dovetail._core.condition.values import Condition
    from dovetail._core.placement.windows import Windows
    from dovetail._core.plan.knobs import Knobs
    from dovetail._hosts.spark.lengths import Longest
    from dovetail._hosts.spark.statistics import Statistics


def sample_of(condition: Condition, left: pa.Table, right: pa.Table) -> tuple[Sample, pa.Table]:
    """Order keys of both samples, and the left sample's rows in the same order."""
    return _sample(condition, left, right, {})


def sample_with_spans(condition: Condition, left: Statistics, right: Statistics) -> tuple[Sample, pa.Table]:
    """The same, with what is known of how far apart the values of a left row lie."""
    return _sample(condition, left.sample, right.sample, left.longest)


def _sample(condition: Condition, left: pa.Table, right: pa.Table, longest: Longest) -> tuple[Sample, pa.Table]:
    ours, theirs = both_alike(left, right)
    cell = Cell.of(condition, side_columns(ours), side_columns(theirs))
    keys, spans = (cell.left, cell.right), tuple(_spans(condition, cell, longest))
    sample = Sample(keys[0].values, keys[1].values, keys[0].codes, keys[1].codes, spans)
    return sample, ours.take(pa.array(cell.left.rows))


def _spans(condition: Condition, cell: Cell, longest: Longest) -> Iterator[Span]:
    """The left rows from what rises to what falls, where the greatest length is known."""
    for (start, end), length in longest.items():
        ops, kind = [condition.comparisons[i].op for i in (start, end)], cell.kinds[start]
        if ops[0].rises and not ops[1].rises:
            at = [places(side.values[i], kind) for side in (cell.left, cell.right) for i in (start, end)]
            yield Span(start, end, inf if isnan(length) else length, *at)


def sampled_windows(condition: Condition, knobs: Knobs, left: pa.Table, right: pa.Table) -> Windows:
    """Both samples placed by a partitioned theta-join."""
    ours, theirs = both_alike(left, right)
    pairs = Cell.of(condition, side_columns(ours), side_columns(theirs)).placed(knobs).pairs
    assert isinstance(pairs, PlacedJoin)
    return pairs.windows


def both_alike(left: pa.Table, right: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Both samples; an empty one has the other's columns."""
    ours = left if left.num_rows else right.slice(0, 0)
    return ours, right if right.num_rows else ours.slice(0, 0)
