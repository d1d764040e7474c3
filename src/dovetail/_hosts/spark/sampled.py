"""The samples of both sides as order keys, for choosing shapes and cutting cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from dovetail._core.emit.cell import Cell
from dovetail._core.plan.choose import Sample
from dovetail._core.sweep.placed_join import PlacedJoin
from dovetail._hosts.ring.projection import side_columns

if TYPE_CHECKING:
    from dovetail._core.condition.values import Condition
    from dovetail._core.placement.windows import Windows
    from dovetail._core.plan.knobs import Knobs


def sample_of(condition: Condition, left: pa.Table, right: pa.Table) -> tuple[Sample, pa.Table]:
    """Order keys of both samples, and the left sample's rows in the same order."""
    ours, theirs = both_alike(left, right)
    cell = Cell.of(condition, side_columns(ours), side_columns(theirs))
    keys = cell.left, cell.right
    sample = Sample(keys[0].values, keys[1].values, keys[0].codes, keys[1].codes)
    return sample, ours.take(pa.array(cell.left.rows))


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
