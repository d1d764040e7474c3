"""The partitioned theta-joins of the first document on Spark, as it describes them.

Each row goes to every performed cell pair that its cell belongs to, and inside a cell pair all pairs of rows are
compared. Finding the cells belongs to the algorithm and is timed: the driver reads the compared columns of both sides
at once, cuts them with the library's own code, and tells Spark the cuts as a tree of comparisons; rows that the
algorithm drops do not pass the scan. Spark deals the cell pairs to tasks by hash and compares their rows in a merge
join.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from benchmarks.harness import Contender
from benchmarks.spark_races import SHUFFLE_SETTING, drained, start
from dovetail._core.placement.family import place
from dovetail._core.placement.line import Line
from dovetail._core.plan.knobs import FAMILY, Knobs
from dovetail._hosts.spark.at_once import at_once

if TYPE_CHECKING:
    from numpy.typing import NDArray
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
        """Find the cells, then compare the rows of those that meet."""

        def run() -> DataFrame:
            start().conf.set(SHUFFLE_SETTING, str(PARTITIONS))
            problem = self.stored.problem
            (comparison,) = problem.comparisons
            assert comparison.op == ">"
            keys = {"l": comparison.left, "r": comparison.right}
            ours, theirs = (partial(_column, self.stored.read(side), key) for side, key in keys.items())
            lines = dict(zip("lr", at_once(start(), ours, theirs), strict=True))
            found = place(lines["r"], lines["l"], Knobs(self.algorithm), strict=True)
            strips = {"l": found.high, "r": found.low}
            pairs = np.arange(found.pairs.low.size)
            met = {"l": found.pairs.high, "r": found.pairs.low}
            sides = {
                side: _in_cells(self.stored.read(side), key, lines[side], strips[side])
                .join(F.broadcast(start().createDataFrame(pa.table({"pair": pairs, "cell": met[side]}))), "cell")
                .alias(side)
                for side, key in keys.items()
            }
            on = F.expr(f"l.pair = r.pair AND {problem.on}")
            return drained(sides["l"].hint("merge").join(sides["r"], on).select(*problem.columns))

        said = f"{SHUFFLE_SETTING}={PARTITIONS}, hint merge"
        return Contender(f"{self.algorithm}, as described", "Spark SQL", said, run, self.stored.weigh)


def _column(frame: DataFrame, key: str) -> Line:
    """The values of a column, sorted."""
    values = np.sort(frame.select(key).toArrow()[key].to_numpy())
    return Line(values, values * 1.0)


def _in_cells(frame: DataFrame, key: str, line: Line, strip: Strip) -> DataFrame:
    """The rows that have a cell, each with its number."""
    first, last = line.keys[strip.edges[0]], line.keys[strip.edges[-1] - 1]
    cell = _cell(key, line.keys[strip.edges[:-1]], 0, strip.cells)
    return frame.where(f"{key} BETWEEN {first} AND {last}").selectExpr("*", f"CAST({cell} AS BIGINT) AS cell")


def _cell(key: str, starts: NDArray[np.int64], first: int, last: int) -> str:
    """The number of the cell in which a value lies, between two of them, by halves."""
    if last - first == 1:
        return str(first)
    middle = (first + last) // 2
    below, above = (_cell(key, starts, *half) for half in ((first, middle), (middle, last)))
    return f"IF({key} < {starts[middle]}, {below}, {above})"


def described(stored: Stored) -> list[Contender]:
    """All algorithms of the document."""
    return [Described(algorithm, stored).contender() for algorithm in FAMILY]
