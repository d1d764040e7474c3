"""The operator for a shape: order keys of both sides in, pairs out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.threads import together
from dovetail._core.plan.shape import Kind
from dovetail._core.sweep.bounds import bounds, ordered_slices
from dovetail._core.sweep.overlap_join import Spans, overlap_join
from dovetail._core.sweep.slice_join import SliceJoin
from dovetail._core.sweep.threshold_join import threshold_join

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Op, Side
    from dovetail._core.plan.shape import Shape
    from dovetail._core.sweep.matches import Pairs, SideKeys


@dataclass(frozen=True, slots=True)
class Join:
    """Pairs of positions, with the row of `SideKeys` that stands at each position of either side."""

    pairs: Pairs
    left_order: NDArray[np.int64]
    right_order: NDArray[np.int64]


def build_join(kind: Kind, shape: Shape, ops: Sequence[Op], left: SideKeys, right: SideKeys, threads: int = 1) -> Join:
    """Choose and set up the operator; `ops` are those of all comparisons, read `left <op> right`."""
    if kind is Kind.OVERLAP:
        return _overlap(shape, ops, left, right, threads)
    return sliced_join(shape, ops, left, right, threads)


def sliced_join(shape: Shape, ops: Sequence[Op], left: SideKeys, right: SideKeys, threads: int = 1) -> Join:
    """Slices of the stored side, with a threshold if the shape has one."""
    stored, probes = (right, left) if shape.stored == "right" else (left, right)
    wanted = bounds([_probing(i, shape.stored, ops, probes) for i in shape.slice], probes.rows.size)
    at = stored.values[shape.slice[0]] if shape.slice else np.zeros(stored.rows.size, np.int64)
    found = ordered_slices(at, wanted, stored.codes, probes.codes, threads)
    pairs: Pairs = SliceJoin(found, shape.stored)
    if shape.threshold is not None:
        comparison = _probing(shape.threshold, shape.stored, ops, probes)
        pairs = threshold_join(found, stored.values[shape.threshold], comparison, shape.stored, threads)
    orders = found.probes, found.order
    return Join(pairs, *orders) if shape.stored == "right" else Join(pairs, *orders[::-1])


def _probing(number: int, stored: Side, ops: Sequence[Op], probes: SideKeys) -> tuple[NDArray[np.int64], Op]:
    """A comparison as the probing side sees it: `probe <op> stored`."""
    op = ops[number] if stored == "right" else ops[number].flip()
    return probes.values[number], op


def spans_of(shape: Shape, ops: Sequence[Op], left: SideKeys, right: SideKeys) -> tuple[Spans, Spans]:
    """Both sides as intervals.

    The comparison that rises sets left starts against right ends; the other, right starts against left ends.
    """
    rising, falling = sorted(shape.used, key=lambda i: not ops[i].rises)
    return (
        Spans(left.values[rising], left.values[falling], left.codes, ops[falling].strict),
        Spans(right.values[falling], right.values[rising], right.codes, ops[rising].strict),
    )


def _overlap(shape: Shape, ops: Sequence[Op], left: SideKeys, right: SideKeys, threads: int) -> Join:
    spans = spans_of(shape, ops, left, right)
    (ours, left_order), (theirs, right_order) = together(threads, [own.sorted for own in spans])
    return Join(overlap_join(ours, theirs, threads), left_order, right_order)
