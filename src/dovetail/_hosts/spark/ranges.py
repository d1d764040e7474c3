"""Cells of a temporal join on Spark: by hash of the keys, and by ranges of time where there is no key or a hot one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from dovetail._core.columns.axis import moved
from dovetail._core.columns.cast import cast
from dovetail._core.columns.order_keys import order_keys
from dovetail._core.columns.types import canonicalise
from dovetail._core.placement.ranges import cut_ranges
from dovetail._core.plan.decide import CELL_ROWS, MOST_CELLS
from dovetail._core.sweep.prepare import prepare
from dovetail._hosts.ring.projection import side_columns
from dovetail._hosts.spark.frames import cores_of
from dovetail._hosts.spark.handed import collected
from dovetail._hosts.spark.overlay import moved_over
from dovetail._hosts.spark.sampled import both_alike
from dovetail._hosts.spark.small import planned
from dovetail._hosts.spark.statistics import read_samples
from dovetail._hosts.spark.types import can_hash, literal_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from dovetail._hosts.spark.overlay import Overlay
    from dovetail._hosts.spark.sides import Sides, SparkSide
    from dovetail._hosts.spark.statistics import Sampled

FEW_ROWS = 50_000
"""So many rows are joined in one cell before a second one has started."""
FEW_BYTES = 4 << 20
"""What Spark takes to be no more than this is joined in one cell, without a job to learn of it."""
MOST_COPIES = 4
"""Windows that are long beside a cell are given fewer cells, so that a row is in no more of them than this."""
HOT_SHARE = 0.5
"""A key with more than this share of a cell's rows is cut by time."""
_NONE = np.empty(0, np.int64)


@dataclass(frozen=True)
class Margins:
    """What a cell needs beyond its own range, in ticks before its first and after its last time; None: everything.

    To a *mark*, it also needs what lies up to the next time of a row that is known to exist on the right. Behind that
    mark no row can be the nearest one to any row of the cell, so that nothing has to be carried from cell to cell: each
    gets a few rows of its neighbours, one in as many as there are marks.
    """

    axis: pa.DataType
    back: Any
    forward: Any
    back_to_mark: bool = False
    forward_to_mark: bool = False

    def lower(self, cut: pa.Scalar, marks: pa.Array) -> pa.Scalar | None:
        """The least time that a cell needs; None: all of them."""
        end = None if self.back is None else moved(cut, self.axis, -self.back)
        return end if end is None or not self.back_to_mark else _nearest(marks, end, below=True)

    def upper(self, cut: pa.Scalar, marks: pa.Array) -> pa.Scalar | None:
        """The greatest time that a cell needs; None: all of them."""
        end = None if self.forward is None else moved(cut, self.axis, self.forward)
        return end if end is None or not self.forward_to_mark else _nearest(marks, end, below=False)


def _nearest(marks: pa.Array, end: pa.Scalar, *, below: bool) -> pa.Scalar | None:
    """The last mark below a time, or the first at or above it."""
    order = _compared(marks, end)
    numbers = np.flatnonzero(order < 0 if below else order >= 0)
    if numbers.size == 0:
        return None
    times = order_keys([marks])[0][numbers]
    return marks[int(numbers[times.argmax() if below else times.argmin()])]


def _compared(marks: pa.Array, end: pa.Scalar) -> NDArray[np.int64]:
    """-1, 0 or 1 as each mark lies below, at or above a time."""
    times, at = order_keys([marks, pa.array([end], marks.type)])
    order: NDArray[np.int64] = (times > at[0]).astype(np.int64) - (times < at[0])
    return order


def on_axis(sample: pa.Table, axis: pa.DataType) -> pa.Array:
    """The times of a sample."""
    return cast(canonicalise(sample.column("v0")), axis)


@dataclass(frozen=True)
class Stretch:
    """Consecutive cells by time, numbered from `first`: their cuts, and what is needed on either side of each."""

    first: int
    cuts: tuple[pa.Scalar, ...]
    lower: tuple[pa.Scalar | None, ...]
    upper: tuple[pa.Scalar | None, ...]

    @classmethod
    def of(
        cls, first: int, cuts: Sequence[tuple[int, int]], samples: tuple[pa.Table, pa.Table], margins: Margins
    ) -> Stretch:
        """Turn sampled rows into times; those of the right sample are marks."""
        sampled = [on_axis(sample, margins.axis) for sample in samples]
        times = tuple(sampled[side][row] for side, row in cuts)
        lower, upper = ([end(time, sampled[1]) for time in times] for end in (margins.lower, margins.upper))
        return cls(first, times, tuple(lower), tuple(upper))

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return len(self.cuts) + 1

    def copies(self, marks: pa.Array) -> float:
        """How many cells need a right row, on average of those sampled."""
        if not len(marks):
            return 1.0
        reached = np.ones(len(marks))
        for lower, upper in zip(self.lower, self.upper, strict=True):
            reached += 1 if lower is None else _compared(marks, lower) >= 0
            reached -= 0 if upper is None else _compared(marks, upper) > 0
        return float(np.maximum(reached, 0).mean())

    def home(self) -> str:
        """The cell that owns a row."""
        return _steps(self.first, [f"v0 >= {literal_text(cut)}" for cut in self.cuts])

    def reached(self) -> str:
        """All cells that need a row."""
        last = _steps(self.first, ["true" if end is None else f"v0 >= {literal_text(end)}" for end in self.lower])
        first = _steps(self.first, ["false" if end is None else f"v0 > {literal_text(end)}" for end in self.upper])
        return f"CASE WHEN {first} <= {last} THEN sequence({first}, {last}) ELSE CAST(array() AS ARRAY<INT>) END"


def _steps(first: int, tests: Sequence[str]) -> str:
    """How many of some tests hold, counted from `first` and found by halves: once one does not, none after it does."""

    def walk(low: int, high: int) -> str:
        if low == high:
            return str(first + low)
        middle = (low + high) // 2
        return f"CASE WHEN {tests[middle]} THEN {walk(middle + 1, high)} ELSE {walk(low, middle)} END"

    return walk(0, len(tests))


@dataclass(frozen=True)
class Hot:
    """A key that is cut by time: its values, and its cells."""

    key: tuple[pa.Scalar, ...]
    stretch: Stretch


@dataclass(frozen=True)
class TimeCells:
    """All cells: without keys one stretch, else those by hash, then those of hot keys."""

    hashed: int
    hot: tuple[Hot, ...]
    everything: Stretch | None

    @property
    def number(self) -> int:
        """How many cells there are."""
        if self.everything is not None:
            return self.everything.cells
        return self.hashed + sum(own.stretch.cells for own in self.hot)

    @property
    def apart(self) -> bool:
        """Whether no cell needs a row of another."""
        return self.number == 1 or (self.everything is None and not self.hot)

    def home(self, own: SparkSide, usable: str) -> str:
        """The cell that owns a row; one that is not usable goes anywhere."""
        cell = self._hash(own) if self.everything is None else self.everything.home()
        for hot in self.hot:
            cell = f"CASE WHEN {_is_key(own, hot.key)} THEN {hot.stretch.home()} ELSE {cell} END"
        return f"CASE WHEN {usable} THEN {cell} ELSE {_anywhere(own, self.number)} END"

    def reached(self, own: SparkSide, usable: str) -> str:
        """All cells that need a row."""
        cells = f"array({self._hash(own)})" if self.everything is None else self.everything.reached()
        for hot in self.hot:
            cells = f"CASE WHEN {_is_key(own, hot.key)} THEN {hot.stretch.reached()} ELSE {cells} END"
        return f"CASE WHEN {usable} THEN {cells} ELSE array({_anywhere(own, self.number)}) END"

    def _hash(self, own: SparkSide) -> str:
        return f"CAST(pmod(xxhash64({', '.join(own.named('k'))}), {self.hashed}) AS INT)"


def plan_cells(sides: Sides, margins: Margins, asked: int | None) -> TimeCells:
    """Choose the cells by samples of both sides, read now; the answer does not depend on them."""
    if asked == 1 or (asked is None and sum(own.size for own in planned(sides)) <= FEW_BYTES):
        return TimeCells(1, (), Stretch(0, (), (), ()))
    keyed, cores = bool(sides.condition.keys), cores_of(sides.left.frame)
    found = read_samples(sides, "k" if keyed else "kv")
    rows = sum(own.fitting for own in found)
    number = asked or (1 if rows <= FEW_ROWS else min(MOST_CELLS, max(2 * cores, ceil(rows / CELL_ROWS))))
    if not keyed:
        return TimeCells(1, (), _cut(0, Drawn.of(sides, found), margins, number, asked))
    if not Drawn.of(sides, found).hot(number):
        return TimeCells(number, (), None)
    return TimeCells(number, tuple(_hot(Drawn.of(sides, read_samples(sides)), margins, number, asked)), None)


@dataclass(frozen=True)
class Drawn:
    """Samples of both sides: the rows, their keys as codes, their times, and how many rows each of them stands for."""

    samples: tuple[pa.Table, pa.Table]
    codes: tuple[NDArray[np.int64], NDArray[np.int64]]
    times: tuple[NDArray[np.int64], NDArray[np.int64]]
    weights: tuple[float, float]

    @classmethod
    def of(cls, sides: Sides, found: tuple[Sampled, Sampled]) -> Drawn:
        """Sort out what was drawn."""
        ours, theirs = both_alike(*(own.sample for own in found))
        null_safe = [key.null_safe for key in sides.condition.keys]
        left, right = prepare(side_columns(ours), side_columns(theirs), null_safe)
        weights = [own.fitting / max(1, own.sample.num_rows) for own in found]
        return cls(
            (ours.take(left.rows), theirs.take(right.rows)),
            (_NONE if left.codes is None else left.codes, _NONE if right.codes is None else right.codes),
            (left.values[0] if left.values else _NONE, right.values[0] if right.values else _NONE),
            (weights[0], weights[1]),
        )

    def hot(self, cells: int) -> dict[int, int]:
        """The keys with more than half a cell's share of the rows, and their cells in proportion: two or more."""
        codes, ranks = np.unique(np.concatenate(self.codes), return_inverse=True)
        weights = np.repeat(self.weights, [own.size for own in self.codes])
        load = np.bincount(ranks, weights, minlength=codes.size)
        share = load / max(1.0, float(load.sum()))
        found = {int(codes[i]): round(float(share[i]) * cells) for i in np.flatnonzero(share > HOT_SHARE / cells)}
        return {code: number for code, number in found.items() if number > 1}

    def of_key(self, code: int) -> Drawn:
        """The rows of one key."""
        ours, theirs = (np.flatnonzero(own == code) for own in self.codes)
        return Drawn(
            (self.samples[0].take(ours), self.samples[1].take(theirs)),
            (self.codes[0][ours], self.codes[1][theirs]),
            (self.times[0][ours], self.times[1][theirs]),
            self.weights,
        )


def _cut(first: int, drawn: Drawn, margins: Margins, cells: int, asked: int | None) -> Stretch:
    """A stretch of so many cells, unless they were not asked for and margins are so wide that rows would be copied."""
    stretch = Stretch.of(first, cut_ranges(*drawn.times, drawn.weights, cells), drawn.samples, margins)
    if asked or cells == 1 or stretch.copies(on_axis(drawn.samples[1], margins.axis)) <= MOST_COPIES:
        return stretch
    return _cut(first, drawn, margins, cells // 2, asked)


def _hot(drawn: Drawn, margins: Margins, cells: int, asked: int | None) -> list[Hot]:
    """The hot keys, each with cells of its own."""
    found: list[Hot] = []
    first = cells
    for code, number in drawn.hot(cells).items():
        own = drawn.of_key(code)
        one = next(sample for sample in own.samples if sample.num_rows)
        key = tuple(one.column(name)[0] for name in one.column_names if name[0] == "k")
        found.append(Hot(key, _cut(first, own, margins, number, asked)))
        first += found[-1].stretch.cells
    return found


def _is_key(own: SparkSide, key: tuple[pa.Scalar, ...]) -> str:
    parts = zip(own.named("k"), key, strict=True)
    return " AND ".join(f"{k} <=> {literal_text(v)}" if v.is_valid else f"{k} IS NULL" for k, v in parts)


def _anywhere(own: SparkSide, cells: int) -> str:
    """A cell for a row that cannot match, spread by what can be hashed."""
    names = [field.name for field in own.schema if can_hash(field.dataType)]
    return f"CAST(pmod(xxhash64({', '.join(names)}), {cells}) AS INT)" if names and cells > 1 else "0"


OWN = "own"
"""Whether a row is there for itself, or for the sake of its cell's rows."""


def placed(sides: Sides, cells: TimeCells, overlay: Overlay, *, witnesses: bool, keep_right: bool) -> DataFrame:
    """Both sides in one frame, moved to their cells.

    Where cells need rows of others, `own` tells the rows of a cell from those. `witnesses` asks for the left rows, too,
    that may have a partner among the right rows of other cells; `keep_right` for the right rows that cannot match. Said
    in text, since every call to Spark's functions takes time.
    """
    right, usable = sides.right, sides.can_match(sides.right)
    if not keep_right:
        right, usable = replace(right, frame=right.frame.where(usable)), "true"
    ours = _tagged(sides.left, sides.can_match(sides.left), cells, copied=witnesses)
    theirs = _tagged(right, usable, cells, copied=True)
    return moved_over(overlay, cells.number, ours, theirs, *([] if cells.apart else [OWN]))


def _tagged(own: SparkSide, usable: str, cells: TimeCells, *, copied: bool) -> DataFrame:
    """The rows of a side with the cells that need them, or only the one that owns them."""
    home = cells.home(own, usable)
    if not copied or cells.apart:
        return own.frame.selectExpr(f"{home} AS cell", f"true AS {OWN}", *own.travelling)
    spread = own.frame.selectExpr(f"explode({cells.reached(own, usable)}) AS cell", f"{home} AS home", *own.travelling)
    return spread.selectExpr("cell", f"cell = home AS {OWN}", *own.travelling)


def described(cells: TimeCells) -> tuple[str, str]:
    """How the rows are placed, and why."""
    if cells.number == 1:
        return "one cell", "so few rows, or so wide a window, that a second cell would only copy them"
    if cells.everything is not None:
        return "time ranges", "no key to place by: cuts follow the times of both sides"
    if not cells.hot:
        return "hash", "rows of one key meet in one cell, and no key is frequent enough to fill it"
    cut = sum(own.stretch.cells for own in cells.hot)
    return "hash and time ranges", f"{len(cells.hot)} hot keys are cut by time into {cut} cells, the others hashed"


def loads(sides: Sides, cells: TimeCells, witnesses: bool) -> dict[str, Any]:  # noqa: FBT001 -- as `placed` has it
    """Count the rows that each cell gets and gives, in a pass over both sides."""
    placing = replace(sides.left, same=()), replace(sides.right, same=())
    ours, theirs = (
        _tagged(own, sides.can_match(own), cells, copied=copied).selectExpr("cell", f"{given} AS given")
        for own, copied, given in zip(placing, (witnesses, True), (OWN, "false"), strict=True)
    )
    counts = F.count("*").alias("in"), F.count_if("given").alias("out")
    found = collected(ours.union(theirs).groupBy("cell").agg(*counts))
    taken, given = (found.column(name).to_numpy() for name in ("in", "out"))
    even = [max(1.0, float(own.sum()) / cells.number) for own in (taken, given)]
    return {
        "cells": cells.number,
        "rows_moved": int(taken.sum()),
        "load_in": float(taken.max(initial=0)) / even[0],
        "load_out": float(given.max(initial=0)) / even[1],
    }
