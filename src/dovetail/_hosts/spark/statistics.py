"""What is known of both sides after reading each once: how many rows, extremes of the compared values, and a sample."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dovetail._hosts.spark.at_once import at_once

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from dovetail._hosts.spark.sides import Sides, SparkSide

ROWS_PER_TASK = 1024
TASKS = 4
ROW_BITS = 33
"""Spark numbers the rows of a task in the low bits of `monotonically_increasing_id`."""


_ENDS = {"least": "min", "most": "max"}
# How likely a row is taken: less and less along a task and from task to task. So a task gives some thousand rows,
# however long it is, and all tasks together not many more, without anything being known of their number or length. What
# was taken too often is thinned afterwards.
_ROW, _TASK = f"(number & {(1 << ROW_BITS) - 1})", f"(number >> {ROW_BITS})"
_DRAWN = "monotonically_increasing_id() AS number", "rand(1) AS draw"
_CHANCE = f"least(1D, {ROWS_PER_TASK} / ({_ROW} + 1)) * least(1D, {TASKS} / ({_TASK} + 1))"


@dataclass(frozen=True)
class Statistics:
    """One side: its rows, those that can match at all, a sample of these, and the least and greatest of each value.

    `tasks` is how many Spark tasks read it. `extremes` has a column for each compared value and two rows, or none if no
    row can match.
    """

    rows: int
    fitting: int
    tasks: int
    sample: pa.Table
    extremes: pa.Table


@dataclass(frozen=True)
class Sampled:
    """One side: about how many of its rows can match at all, and a sample of these."""

    fitting: int
    sample: pa.Table


def read_statistics(sides: Sides) -> tuple[Statistics, Statistics]:
    """Read both sides, each row once, only the columns that the condition needs."""
    ours, theirs = _read_both(_summary(sides.left), _summary(sides.right))
    return _read(ours, sides.left), _read(theirs, sides.right)


def read_samples(sides: Sides) -> tuple[Sampled, Sampled]:
    """Read both sides for samples alone, a third of the work: most rows are passed over at once."""
    ours, theirs = _read_both(_sample(sides.left), _sample(sides.right))
    return _sampled(ours["sample"]), _sampled(theirs["sample"])


def _read_both(left: DataFrame, right: DataFrame) -> tuple[dict[str, pa.Array], dict[str, pa.Array]]:
    """The one row of either frame, column by column; both are read at once."""
    return at_once(left.sparkSession, partial(_row, left), partial(_row, right))


def _row(frame: DataFrame) -> dict[str, pa.Array]:
    found = frame.toArrow()
    return {name: found.column(name).combine_chunks() for name in found.column_names}


def _summary(side: SparkSide) -> DataFrame:
    """One row about a side, gathered by Spark alone; said in text, since every call to Spark's functions takes time."""
    keys, values = side.named("k"), side.named("v")
    ends = [f"{f}(CASE WHEN usable THEN {v} END) AS `{end} {v}`" for v in values for end, f in _ENDS.items()]
    return (
        side.frame.selectExpr(*keys, *values, f"{_usable(side)} AS usable", *_DRAWN)
        .selectExpr("*", f"{_CHANCE} AS chance")
        .selectExpr(
            "count(1) AS rows",
            "count_if(usable) AS fitting",
            f"coalesce(max(number >> {ROW_BITS}) + 1, 0) AS tasks",
            f"collect_list(CASE WHEN usable AND draw < chance THEN {_taken(side)} END) AS sample",
            *ends,
        )
    )


def _sample(side: SparkSide) -> DataFrame:
    """A sample of a side's rows that can match, in one row."""
    return (
        side.frame.where(_usable(side))
        .selectExpr(*side.named("k"), *side.named("v"), *_DRAWN)
        .selectExpr("*", f"{_CHANCE} AS chance")
        .where("draw < chance")
        .selectExpr(f"collect_list({_taken(side)}) AS sample")
    )


def _usable(side: SparkSide) -> str:
    """Whether a row can match at all; a NULL key is told later."""
    return (
        " AND ".join([*(["fits"] if side.filtered else []), *(f"{name} IS NOT NULL" for name in side.named("v"))])
        or "true"
    )


def _taken(side: SparkSide) -> str:
    return f"struct({', '.join([*side.named('k'), *side.named('v'), 'chance'])})"


def _read(row: dict[str, pa.Array], side: SparkSide) -> Statistics:
    """The summary of a side, its sample made uniform."""
    sample = pa.Table.from_struct_array(row["sample"].flatten())
    values = side.named("v")
    fitting = row["fitting"][0].as_py()
    ends = {name: pa.concat_arrays([row[f"least {name}"], row[f"most {name}"]]) for name in values}
    extremes = pa.table(ends) if fitting else pa.table({name: array.slice(0, 0) for name, array in ends.items()})
    return Statistics(row["rows"][0].as_py(), fitting, row["tasks"][0].as_py(), _uniform(sample), extremes)


def _sampled(rows: pa.Array) -> Sampled:
    """A sample made uniform; each of its rows stood for as many as it was unlikely to be taken."""
    sample = pa.Table.from_struct_array(rows.flatten())
    return Sampled(round(float((1 / sample.column("chance").to_numpy()).sum())), _uniform(sample))


def _uniform(sample: pa.Table) -> pa.Table:
    """Thin a sample until every row was equally likely to be in it."""
    chance = sample.column("chance").to_numpy()
    kept: Any = np.random.default_rng(0).random(chance.size) * chance <= chance.min(initial=1.0)
    return sample.filter(pa.array(kept)).drop_columns("chance")
