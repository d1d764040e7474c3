"""Two small sides with many pairs: the driver finds slices, and Spark unfolds them by counting.

Meaning      an inner join whose pairs are slices: every pair of a row of one side with a stretch of the other, sorted.
Needs        both sides in the driver, a few megabytes each; a condition without residuals that slices tell whole.
How          slice of row 7: positions 3..12         tile 0: row 7, from 3     result 0..3  -> tile 0, positions 3..6
             cut into tiles of 4 and of 1            tile 1: row 7, from 7     result 4..7  -> tile 1, positions 7..10
             The sides and the tiles are arrays that all tasks have. A task counts through its share of the results,
             and generated code looks up, for each, its tile, its rows and what they show.
Edges        without any pair, as with an empty side, the plan is another.
State        in every task both sides, and two numbers for each tile.
Worst case   slices of a few rows: then tiles are as many as results, and a broadcast (`join.py`) is chosen instead, as
             it is where tiles are too many to be sent along.
Source       our own. A result that comes from Python passes five iterators of Spark, one that Spark counts passes one;
             benchmarks/theta_races.py has both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, IntegerType, StructField, StructType

from dovetail._core.columns.table import one_chunk
from dovetail._core.emit.cell import Cell
from dovetail._core.plan.choose import choose_shape
from dovetail._core.plan.shape import Kind, kind_of
from dovetail._core.sweep.tiles import cut_tiles, slice_joins
from dovetail._hosts.spark.frames import cores_of
from dovetail._hosts.spark.rewrite import rewritten
from dovetail._hosts.spark.task import side_columns
from dovetail._hosts.spark.types import arrow_type
from dovetail._hosts.spark.wire import whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from pyspark.sql import DataFrame

    from dovetail._core.condition.values import Side
    from dovetail._core.plan.query import Query
    from dovetail._core.sweep.build import Join
    from dovetail._core.sweep.tiles import Tiles
    from dovetail._hosts.spark.known import Known
    from dovetail._hosts.spark.sides import Sides, SparkSide

LONG_SLICE = 32
"""Slices of so many rows, on average, have few tiles beside their results."""
MOST_TILES = 1 << 20
"""Every task is sent all of them, once for each of their sizes."""
TASK_RESULTS = 1_000_000
"""A task is worth its start for so many results."""


@dataclass(frozen=True)
class Unfolding:
    """Both sides in the driver, and the slices that tell their pairs."""

    query: Query
    sides: Sides
    tables: tuple[pa.Table, pa.Table]
    cell: Cell
    join: Join
    tiles: tuple[tuple[Side, Tiles], ...]
    """With the side that is stored of each."""

    @classmethod
    def of(cls, query: Query, known: Known) -> Unfolding | None:
        """The join by slices; None if it is of another kind, a side is too large, or there are too few pairs."""
        if not may_unfold(query, known.sides) or known.both is None:
            return None
        sides = known.sides
        left, right = (whole(t, own.same) for t, own in zip(known.both, (sides.left, sides.right), strict=True))
        cell = Cell.of(sides.condition, side_columns(left), side_columns(right))
        join = cell.join(None)
        slices = slice_joins(join.pairs) or ()
        probes = sum(own.found.low.size for own in slices)
        if not slices or join.pairs.count() < max(1, LONG_SLICE * probes):
            return None
        tiles = tuple((own.stored, tiles) for own in slices for tiles in cut_tiles(own))
        few = sum(own.probes.size for _, own in tiles) <= MOST_TILES
        return cls(query, sides, (left, right), cell, join, tiles) if few else None

    @property
    def results(self) -> int:
        """How many there are, exactly."""
        return self.join.pairs.count()

    @property
    def reason(self) -> str:
        """Why the plan is this one."""
        rows = " and ".join(f"{table.num_rows:,}" for table in self.tables)
        return (
            f"both sides are small, {rows} rows that can match, and have many pairs, {self.results:,}: the driver "
            "finds their slices, and Spark unfolds them by counting"
        )

    def result(self) -> DataFrame:
        """The rows that the caller sees."""
        columns = {**self._side("a", "left"), **self._side("o", "right")}
        for name in ("probes", "firsts"):
            columns[name] = pa.array(np.concatenate([getattr(own, name) for _, own in self.tiles])), IntegerType()
        arrays = _in_one_row(self.sides.left.frame.sparkSession, columns)
        found = ", ".join(f"{_at(name, name[0])} AS {name}" for name in columns if name[0] in "ao") or "a"
        text = f"SELECT {found} FROM ({' UNION ALL '.join(self._counted())})"  # noqa: S608 -- our own names
        rows = arrays.sparkSession.sql(text, arrays=arrays)
        return rows.select(
            *(F.expr(rewritten(own.shows.node, self._places())).alias(own.name) for own in self.query.output)
        )

    def _side(self, letter: str, side: str) -> dict[str, tuple[pa.Array, Any]]:
        """The columns of a side that the result shows, in the order of the positions."""
        own: SparkSide = getattr(self.sides, side)
        table = self.tables[0 if side == "left" else 1]
        rows = pa.array(getattr(self.cell, side).at(getattr(self.join, f"{side}_order")))
        return {
            f"{letter}{i}": (one_chunk(table.column(f"p{i}")).take(rows), own.schema[f"p{i}"].dataType)
            for i in range(len(own.payload))
        }

    def _places(self) -> dict[tuple[str, str], str]:
        """Where each input's columns stand."""
        both = (("a", self.sides.left), ("o", self.sides.right))
        return {(own.name, name): f"{letter}{i}" for letter, own in both for i, name in enumerate(own.payload)}

    def _counted(self) -> Iterator[str]:
        """A query for each size of tiles, which counts its results: the positions of their rows, `a` and `o`."""
        most = 2 * cores_of(self.sides.left.frame)
        before = 0
        for stored, own in self.tiles:
            names = ("a", "o") if stored == "right" else ("o", "a")
            yield _numbered(own, before, most, *names)
            before += own.probes.size


def may_unfold(query: Query, sides: Sides) -> bool:
    """Whether a call asks for pairs that slices may tell, leaves the choice to us, and reads what arrays can hold."""
    shape = choose_shape(sides.condition)
    sliced = shape.threshold is None or kind_of(sides.condition, shape) is Kind.OVERLAP
    left_over = shape.rest or sides.condition.residuals or not shape.slice
    kinds = [own.schema[f"p{i}"].dataType for own in (sides.left, sides.right) for i in range(len(own.payload))]
    known = all(arrow_type(kind) not in (None, pa.null()) for kind in kinds)
    return query.free_pairs and sliced and not left_over and known


def _numbered(tiles: Tiles, before: int, most: int, probe: str, stored: str) -> str:
    """The probe and the stored position of every result in some tiles, before which so many others come."""
    first, tasks = before << tiles.shift, min(most, -(-tiles.pairs // TASK_RESULTS))
    tile, nth = f"CAST(shiftright(id, {tiles.shift}) AS INT)", f"CAST(id & {(1 << tiles.shift) - 1} AS INT)"
    found = {probe: _at("probes", tile), stored: f"{_at('firsts', tile)} + {nth}"}
    columns = ", ".join(f"{found[name]} AS {name}" for name in "ao")
    return f"SELECT {columns} FROM range({first}, {first + tiles.pairs}, 1, {tasks})"  # noqa: S608 -- our own numbers


def _at(array: str, place: str) -> str:
    """A value of an array that all tasks have."""
    return f"get((SELECT {array} FROM {{arrays}}), {place})"  # noqa: S608 -- our own names


def _in_one_row(session: Any, columns: dict[str, tuple[pa.Array, Any]]) -> DataFrame:
    """A frame of one row, in which every column is one array."""
    schema = StructType([
        StructField(name, ArrayType(kind, bool(values.null_count)), nullable=False)
        for name, (values, kind) in columns.items()
    ])  # fmt: skip
    lists = [pa.ListArray.from_arrays(pa.array([0, len(own)], pa.int32()), own) for own, _ in columns.values()]
    frame: DataFrame = session.createDataFrame(pa.table(lists, list(columns)), schema)
    return frame
