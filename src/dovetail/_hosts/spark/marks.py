"""A small side whose rows are kept beside a large one: it goes to every task, and bits tell which rows have a partner.

Meaning      the rows of the small side that have a partner in the large one by any condition, or those that have none.
Needs        all rows of the small side in the driver, which numbers them; a condition that tasks can test.
How          small rows 0..5, tasks see     task 1: {0, 2}        word 0 of task 1: 000101
                                            task 2: {2, 5}        word 0 of task 2: 100100
             bit_or                                               word 0:           100101   unmatched: 1, 3, 4
Edges        rows that can match nothing (NULL, filters) are never seen; for a row once seen, a task looks no further.
State        in every task the small side, and a bit for each of its rows; of the large side some rows at a time.
Worst case   a second scan of the columns of the large side that the condition reads, where pairs are wanted, too; to
             shuffle the large side, which is the plan for sides that are both large, takes many times longer.
Source       the marks of the third document, for conditions without an equality.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from dovetail._hosts.ring.projection import whole
from dovetail._hosts.spark.bits import BIT, BITS, IS_SET, WORD, beside_words
from dovetail._hosts.spark.handed import created
from dovetail._hosts.spark.mapped import mapped
from dovetail._hosts.spark.task import CellTask, marking_task
from dovetail._hosts.spark.wire import narrowed, pack

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from dovetail._hosts.spark.branch import Branch

SEEN = f"{WORD} BIGINT, {BITS} BIGINT"
"""What a task tells: words of bits."""


@dataclass(frozen=True)
class Marked:
    """The rows of the small side that have a partner (`seen`) or have none, and NULL for the large one.

    `branch` finds the pairs: the large side is its anchor, the small one its `other`.
    """

    branch: Branch
    seen: bool

    def result(self) -> DataFrame:
        """The rows that the caller sees."""
        told = beside_words(self._rows(), self._words()).filter(IS_SET if self.seen else f"NOT {IS_SET}")
        small = self.branch.sides.right
        return self.branch.shown(told, {(small.name, name): small.place(name) for name in small.payload})

    def _rows(self) -> DataFrame:
        """The columns of the small side that the result may show, and the number of each row."""
        small, names = self.branch.sides.right, self.branch.sides.right.named("p")
        schema = StructType([*(small.schema[name] for name in names), StructField(BIT, LongType(), nullable=False)])
        rows = whole(self._small, small.same)
        numbered = [*(rows.column(name) for name in names), pa.array(np.arange(self._small.num_rows))]
        return created(small.frame.sparkSession, pa.table(numbered, [*names, BIT]), schema)

    def _words(self) -> DataFrame:
        """The bits of the rows that have a partner, 64 to a word."""
        sides = self.branch.sides.flip()
        small, large = (own.showing(()) for own in (sides.left, sides.right))
        tested = bool(sides.condition.residuals)
        read = dict.fromkeys(first for name, first in large.same if tested or name not in sides.right.named("p"))
        task = marking_task(CellTask(sides.condition, "semi", small, large), pack(narrowed(self._small)))
        seen = mapped(sides.right.frame.select(*read), task, SEEN)
        return seen.groupBy(WORD).agg(F.expr(f"bit_or({BITS}) AS {BITS}"))

    @property
    def _small(self) -> pa.Table:
        assert self.branch.other is not None
        return self.branch.other
