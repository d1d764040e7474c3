"""Cells on Spark: an id for each anchor row, and all ids at which another row may have a partner."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from pyspark.sql import functions as F

from dovetail._core.placement.boxes import Box, Boxes, Cut, anchors_inside, cut_boxes, others_reached
from dovetail._core.plan.decide import HOT_SHARE
from dovetail._core.plan.matrix import Members
from dovetail._hosts.spark import parcels
from dovetail._hosts.spark.digests import Digester, can_digest
from dovetail._hosts.spark.trees import Trees
from dovetail._hosts.spark.types import can_hash, literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import Column, DataFrame

    from dovetail._core.condition.values import Op
    from dovetail._core.plan.aggregates import Aggregate
    from dovetail._core.plan.choose import Sample
    from dovetail._hosts.spark.overlay import Overlay
    from dovetail._hosts.spark.sides import Sides, SparkSide


@dataclass(frozen=True)
class Hot:
    """A key that is too frequent for one cell: its value in a row of the anchor's sample, and boxes of its own."""

    row: int
    first: int
    boxes: Boxes


@dataclass(frozen=True)
class Cells:
    """All cells: those by hash of the keys (one box per cell if there are none), then those of hot keys."""

    hashed: int
    boxes: Boxes | None
    hot: tuple[Hot, ...]
    anchors: pa.Table
    sample: Sample
    covering: bool = False
    """Whether a row of the other side that matches all of a box is digested, and does not go there."""

    @property
    def number(self) -> int:
        """How many cells there are."""
        own = len(self.boxes.boxes) if self.boxes is not None else self.hashed
        return own + sum(len(hot.boxes.boxes) for hot in self.hot)

    def members(self, sample: Sample, ops: Sequence[Op], *, covering: bool = False) -> Members:
        """Which sampled rows each cell gets; hashing is told by the keys' codes, which spread alike.

        Those that are digested for a cell are among them unless `covering`.
        """
        if self.boxes is not None:
            return _boxed(self.boxes, sample, ops, covering=covering)
        if sample.left_codes is None or sample.right_codes is None:
            return self._anywhere(sample)
        number = np.arange(self.hashed)[:, None]
        left, right = (codes % self.hashed == number for codes in (sample.left_codes, sample.right_codes))
        parts = [Members(left, right)]
        for hot in self.hot:
            code = sample.left_codes[hot.row]
            mine, yours = sample.left_codes == code, sample.right_codes == code
            left[:, mine] = False
            right[:, yours] = False
            boxed = _boxed(hot.boxes, sample, ops, covering=covering)
            parts.append(Members(boxed.left & mine, boxed.right & yours))
        return Members(np.concatenate([p.left for p in parts]), np.concatenate([p.right for p in parts]))

    def _anywhere(self, sample: Sample) -> Members:
        """Without any key or comparison: anchors dealt out, the other side everywhere."""
        number = np.arange(self.hashed)[:, None]
        sizes = [side[0].size if side else 0 for side in (sample.left, sample.right)]
        return Members(np.arange(sizes[0]) % self.hashed == number, np.ones((self.hashed, sizes[1]), np.bool_))


def _boxed(boxes: Boxes, sample: Sample, ops: Sequence[Op], *, covering: bool) -> Members:
    return Members(
        np.array([anchors_inside(box, sample) for box in boxes.boxes]),
        np.array([others_reached(box, ops, sample, covering=covering) for box in boxes.boxes]),
    )


def plan_cells(
    sides: Sides, sample: Sample, anchors: pa.Table, cells: int, aggregates: tuple[Aggregate, ...] = ()
) -> Cells:
    """Cut boxes without equality keys; with them, hash, and cut boxes inside the hot ones."""
    ops = [comparison.op for comparison in sides.condition.comparisons]
    covering = can_digest(aggregates, sides)
    if not sides.condition.keys:
        boxes = cut_boxes(sample, ops, cells, covering=covering) if ops else None
        return Cells(cells, boxes, (), anchors, sample, covering)
    return Cells(cells, None, tuple(_hot(sides, sample, cells, covering=covering)), anchors, sample, covering)


def _hot(sides: Sides, sample: Sample, cells: int, *, covering: bool) -> list[Hot]:
    """The keys with more than half a cell's share of the sampled rows, each with boxes in proportion."""
    codes, other = sample.left_codes, sample.right_codes
    ops = [comparison.op for comparison in sides.condition.comparisons]
    if codes is None or other is None or not ops or not codes.size:
        return []
    found: list[Hot] = []
    first = cells
    for code, row, rows in zip(*np.unique(codes, return_index=True, return_counts=True), strict=True):
        share = max(rows / codes.size, float((other == code).mean()) if other.size else 0.0)
        number = round(share * cells)
        if share <= HOT_SHARE / cells or number < 2:  # noqa: PLR2004 -- one cell is no cut
            continue
        own, theirs = np.flatnonzero(codes == code), np.flatnonzero(other == code)
        boxes = cut_boxes(sample.pick(own, theirs), ops, number, covering=covering)
        found.append(Hot(int(row), first, _renumbered(boxes, own)))
        first += len(boxes.boxes)
    return found


def _renumbered(boxes: Boxes, rows: NDArray[np.int64]) -> Boxes:
    """Boxes whose cuts point into the whole sample again."""

    def cut(tree: Cut | int) -> Cut | int:
        if isinstance(tree, int):
            return tree
        return Cut(tree.dimension, int(rows[tree.row]), cut(tree.below), cut(tree.above))

    moved = tuple(
        Box(tuple(type(e)(e.dimension, int(rows[e.row]), e.lower) for e in box.edges), box.anchors, box.others)
        for box in boxes.boxes
    )
    return Boxes(cut(boxes.tree), moved)


def placed(sides: Sides, cells: Cells, overlay: Overlay, aggregates: tuple[Aggregate, ...] = ()) -> DataFrame:
    """Both sides in one frame, moved to their cells; what is folded there is digested, where it can be."""
    if not sides.condition.keys and cells.boxes is None:
        everywhere = F.sequence(F.lit(0), F.lit(cells.number - 1))
        return moved(sides, cells.number, anywhere(sides.left, cells.number), everywhere, overlay)
    cell, matches = _cell(sides, cells), F.expr(sides.can_match(sides.left))
    ours = sides.left.frame.withColumn("cell", F.when(matches, cell).otherwise(anywhere(sides.left, cells.number)))
    theirs = sides.right.frame.where(sides.can_match(sides.right)).withColumn("cell", cell)
    return parcels.moved(overlay.laid(ours, theirs), cells.number, _trees(sides, cells, overlay, aggregates))


def moved(sides: Sides, number: int, anchor_cell: Column, other_cells: Column, overlay: Overlay) -> DataFrame:
    """Both sides in one frame, moved to cells that are known: one for an anchor row, an array of them for another."""
    ours = sides.left.frame.withColumn("cell", anchor_cell)
    theirs = sides.right.frame.withColumn("cell", F.explode(other_cells))
    return parcels.moved(overlay.laid(ours, theirs), number)


def anywhere(own: SparkSide, number: int) -> Column:
    """One of so many cells, the rows spread evenly."""
    return F.pmod(F.xxhash64(*_hashable(own)), F.lit(number)).cast("int")


def _cell(sides: Sides, cells: Cells) -> Column:
    """The cell of a row that can match, by its key; or, counted down from -1, the tree of cuts that will tell."""
    if not sides.condition.keys:
        return F.lit(-1)
    cell = F.pmod(F.xxhash64(*map(F.col, sides.left.named("k"))), F.lit(cells.hashed)).cast("int")
    for number, hot in enumerate(cells.hot):
        cell = F.when(_is_key(sides, cells.anchors, hot.row), F.lit(-1 - number)).otherwise(cell)
    return cell


def _trees(sides: Sides, cells: Cells, overlay: Overlay, aggregates: tuple[Aggregate, ...]) -> Trees | None:
    """What tasks need to walk down the trees; None if there is none."""
    trees = tuple((hot.boxes.tree, hot.first) for hot in cells.hot)
    if cells.boxes is not None:
        trees = ((cells.boxes.tree, 0),)
    if not trees:
        return None
    names = sides.left.named("v")
    ours, theirs = overlay.anchor_columns(sides.left, names), overlay.other_columns(sides.right, names)
    spans = tuple((span.rising, span.falling, span.longest) for span in cells.sample.spans)
    ops = tuple(own.op for own in sides.condition.comparisons)
    digester = Digester.of(aggregates, sides, overlay, cells.number) if cells.covering else None
    return Trees(trees, ops, cells.anchors.select(names), spans, ours, theirs, digester)


def _is_key(sides: Sides, anchors: pa.Table, row: int) -> Column:
    """Whether a row has the key of a sampled anchor row."""
    parts = []
    for name in sides.left.named("k"):
        value = anchors.column(name)[row]
        parts.append(F.col(name).eqNullSafe(literal(value)) if value.is_valid else F.col(name).isNull())
    return reduce(lambda a, b: a & b, parts)


def _hashable(own: SparkSide) -> list[Column]:
    """Columns that Spark can hash; a constant if there are none."""
    return [F.col(field.name) for field in own.schema if can_hash(field.dataType)] or [F.lit(0)]
