"""Two small sides with many pairs: the driver finds slices, and Spark unfolds them by counting.

Meaning      an inner join whose pairs are slices: every pair of a row of one side with a stretch of the other, sorted.
Needs        both sides in the driver, a few megabytes each; a condition without residuals that slices tell whole.
How          slice of row 7: positions 3..12         tile 0: row 7, from 3     result 0..3  -> tile 0, positions 3..6
             cut into tiles of 4 and of 1            tile 1: row 7, from 7     result 4..7  -> tile 1, positions 7..10
             Arrays that all tasks have tell what each tile shows of its row, its step (positions less numbers of
             results: 3 for tiles 0 and 1), and what the stored side shows at each position. A task counts through its
             share of the results, and generated code looks up the tile of each and the values of its rows. Every
             look-up counts: a narrow value of the row lies in one word with the step.
Edges        without any pair, as with an empty side, the plan is another.
State        in every task the stored side and, for each tile, its row and a number.
Worst case   slices of a few rows: then tiles are as many as results, and a broadcast (`branch.py`) is chosen instead,
             as it is where tiles are too many to be sent along.
Source       our own. A result that comes from Python passes five iterators of Spark, one that Spark counts passes one;
             benchmarks/theta_races.py has both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import IntegralType, LongType

from dovetail._core.columns.table import one_chunk
from dovetail._core.condition.parse import quoted
from dovetail._core.emit.cell import Cell
from dovetail._core.plan.choose import choose_shape
from dovetail._core.plan.shape import Kind, kind_of
from dovetail._core.sweep.tiles import cut_tiles, slice_joins
from dovetail._hosts.ring.projection import side_columns, whole
from dovetail._hosts.spark.arrays import array, in_one_row, select
from dovetail._hosts.spark.frames import cores_of
from dovetail._hosts.spark.rewrite import rewritten
from dovetail._hosts.spark.types import arrow_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

    from dovetail._core.condition.values import Side
    from dovetail._core.plan.query import Query
    from dovetail._core.sweep.build import Join
    from dovetail._core.sweep.tiles import Tiles
    from dovetail._hosts.spark.arrays import Arrays
    from dovetail._hosts.spark.known import Known
    from dovetail._hosts.spark.sides import Sides, SparkSide

LONG_SLICE = 32
"""Slices of so many rows, on average, have few tiles beside their results."""
MOST_BYTES = 32 << 20
"""Every task is sent all tiles."""
TASK_RESULTS = 1_000_000
"""A task is worth its start for so many results."""
HALF = 32
"""Bits of half a word."""
LOWER = (1 << HALF) - 1
"""The bits of the lower half."""
_LETTER: dict[Side, str] = {"left": "a", "right": "o"}


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
        both = known.bring_both() if may_unfold(query, known.sides) else None
        if both is None:
            return None
        sides = known.sides
        left, right = (whole(t, own.same) for t, own in zip(both, (sides.left, sides.right), strict=True))
        cell = Cell.of(sides.condition, side_columns(left), side_columns(right))
        join = cell.join(None)
        slices = slice_joins(join.pairs) or ()
        probes = sum(own.found.low.size for own in slices)
        if not slices or join.pairs.count() < max(1, LONG_SLICE * probes):
            return None
        tiles = tuple((own.stored, tiles) for own in slices for tiles in cut_tiles(own))
        bytes_of = {"left": _row_bytes(right), "right": _row_bytes(left)}
        few = sum(own.probes.size * bytes_of[stored] for stored, own in tiles) <= MOST_BYTES
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
        parts = [_Part.of(self, stored) for stored in dict.fromkeys(stored for stored, _ in self.tiles)]
        columns = {name: own for part in parts for name, own in part.arrays().items()}
        arrays = in_one_row(self.sides.left.frame.sparkSession, columns)
        rows = arrays.sparkSession.sql(" UNION ALL ".join(part.counted() for part in parts), arrays=arrays)
        places = self._places()
        return rows.selectExpr(
            *(f"{rewritten(own.shows.node, places)} AS {quoted(own.name)}" for own in self.query.output)
        )

    def columns(self, side: Side) -> Arrays:
        """The columns of a side that the result shows, in the order of the positions."""
        own: SparkSide = getattr(self.sides, side)
        table = self.tables[0 if side == "left" else 1]
        rows = pa.array(getattr(self.cell, side).at(getattr(self.join, f"{side}_order")))
        return {
            f"{_LETTER[side]}{i}": (one_chunk(table.column(f"p{i}")).take(rows), own.schema[f"p{i}"].dataType)
            for i in range(len(own.payload))
        }

    def _places(self) -> dict[tuple[str, str], str]:
        """Where each input's columns stand."""
        both = ((_LETTER["left"], self.sides.left), (_LETTER["right"], self.sides.right))
        return {(own.name, name): f"{letter}{i}" for letter, own in both for i, name in enumerate(own.payload)}


@dataclass(frozen=True)
class _Part:
    """The tiles under which one side is stored: arrays for all of them, and the query that counts their results."""

    tiles: list[Tiles]
    stored: Arrays
    probing: Arrays
    steps: str
    """The array that has, for each tile, the positions of its results less their numbers."""
    packed: str | None
    """The column of the probing side whose values lie in the same words, below the steps."""
    tasks: int

    @classmethod
    def of(cls, own: Unfolding, stored: Side) -> _Part:
        """The part in which this side is stored; largest tiles first, as most results are found by one comparison."""
        tiles = sorted((tiles for side, tiles in own.tiles if side == stored), key=lambda tiles: -tiles.shift)
        probing = own.columns("right" if stored == "left" else "left")
        narrow = (name for name, column in probing.items() if own.results <= LOWER >> 1 and _is_narrow(*column))
        tasks = 2 * cores_of(own.sides.left.frame)
        return cls(tiles, own.columns(stored), probing, f"steps_{stored}", next(narrow, None), tasks)

    def arrays(self) -> Arrays:
        """What the stored side shows at each position; what each tile shows of its row, and its step."""
        probes = pa.array(np.concatenate([own.probes for own in self.tiles]))
        firsts = np.concatenate([own.firsts for own in self.tiles])
        sizes = np.repeat([1 << own.shift for own in self.tiles], [own.probes.size for own in self.tiles])
        steps = firsts - (np.cumsum(sizes) - sizes)
        beside = {_beside(name): (values.take(probes), kind) for name, (values, kind) in self.probing.items()}
        if self.packed is not None:
            values, _ = beside.pop(_beside(self.packed))
            steps = steps << HALF | values.cast(pa.int64()).to_numpy()
        return {**self.stored, **beside, self.steps: (pa.array(steps), LongType())}

    def counted(self) -> str:
        """The query that counts all results and looks up what they show."""
        tasks = min(self.tasks, -(-self._results // TASK_RESULTS))
        counted = select(f"id, {self._tile()} AS tile", f"range(0, {self._results}, 1, {tasks})")
        placed = select(f"id, tile, {array(self.steps)}[tile] AS step", f"({counted})")
        return select(", ".join(self._looked_up()) or "id", f"({placed})")

    @property
    def _results(self) -> int:
        return sum(own.pairs for own in self.tiles)

    def _looked_up(self) -> Iterator[str]:
        """Every column of a result, in the same order for either stored side."""
        step = "step" if self.packed is None else f"shiftright(step, {HALF})"
        found = {name: f"{array(name)}[id + {step}]" for name in self.stored}
        found |= {name: f"{array(_beside(name))}[tile]" for name in self.probing}
        if self.packed is not None:
            found[self.packed] = f"CAST(step & {LOWER} AS {self.probing[self.packed][1].simpleString()})"
        return (f"{found[name]} AS {name}" for name in sorted(found))

    def _tile(self) -> str:
        """The tile of the result that is numbered `id`: those of one size after those of another."""
        results, tiles, found = self._results, sum(own.probes.size for own in self.tiles), ""
        for own in reversed(self.tiles):
            end, results, tiles = results, results - own.pairs, tiles - own.probes.size
            before = results - (tiles << own.shift)
            tile = f"shiftright({f'id - {before}' if before else 'id'}, {own.shift})"
            found = f"IF(id < {end}, {tile}, {found})" if found else tile
        return found


def _beside(name: str) -> str:
    """The array that has a column's values by tiles."""
    return f"{name}_by_tile"


def _is_narrow(values: pa.Array, kind: DataType) -> bool:
    """Whether these are whole numbers, all there, that half a word can hold."""
    if not isinstance(kind, IntegralType) or values.null_count:
        return False
    least, most = pc.min_max(values).values()
    return bool(least.is_valid and 0 <= least.as_py() <= most.as_py() <= LOWER)


def may_unfold(query: Query, sides: Sides) -> bool:
    """Whether a call asks for pairs that slices may tell, leaves the choice to us, and reads what arrays can hold."""
    shape = choose_shape(sides.condition)
    sliced = shape.threshold is None or kind_of(sides.condition, shape) is Kind.OVERLAP
    left_over = shape.rest or sides.condition.residuals or not shape.slice
    kinds = [own.schema[f"p{i}"].dataType for own in (sides.left, sides.right) for i in range(len(own.payload))]
    known = all(arrow_type(kind) not in (None, pa.null()) for kind in kinds)
    return query.free_pairs and sliced and not left_over and known


def _row_bytes(table: pa.Table) -> int:
    """What a tile takes: a number, and what is shown of its row."""
    shown = sum(table.column(name).nbytes for name in table.column_names if name[0] == "p")
    return 8 + int(shown / max(1, table.num_rows))
