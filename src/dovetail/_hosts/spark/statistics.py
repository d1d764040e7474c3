"""What is known of both sides after reading each once: how many rows, extremes of the compared values, and a sample."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dovetail._hosts.spark.at_once import at_once
from dovetail._hosts.spark.handed import collected
from dovetail._hosts.spark.lengths import is_point, length_text, lengths, longest
from dovetail._hosts.spark.wire import plain

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from dovetail._hosts.spark.lengths import Longest
    from dovetail._hosts.spark.sides import Sides, SparkSide

ROWS_PER_TASK = 1024
TASKS = 4
SKIPPED = 16
"""Far down a task, one row in so many is drawn for a sample."""
ROW_BITS = 33
"""Spark numbers the rows of a task in the low bits of `monotonically_increasing_id`."""


_ENDS = {"least": "min", "most": "max"}
# How likely a row is taken: less and less along a task and from task to task. So a task gives some thousand rows,
# however long it is, and all tasks together not many more, without anything being known of their number or length. What
# was taken too often is thinned afterwards.
_ROW, _TASK = f"(number & {(1 << ROW_BITS) - 1})", f"(number >> {ROW_BITS})"
_NUMBER = "monotonically_increasing_id()"
_ALL_DRAWN = ROWS_PER_TASK * SKIPPED
_DRAWN = f"{_NUMBER} AS number", "rand(1) AS draw"
_CHANCE = f"least(1D, {ROWS_PER_TASK} / ({_ROW} + 1)) * least(1D, {TASKS} / ({_TASK} + 1))"


@dataclass(frozen=True)
class Pieces:
    """How many rows a side has, and how many Spark tasks read them."""

    rows: int
    tasks: int


@dataclass(frozen=True)
class Statistics(Pieces):
    """One side: its rows, those that can match at all, a sample of these, and the least and greatest of each value.

    `extremes` has a column for each compared value and two rows, or none if no row can match; `longest` are the
    greatest lengths of the rows that can.
    """

    fitting: int
    sample: pa.Table
    extremes: pa.Table
    longest: Longest


@dataclass(frozen=True)
class Sampled:
    """One side: about how many of its rows can match at all, and a sample of these."""

    fitting: int
    sample: pa.Table


def read_statistics(sides: Sides) -> tuple[Statistics, Statistics]:
    """Read both sides, each row once, only the columns that the condition needs."""
    return at_once(sides.left.frame.sparkSession, partial(read_side, sides.left), partial(read_side, sides.right))


def read_side(side: SparkSide) -> Statistics:
    """Read one side, likewise."""
    return _read(_row(_summary(side)), side)


def count_pieces(side: SparkSide) -> Pieces:
    """Count rows and tasks; Spark reads no column for it."""
    numbered = side.frame.selectExpr(f"{_NUMBER} >> {ROW_BITS} AS task")
    row = numbered.selectExpr("count(1)", "coalesce(max(task) + 1, 0)").head()
    return Pieces(*row) if row is not None else Pieces(0, 0)


def read_samples(sides: Sides, letters: str = "kv") -> tuple[Sampled, Sampled]:
    """Read both sides for samples alone, a third of the work: most rows are passed over at once.

    `letters` are the groups of columns that are wanted: with keys alone, there is half as much to read.
    """
    ours, theirs = (partial(_sampled, own, letters) for own in (sides.left, sides.right))
    return at_once(sides.left.frame.sparkSession, ours, theirs)


def _row(frame: DataFrame) -> dict[str, pa.Array]:
    """The one row of a frame, column by column."""
    found = collected(frame)
    return {name: found.column(name).combine_chunks() for name in found.column_names}


def _summary(side: SparkSide) -> DataFrame:
    """One row about a side, gathered by Spark alone; said in text, since every call to Spark's functions takes time."""
    keys, values = side.named("k"), side.named("v")
    ends = [f"{f}(CASE WHEN usable THEN {v} END) AS `{end} {v}`" for v in values for end, f in _ENDS.items()]
    measured = {_length(*own): length_text(side, *own) for own in lengths(side) if not is_point(side, *own)}
    told = [f"{text} AS `{name}`" for name, text in measured.items()]
    ends += [f"{f}(CASE WHEN usable THEN `{v}` END) AS `{end} {v}`" for v in measured for end, f in _ENDS.items()]
    return (
        side.frame.selectExpr(*keys, *values, f"{_usable(side, values)} AS usable", *told, *_DRAWN)
        .selectExpr("*", f"{_CHANCE} AS chance")
        .selectExpr(
            "count(1) AS rows",
            "count_if(usable) AS fitting",
            f"coalesce(max(number >> {ROW_BITS}) + 1, 0) AS tasks",
            f"collect_list(CASE WHEN usable AND draw < chance THEN {_taken([*keys, *values])} END) AS sample",
            *ends,
        )
    )


def _sample(side: SparkSide, letters: str) -> DataFrame:
    """A sample of a side's rows that can match, in one row.

    Far down a task only some rows are drawn at all, which is said by whole numbers, and these the more likely. Which
    ones changes along the way: rows may come in an order that repeats itself.
    """
    names = [name for letter in letters for name in side.named(letter)]
    drawn = f"{_ROW} < {_ALL_DRAWN} OR (({_ROW} + ({_ROW} >> 12)) & {SKIPPED - 1}) = 0"
    return (
        side.frame.where(_usable(side, [name for name in names if name[0] == "v"]))
        .selectExpr(*names, f"{_NUMBER} AS number")
        .where(drawn)
        .selectExpr("*", f"{_CHANCE} AS chance")
        .where(f"rand(1) < chance * IF({_ROW} < {_ALL_DRAWN}, 1, {SKIPPED})")
        .selectExpr(f"collect_list({_taken(names)}) AS sample")
    )


def _usable(side: SparkSide, values: list[str]) -> str:
    """Whether a row can match at all, as far as these values tell; a NULL key is told later."""
    return " AND ".join([*(["fits"] if side.filtered else []), *(f"{name} IS NOT NULL" for name in values)]) or "true"


def _taken(names: list[str]) -> str:
    return f"struct({', '.join([*names, 'chance'])})"


def _read(row: dict[str, pa.Array], side: SparkSide) -> Statistics:
    """The summary of a side, its sample made uniform."""
    sample = plain(pa.Table.from_struct_array(row["sample"].flatten()))
    values = side.named("v")
    fitting = row["fitting"][0].as_py()
    ends = {name: pa.concat_arrays([row[f"least {name}"], row[f"most {name}"]]) for name in values}
    extremes = pa.table(ends) if fitting else pa.table({name: array.slice(0, 0) for name, array in ends.items()})
    found = {own: _ends_of_length(row, *own) for own in lengths(side)} if fitting else {}
    counts = row["rows"][0].as_py(), row["tasks"][0].as_py(), fitting
    return Statistics(*counts, _uniform(sample), extremes, longest(found))


def _ends_of_length(row: dict[str, pa.Array], start: int, end: int) -> tuple[float, float] | None:
    """The least and greatest length between two values; None if they are one."""
    names = [f"{own} {_length(start, end)}" for own in _ENDS]
    return (row[names[0]][0].as_py(), row[names[1]][0].as_py()) if names[0] in row else None


def _length(start: int, end: int) -> str:
    """The column that measures from one value to another."""
    return f"length {start} {end}"


def _sampled(side: SparkSide, letters: str) -> Sampled:
    """A sample made uniform; each of its rows stood for as many as it was unlikely to be taken."""
    sample = plain(pa.Table.from_struct_array(_row(_sample(side, letters))["sample"].flatten()))
    return Sampled(round(float((1 / sample.column("chance").to_numpy()).sum())), _uniform(sample))


def _uniform(sample: pa.Table) -> pa.Table:
    """Thin a sample until every row was equally likely to be in it."""
    chance = sample.column("chance").to_numpy()
    kept: Any = np.random.default_rng(0).random(chance.size) * chance <= chance.min(initial=1.0)
    return sample.filter(pa.array(kept)).drop_columns("chance")
