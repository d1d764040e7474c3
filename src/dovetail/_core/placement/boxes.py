"""Cells as boxes over the anchor's values: cut where it saves the most comparisons.

Starting from one box, the box with the most products (anchor rows times the other side's rows that may match in it) is
cut again and again, each time at the value, of any comparison, that leaves the fewest products. Skew, long intervals
among short ones and hot values thus get more cuts, not a setting. Products are counted on samples of both sides.

The dimensions of a box are the comparisons and, after them, the lengths of the anchor's spans. Where rows start below a
cut, they end below that cut and the greatest length in the box; without that, a box of those few intervals that lie
across a cut would have to get all rows of the other side.

Source: the cell filter of FastThetaJoin and Prefap (first document), in as many dimensions as there are comparisons.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Op
    from dovetail._core.plan.choose import Sample

SHARES = (0.5, 0.1, 0.9, 0.02, 0.98)
"""Where a box may be cut: at these shares of its sampled anchor rows, along any dimension."""
FEW_COPIES = 1.5
"""How many boxes may get a row of the other side, on average, for a placement to be good enough."""
LONG_SHARES = (0.9, 0.98, 1.0)
"""Of the sampled anchor rows, how many are no longer than where long ones are set apart."""
FAR_LONGER = 4
"""How many times longer the longest must be for that."""


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

    @property
    def moved(self) -> int:
        """How many sampled rows of the other side go to boxes, counted once for each."""
        return sum(box.others for box in self.boxes)


@dataclass(eq=False, slots=True)
class _Leaf:
    """A box in the making: which sampled rows it holds."""

    edges: tuple[Edge, ...]
    anchors: NDArray[np.int64]
    others: NDArray[np.int64]
    cut: _Halved | None = None

    @property
    def products(self) -> int:
        return self.anchors.size * self.others.size


class _Halved(NamedTuple):
    """A box that is cut at the value of sampled anchor row `row`, and both halves of it."""

    dimension: int
    row: int
    below: _Leaf
    above: _Leaf

    @property
    def halves(self) -> tuple[_Leaf, _Leaf]:
        return self.below, self.above


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be cut, and whether rows that match all of a box go there."""

    sample: Sample
    ops: Sequence[Op]
    covering: bool

    def others(self, edges: tuple[Edge, ...], others: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which of the other side's rows go to a box, of those that would without its last edge."""
        kept = _may_match(edges[-1], self.sample, self.ops, others) & _in_reach(edges, self.sample, others)
        if self.covering:
            kept &= ~_match_all(edges, self.sample, self.ops, others)
        return others[kept]


def cut_boxes(sample: Sample, ops: Sequence[Op], cells: int, *, covering: bool = False) -> Boxes:
    """Cut the anchor's values, the left ones of the sample, into at most `cells` boxes.

    With `covering`, rows of the other side that match all of a box are not among those that go there. To set few long
    rows apart pays only once the others are cut by where they start: so it is tried at first, too, if rows of the other
    side would go to many boxes else.
    """
    root = _Leaf((), np.arange(sample.left[0].size), np.arange(sample.right[0].size))
    asked = _Asked(sample, ops, covering)
    best = _cut(root, asked, cells)
    if best.moved <= FEW_COPIES * root.others.size:
        return best
    tried = [best]
    for dimension, row in _outliers(sample):
        apart = _halved(root, asked, dimension, row)
        tried.append(_cut(_Leaf((), root.anchors, root.others, apart), asked, cells))
    return min(tried, key=lambda own: own.moved)


def _cut(root: _Leaf, asked: _Asked, cells: int) -> Boxes:
    """Cut on, the box with the most products first."""
    number, leaves = count(), [root] if root.cut is None else root.cut.halves
    waiting = [(-leaf.products, next(number), leaf) for leaf in leaves]
    heapq.heapify(waiting)
    found = len(leaves)
    while waiting and found < cells:
        leaf = heapq.heappop(waiting)[2]
        leaf.cut = _best_cut(leaf, asked)
        if leaf.cut is not None:
            found += 1
            for half in leaf.cut.halves:
                heapq.heappush(waiting, (-half.products, next(number), half))
    boxes: list[Box] = []
    return Boxes(_numbered(root, boxes), tuple(boxes))


def _outliers(sample: Sample) -> Iterator[tuple[int, int]]:
    """Where to set long rows apart: dimensions of lengths, and sampled rows that are far shorter than the longest."""
    for number, span in enumerate(sample.spans):
        length = span.length
        order = np.argsort(length, kind="stable")
        for row in {int(order[int(share * (order.size - 1))]) for share in LONG_SHARES} if order.size else ():
            if length[order[0]] < length[row] and FAR_LONGER * length[row] < span.longest:
                yield len(sample.left) + number, row


def _best_cut(leaf: _Leaf, asked: _Asked) -> _Halved | None:
    """The cut that leaves the fewest products; among equals, the most even one."""
    best, least = None, None
    for dimension in range(len(asked.ops) + len(asked.sample.spans)):
        for row in _candidates(leaf, values_of(asked.sample, dimension)):
            cut = _halved(leaf, asked, dimension, row)
            cost = (sum(half.products for half in cut.halves), max(half.anchors.size for half in cut.halves))
            if least is None or cost < least:
                best, least = cut, cost
    return best


def values_of(sample: Sample, dimension: int) -> NDArray[Any]:
    """The sampled anchor rows in one dimension."""
    own = dimension - len(sample.left)
    return sample.left[dimension] if own < 0 else sample.spans[own].length


def _candidates(leaf: _Leaf, values: NDArray[Any]) -> list[int]:
    """Sampled anchor rows at some shares of a box; a cut at the least value would leave one half empty."""
    if leaf.anchors.size < 2:  # noqa: PLR2004 -- one row cannot be cut
        return []
    order = leaf.anchors[np.argsort(values[leaf.anchors], kind="stable")]
    rows = {int(order[int(share * (order.size - 1))]) for share in SHARES} | {int(order[-1])}
    return sorted(row for row in rows if values[row] > values[order[0]])


def _halved(leaf: _Leaf, asked: _Asked, dimension: int, row: int) -> _Halved:
    values = values_of(asked.sample, dimension)
    own, halves = values[leaf.anchors], []
    for lower in (False, True):
        edges = (*leaf.edges, Edge(dimension, row, lower))
        anchors = leaf.anchors[own >= values[row] if lower else own < values[row]]
        halves.append(_Leaf(edges, anchors, asked.others(edges, leaf.others)))
    return _Halved(dimension, row, *halves)


def _may_match(edge: Edge, sample: Sample, ops: Sequence[Op], others: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether other rows can satisfy `anchor <op> other` with any anchor value on this side of the cut."""
    op = ops[edge.dimension] if edge.dimension < len(ops) else None
    if op is None or edge.lower != op.rises:
        return np.ones(others.size, np.bool_)
    cut, values = sample.left[edge.dimension][edge.row], sample.right[edge.dimension][others]
    return np.asarray(values < cut if not op.rises else values > cut if op.strict else values >= cut)


def _in_reach(edges: Sequence[Edge], sample: Sample, others: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether other rows lie where spans within these edges can start and end."""
    near = np.ones(others.size, np.bool_)
    for number, span in enumerate(sample.spans):
        least, most = reach(edges, sample, number)
        near &= (span.met_by_start[others] >= least) & (span.met_by_end[others] <= most)
    return near


def reach(edges: Sequence[Edge], sample: Sample, number: int) -> tuple[float, float]:
    """What lies below all starts, and what above all ends, of the spans within these edges."""
    span, start, end, longest = sample.spans[number], inf, -inf, sample.spans[number].longest
    for edge in edges:
        if edge.dimension == span.rising and not edge.lower:
            start = min(start, float(span.start[edge.row]))
        elif edge.dimension == span.falling and edge.lower:
            end = max(end, float(span.end[edge.row]))
        elif edge.dimension == len(sample.left) + number and not edge.lower:
            longest = min(longest, float(span.length[edge.row]))
    return span.least(end, longest), span.most(start, longest)


def anchors_inside(box: Box, sample: Sample) -> NDArray[np.bool_]:
    """Which sampled anchor rows lie inside a box."""
    inside = np.ones(sample.left[0].size, np.bool_)
    for edge in box.edges:
        own = values_of(sample, edge.dimension)
        inside &= own >= own[edge.row] if edge.lower else own < own[edge.row]
    return inside


def others_reached(box: Box, ops: Sequence[Op], sample: Sample, *, covering: bool = False) -> NDArray[np.bool_]:
    """Which sampled rows of the other side may match inside a box; with `covering`, but not with all of it."""
    others = np.arange(sample.right[0].size)
    reached = _in_reach(box.edges, sample, others)
    for edge in box.edges:
        reached &= _may_match(edge, sample, ops, others)
    return reached & ~_match_all(box.edges, sample, ops, others) if covering else reached


def home_boxes(tree: Cut | int, own: Sequence[NDArray[Any]], cuts: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """The box of every anchor row; `own` and `cuts` are these and the sampled ones, by dimensions."""
    found = np.empty(own[0].size, np.int64)

    def walk(part: Cut | int, rows: NDArray[np.int64]) -> None:
        if isinstance(part, int):
            found[rows] = part
            return
        below = own[part.dimension][rows] < cuts[part.dimension][part.row]
        walk(part.below, rows[below])
        walk(part.above, rows[~below])

    walk(tree, np.arange(found.size))
    return found


class Cover(NamedTuple):
    """Rows of the other side that match all that the cells from `first` up to, not including, `end` may hold."""

    rows: NDArray[np.int64]
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class Reached:
    """The boxes in which rows of the other side may match: a row and a box for each, or, if asked for, covers."""

    rows: NDArray[np.int64]
    boxes: NDArray[np.int64]
    covers: tuple[Cover, ...] = ()


def reached_boxes(tree: Cut | int, sample: Sample, ops: Sequence[Op], *, covering: bool = False) -> Reached:
    """Where rows of the other side, the right ones of the sample, may match."""
    found: list[tuple[NDArray[np.int64], int]] = []
    covers: list[Cover] = []

    def walk(part: Cut | int, edges: tuple[Edge, ...], rows: NDArray[np.int64]) -> None:
        covered = _match_all(edges, sample, ops, rows) if covering else np.zeros(rows.size, np.bool_)
        if covered.any():
            covers.append(Cover(rows[covered], *_numbers(part)))
            rows = rows[~covered]
        if isinstance(part, int):
            found.append((rows, part))
            return
        for lower, half in ((False, part.below), (True, part.above)):
            more = (*edges, Edge(part.dimension, part.row, lower))
            walk(half, more, rows[_may_match(more[-1], sample, ops, rows) & _in_reach(more, sample, rows)])

    walk(tree, (), np.arange(sample.right[0].size))
    boxes = np.repeat([box for _, box in found], [rows.size for rows, _ in found])
    return Reached(np.concatenate([rows for rows, _ in found]), boxes, tuple(covers))


def _match_all(
    edges: Sequence[Edge], sample: Sample, ops: Sequence[Op], others: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether other rows satisfy every comparison with all anchor values within these edges."""
    all_match = np.ones(others.size, np.bool_)
    for dimension, op in enumerate(ops):
        cuts = [sample.left[dimension][e.row] for e in edges if e.dimension == dimension and e.lower != op.rises]
        if not cuts:
            return np.zeros(others.size, np.bool_)
        own, values = min(cuts) if op.rises else max(cuts), sample.right[dimension][others]
        all_match &= values >= own if op.rises else values < own if op.strict else values <= own
    return all_match


def _numbers(tree: Cut | int) -> tuple[int, int]:
    """The first box of a tree, and the one after its last."""
    first, last = tree, tree
    while isinstance(first, Cut):
        first = first.below
    while isinstance(last, Cut):
        last = last.above
    return first, last + 1


def _numbered(leaf: _Leaf, boxes: list[Box]) -> Cut | int:
    """Number the leaves from left to right."""
    if leaf.cut is None:
        boxes.append(Box(leaf.edges, leaf.anchors.size, leaf.others.size))
        return len(boxes) - 1
    cut = leaf.cut
    return Cut(cut.dimension, cut.row, _numbered(cut.below, boxes), _numbered(cut.above, boxes))
