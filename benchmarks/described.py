"""The partitioned theta-joins of the first document on Spark, as it describes them.

Each row goes to every performed cell pair that its cell belongs to, and inside a cell pair all pairs of rows are
compared. Finding the cells is not timed: every row lies on disk with the number of its cell, and rows that the
algorithm drops are not there at all. Spark deals the cell pairs to tasks by hash and compares their rows in a merge
join.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.harness import Contender
from benchmarks.spark_races import SHUFFLE_SETTING, drained, start, written
from dovetail._core.placement.family import place
from dovetail._core.placement.line import Line
from dovetail._core.plan.knobs import FAMILY, Knobs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from benchmarks.spark_races import Stored
    from dovetail._core.placement.line import Strip

PARTITIONS = 8


@dataclass(frozen=True, slots=True)
class Described:
    """One algorithm, carried out for a stored problem with one strict inequality."""

    algorithm: str
    stored: Stored

    def contender(self) -> Contender:
        """Place the rows now; compare them in the race."""
        folder = self.stored.folder / self.algorithm
        folder.mkdir()
        pairs = self._placed()
        for side in "lr":
            written(folder, {side: pairs[side]})

        def run() -> DataFrame:
            start().conf.set(SHUFFLE_SETTING, str(PARTITIONS))
            met = start().createDataFrame(pairs["met"])
            sides = {
                side: start()
                .read.parquet(str(folder / side))
                .join(F.broadcast(met.select("pair", f"{side}_cell")), f"{side}_cell")
                .alias(side)
                for side in "lr"
            }
            on = F.expr(f"l.pair = r.pair AND {self.stored.problem.on}")
            return drained(sides["l"].hint("merge").join(sides["r"], on).select(*self.stored.problem.columns))

        said = f"{SHUFFLE_SETTING}={PARTITIONS}, hint merge"
        return Contender(f"{self.algorithm}, as described", "Spark SQL", said, run, self.stored.weigh)

    def _placed(self) -> dict[str, pa.Table]:
        """Both sides with the cell of each row, and which cells meet."""
        problem = self.stored.problem
        (comparison,) = problem.comparisons
        assert comparison.op == ">"
        columns = {"l": problem.left[comparison.left].to_numpy(), "r": problem.right[comparison.right].to_numpy()}
        orders = {side: np.argsort(column, kind="stable") for side, column in columns.items()}
        lines = {side: Line(columns[side][order], columns[side][order] * 1.0) for side, order in orders.items()}
        found = place(lines["r"], lines["l"], Knobs(self.algorithm), strict=True)
        met = pa.table(
            {
                "pair": np.arange(found.pairs.low.size),
                "l_cell": found.pairs.high,
                "r_cell": found.pairs.low,
            }
        )
        left = _with_cells(problem.left, orders["l"], found.high, "l_cell")
        return {"l": left, "r": _with_cells(problem.right, orders["r"], found.low, "r_cell"), "met": met}


def _with_cells(table: pa.Table, order: np.ndarray, strip: Strip, name: str) -> pa.Table:
    """The rows that have a cell, in no order that would help."""
    kept = order[strip.edges[0] : strip.edges[-1]]
    cells = np.repeat(np.arange(strip.cells), strip.sizes)
    mixed = np.random.default_rng(0).permutation(kept.size)
    return table.take(kept[mixed]).append_column(name, pa.array(cells[mixed]))


def described(stored: Stored) -> list[Contender]:
    """All algorithms of the document."""
    return [Described(algorithm, stored).contender() for algorithm in FAMILY]
