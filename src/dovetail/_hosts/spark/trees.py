"""Rows placed into boxes by the tasks that send them on.

Spark could say in SQL in which boxes a row may match; but a condition for each box makes code that is too long to be
compiled, and 100 boxes take fifteen times as long as 20. Here the rows that are looked at become fewer with every cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.columns.number_line import places
from dovetail._core.columns.order_keys import order_keys
from dovetail._core.columns.table import one_chunk
from dovetail._core.placement.boxes import Cover, home_boxes, reached_boxes, values_of
from dovetail._core.plan.choose import Sample
from dovetail._core.plan.span import Span
from dovetail._hosts.spark.places import Seats

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from dovetail._core.condition.values import Op
    from dovetail._core.placement.boxes import Cut
    from dovetail._hosts.spark.digests import Digester

    Ints = NDArray[np.int64]
    Tree = tuple[Cut | int, int]
    """A tree of cuts, and the cell of its first box."""


@dataclass(frozen=True)
class Trees:
    """All trees of a placement, and what they cut by.

    `cuts` are the compared values of the sampled anchor rows, `spans` the comparisons between which rows of the anchor
    have a length, and the greatest. `ours` and `theirs` are the columns in which the values of either side travel.
    """

    trees: tuple[Tree, ...]
    ops: tuple[Op, ...]
    cuts: pa.Table
    spans: tuple[tuple[int, int, float], ...]
    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    digester: Digester | None = None

    def seats(self, cuts: int, rows: pa.Table, *, anchor: bool) -> Seats:
        """The boxes that rows go to, by the tree of this number; there are no guests."""
        tree, first = self.trees[cuts]
        sample = self._beside(rows, self.ours if anchor else self.theirs)
        if anchor:
            own = Sample(sample.right, (), None, None, tuple(span.turned() for span in sample.spans))
            values = [[values_of(side, d) for d in range(len(self.ops) + len(self.spans))] for side in (own, sample)]
            boxes = home_boxes(tree, *values)
            return Seats(np.arange(boxes.size), first + boxes, np.zeros(boxes.size, np.bool_))
        found = reached_boxes(tree, sample, self.ops, covering=self.digester is not None)
        covers = tuple(Cover(own.rows, first + own.first, first + own.end) for own in found.covers)
        return Seats(found.rows, first + found.boxes, np.zeros(found.rows.size, np.bool_), covers)

    def _beside(self, rows: pa.Table, names: tuple[str, ...]) -> Sample:
        """The sampled anchor rows on the left, some rows on the right, in one order of keys."""
        kinds = self.cuts.schema.types
        values = [one_chunk(rows.column(name)) for name in names]
        keys = [order_keys([one_chunk(own), value]) for own, value in zip(self.cuts.columns, values, strict=True)]
        spans = []
        for start, end, longest in self.spans:
            at = [places(keys[i][side], kinds[i]) for side in (0, 1) for i in (start, end)]
            spans.append(Span(start, end, longest, *at))
        left, right = (tuple(own[side] for own in keys) for side in (0, 1))
        return Sample(left, right, None, None, tuple(spans))
