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
from dovetail._core.placement.boxes import home_boxes, reached_boxes, values_of
from dovetail._core.plan.choose import Sample
from dovetail._core.plan.span import Span

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from dovetail._core.condition.values import Op
    from dovetail._core.placement.boxes import Cut

    Ints = NDArray[np.int64]
    Tree = tuple[Cut | int, int]
    """A tree of cuts, and the cell of its first box."""


@dataclass(frozen=True)
class Located:
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

    def locate(self, table: pa.Table, marks: Ints) -> tuple[Ints, Ints]:
        """Rows of a table and their places, as many of either; `marks` are places, or say which tree will tell."""
        known = np.flatnonzero(marks >= 0)
        rows, found = [known], [marks[known]]
        for mark in np.unique(marks[marks < 0]).tolist():
            tree, anchor = divmod(-mark - 1, 2)
            own = np.flatnonzero(marks == mark)
            read = table.select(list(dict.fromkeys(self.ours if anchor else self.theirs)))
            picked, cells = self._cells(tree, read.take(own), anchor=bool(anchor))
            rows.append(own[picked])
            found.append(2 * cells + anchor)
        return np.concatenate(rows), np.concatenate(found)

    def _cells(self, number: int, rows: pa.Table, *, anchor: bool) -> tuple[Ints, Ints]:
        """The cells of some rows, by one of the trees."""
        tree, first = self.trees[number]
        sample = self._beside(rows, self.ours if anchor else self.theirs)
        if not anchor:
            picked, boxes = reached_boxes(tree, sample, self.ops)
            return picked, first + boxes
        own = Sample(sample.right, (), None, None, tuple(span.turned() for span in sample.spans))
        dimensions = range(len(self.ops) + len(self.spans))
        boxes = home_boxes(tree, [values_of(own, d) for d in dimensions], [values_of(sample, d) for d in dimensions])
        return np.arange(boxes.size), first + boxes

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


def place_text(*, anchor: bool) -> str:
    """Where a row goes, as Spark SQL: twice its cell, and one more if it is the anchor's.

    A `cell` below 0 stands for a tree, whose number is counted down from -1; so does the place then.
    """
    return f"CAST(IF(cell >= 0, 2 * cell + {int(anchor)}, 2 * cell + {1 - anchor}) AS INT)"
