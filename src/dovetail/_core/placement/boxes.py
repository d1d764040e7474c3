"""Cells as boxes over the anchor's values: cut where it saves the most comparisons.

Starting from one box, the box with the most products (anchor rows times the other side's rows that may match in it) is
cut again and again, each time at the value, of any comparison, that leaves the fewest products. Skew, long intervals
among short ones and hot values thus get more cuts, not a setting. Products are counted on samples of both sides.

Source: the cell filter of FastThetaJoin and Prefap (first document), in as many dimensions as there are comparisons.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Op
    from dovetail._core.plan.choose import Sample

SHARES = (0.5, 0.1, 0.9, 0.02, 0.98)
"""Where a box may be cut: at these shares of its sampled anchor rows, along any dimension."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Anchor rows whose value lies below that of sampled anchor row `row` go `below`, the others `above`."""

    dimension: int
    row: int
    below: Cut | int
    above: Cut | int


@dataclass(frozen=True, slots=True)
class Edge:
    """One side of a box: values lie at or above (`lower`) or below the value of sampled anchor row `row`."""

    dimension: int
    row: int
    lower: bool


@dataclass(frozen=True, slots=True)
class Box:
    """A cell: its edges, and how many sampled rows of either side it holds."""

    edges: tuple[Edge, ...]
    anchors: int
    others: int

    @property
    def products(self) -> int:
        """Sampled pairs that would be compared here."""
        return self.anchors * self.others


@dataclass(frozen=True, slots=True)
class Boxes:
    """A tree of cuts whose leaves are numbered, and the box at each number."""

    tree: Cut | int
    boxes: tuple[Box, ...]


@dataclass(eq=False, slots=True)
class _Leaf:
    """A box in the making: which sampled rows it holds."""

    edges: tuple[Edge, ...]
    anchors: NDArray[np.int64]
    others: NDArray[np.int64]
    cut: tuple[int, int, _Leaf, _Leaf] | None = None

    @property
    def products(self) -> int:
        return self.anchors.size * self.others.size


def cut_boxes(sample: Sample, ops: Sequence[Op], cells: int) -> Boxes:
    """Cut the anchor's values, the left ones of the sample, into at most `cells` boxes."""
    size = [side[0].size for side in (sample.left, sample.right)]
    root = _Leaf((), np.arange(size[0]), np.arange(size[1]))
    number = count()
    waiting = [(-root.products, next(number), root)]
    leaves = 1
    while waiting and leaves < cells:
        leaf = heapq.heappop(waiting)[2]
        leaf.cut = _best_cut(leaf, sample, ops)
        if leaf.cut is not None:
            leaves += 1
            for child in leaf.cut[2:]:
                heapq.heappush(waiting, (-child.products, next(number), child))
    boxes: list[Box] = []
    return Boxes(_numbered(root, boxes), tuple(boxes))


def _best_cut(leaf: _Leaf, sample: Sample, ops: Sequence[Op]) -> tuple[int, int, _Leaf, _Leaf] | None:
    """The cut that leaves the fewest products; among equals, the most even one."""
    best, least = None, None
    for dimension in range(len(ops)):
        for row in _candidates(leaf, sample.left[dimension]):
            halves = _halves(leaf, sample, ops, dimension, row)
            cost = (sum(half.products for half in halves), max(half.anchors.size for half in halves))
            if least is None or cost < least:
                best, least = (dimension, row, *halves), cost
    return best


def _candidates(leaf: _Leaf, values: NDArray[np.int64]) -> list[int]:
    """Sampled anchor rows at some shares of a box; a cut at the least value would leave one half empty."""
    if leaf.anchors.size < 2:  # noqa: PLR2004 -- one row cannot be cut
        return []
    order = leaf.anchors[np.argsort(values[leaf.anchors], kind="stable")]
    rows = {int(order[int(share * (order.size - 1))]) for share in SHARES} | {int(order[-1])}
    return sorted(row for row in rows if values[row] > values[order[0]])


def _halves(leaf: _Leaf, sample: Sample, ops: Sequence[Op], dimension: int, row: int) -> tuple[_Leaf, _Leaf]:
    values = sample.left[dimension]
    cut = values[row]
    own = values[leaf.anchors]
    halves = []
    for lower in (False, True):
        edge = Edge(dimension, row, lower)
        others = leaf.others[may_match(edge, ops[dimension], cut, sample.right[dimension][leaf.others])]
        anchors = leaf.anchors[own >= cut if lower else own < cut]
        halves.append(_Leaf((*leaf.edges, edge), anchors, others))
    return halves[0], halves[1]


def may_match(edge: Edge, op: Op, cut: np.int64, others: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether other values can satisfy `anchor <op> other` with any anchor value on this side of the cut."""
    if edge.lower and op.rises:
        return others > cut if op.strict else others >= cut
    if not edge.lower and not op.rises:
        return others < cut
    return np.ones(others.size, np.bool_)


def anchors_inside(box: Box, values: Sequence[NDArray[np.int64]]) -> NDArray[np.bool_]:
    """Which sampled anchor rows lie inside a box."""
    inside = np.ones(values[0].size, np.bool_)
    for edge in box.edges:
        own = values[edge.dimension]
        inside &= own >= own[edge.row] if edge.lower else own < own[edge.row]
    return inside


def others_reached(
    box: Box, ops: Sequence[Op], anchors: Sequence[NDArray[np.int64]], values: Sequence[NDArray[np.int64]]
) -> NDArray[np.bool_]:
    """Which sampled rows of the other side may match inside a box."""
    reached = np.ones(values[0].size, np.bool_)
    for edge in box.edges:
        cut = anchors[edge.dimension][edge.row]
        reached &= may_match(edge, ops[edge.dimension], cut, values[edge.dimension])
    return reached


def _numbered(leaf: _Leaf, boxes: list[Box]) -> Cut | int:
    """Number the leaves from left to right."""
    if leaf.cut is None:
        boxes.append(Box(leaf.edges, leaf.anchors.size, leaf.others.size))
        return len(boxes) - 1
    dimension, row, below, above = leaf.cut
    return Cut(dimension, row, _numbered(below, boxes), _numbered(above, boxes))
