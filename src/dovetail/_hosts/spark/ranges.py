"""Cells of a join by time on Spark: by hash of the keys, and by ranges of time where there is no key or a hot one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail._core.placement.ranges import cut_ranges
from dovetail._core.plan.decide import CELL_ROWS, HOT_SHARE, MOST_CELLS
from dovetail._core.sweep.prepare import prepare
from dovetail._hosts.ring.projection import side_columns
from dovetail._hosts.spark.frames import cores_of
from dovetail._hosts.spark.handed import collected
from dovetail._hosts.spark.loads import balance
from dovetail._hosts.spark.overlay import Overlay
from dovetail._hosts.spark.parcels import counted, moved
from dovetail._hosts.spark.places import PLACE, cell_of, is_anchor, is_guest
from dovetail._hosts.spark.sampled import both_alike
from dovetail._hosts.spark.small import planned
from dovetail._hosts.spark.statistics import read_samples
from dovetail._hosts.spark.stretches import Stretch, Timeline, on_axis
from dovetail._hosts.spark.types import can_hash, literal_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from dovetail._hosts.spark.sides import Sides, SparkSide
    from dovetail._hosts.spark.statistics import Sampled
    from dovetail._hosts.spark.stretches import Margins

FEW_ROWS = 50_000
"""So many rows are joined in one cell before a second one has started."""
FEW_BYTES = 4 << 20
"""What Spark takes to be no more than this is joined in one cell, without a job to learn of it."""
MOST_COPIES = 4
"""Windows that are long beside a cell are given fewer cells, so that a row is in no more of them than this."""
_NONE = np.empty(0, np.int64)
_ONLY_TIME = (("v0", "v0"),)


@dataclass(frozen=True)
class Hot:
    """A key that is cut by time: its values, and its cells."""

    key: tuple[pa.Scalar, ...]
    stretch: Stretch


@dataclass(frozen=True)
class TimeCells:
    """All cells: without keys those of one stretch, else those by hash, then those of hot keys."""

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

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """All that is cut by time."""
        return tuple(own.stretch for own in self.hot) if self.everything is None else (self.everything,)

    def cell(self, own: SparkSide, usable: str) -> str:
        """The cell of a row, by its key, or, counted down from -1, its stretch; one that cannot match goes anywhere."""
        cell = "-1" if self.everything is not None else f"CAST(pmod({_hash(own.named('k'))}, {self.hashed}) AS INT)"
        for number, hot in enumerate(self.hot):
            cell = f"CASE WHEN {_is_key(own, hot.key)} THEN {-1 - number} ELSE {cell} END"
        names = [field.name for field in own.schema if can_hash(field.dataType)]
        anywhere = f"CAST(pmod({_hash(names)}, {self.number}) AS INT)"
        return "0" if self.number == 1 else f"CASE WHEN {usable} THEN {cell} ELSE {anywhere} END"


def _hash(names: Sequence[str]) -> str:
    return f"xxhash64({', '.join(names)})"


def plan_cells(sides: Sides, margins: Margins, asked: int | None) -> TimeCells:
    """Choose the cells by samples of both sides, read now; the answer does not depend on them."""
    if asked == 1 or (asked is None and sum(own.size for own in planned(sides)) <= FEW_BYTES):
        return TimeCells(1, (), None)
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
    if asked or cells == 1 or stretch.copies(on_axis(drawn.samples[1].column("v0"), margins.axis)) <= MOST_COPIES:
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


def placed(sides: Sides, cells: TimeCells, overlay: Overlay, *, keeps_right: bool) -> DataFrame:
    """Both sides in one frame, moved to their cells.

    With `keeps_right`, right rows that cannot match come along, and left rows go to all cells in which they may have a
    partner. Said in text, since every call to Spark's functions takes time.
    """
    placing = _placing(sides, cells, overlay, keeps_right=keeps_right)
    return moved(placing, cells.number, _timeline(sides, cells, overlay, keeps_right=keeps_right))


def _placing(sides: Sides, cells: TimeCells, overlay: Overlay, *, keeps_right: bool) -> DataFrame:
    """Both sides in one frame, with their places."""
    right, usable = sides.right, sides.can_match(sides.right)
    if not keeps_right:
        right, usable = replace(right, frame=right.frame.where(usable)), "true"
    ours, theirs = (
        own.frame.selectExpr(f"{cells.cell(own, usable)} AS cell", *own.travelling)
        for own, usable in ((sides.left, sides.can_match(sides.left)), (right, usable))
    )
    return overlay.laid(ours, theirs)


def _timeline(sides: Sides, cells: TimeCells, overlay: Overlay, *, keeps_right: bool) -> Timeline | None:
    """What tasks need to place rows by their times; None if every row's cell is known."""
    if cells.apart:
        return None
    ours, theirs = overlay.anchor_columns(sides.left, ["v0"]), overlay.other_columns(sides.right, ["v0"])
    return Timeline(cells.stretches, ours, theirs, keeps_right)


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


def loads(sides: Sides, cells: TimeCells, *, keeps_right: bool) -> dict[str, Any]:
    """Count the rows that each cell gets and gives, in a pass over both sides."""
    compared = replace(sides, **{side: replace(getattr(sides, side), same=_ONLY_TIME) for side in ("left", "right")})
    overlay = Overlay.of(compared.left, compared.right)
    placing = _placing(compared, cells, overlay, keeps_right=keeps_right)
    found = collected(counted(placing, _timeline(compared, cells, overlay, keeps_right=keeps_right)))
    places, rows = (found.column(name).to_numpy() for name in (PLACE, "rows"))
    given = np.array([is_anchor(place) and not is_guest(place) for place in places.tolist()], np.bool_)
    taken, out = (np.bincount(cell_of(places), own, cells.number).astype(np.float64) for own in (rows, rows * given))
    return {
        "cells": cells.number,
        "rows_moved": int(taken.sum()),
        "load_in": balance(taken),
        "load_out": balance(out),
    }
