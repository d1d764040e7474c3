"""Stretches of time, cut into cells: which of them owns a row, and which need it, told by the tasks that send it on.

Spark could say in SQL where a row goes; but a branch for each cut makes code that is too long to be compiled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dovetail._core.columns.axis import MOST, moved
from dovetail._core.columns.cast import cast
from dovetail._core.columns.order_keys import order_keys
from dovetail._core.columns.types import canonicalise
from dovetail._hosts.spark.places import Seats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Reach = tuple[Ints, Ints, Ints]
    """For each row the cell that owns it, and the first and the last that need it."""


@dataclass(frozen=True)
class Margins:
    """What a cell needs beyond its own range, in ticks before its first and after its last time; None: everything.

    To a *milestone*, it also needs what lies up to the next time of a row that is known to exist on the right. Behind
    that no row can be the nearest one to any row of the cell, so that nothing has to be carried from cell to cell: each
    gets a few rows of its neighbours, one in as many as there are milestones.
    """

    axis: pa.DataType
    back: Any
    forward: Any
    back_to_milestone: bool = False
    forward_to_milestone: bool = False

    def lower(self, cut: pa.Scalar, milestones: pa.Array) -> pa.Scalar | None:
        """The least time that a cell needs; None: all of them."""
        end = None if self.back is None else moved(cut, self.axis, -self.back)
        return end if end is None or not self.back_to_milestone else _nearest(milestones, end, below=True)

    def upper(self, cut: pa.Scalar, milestones: pa.Array) -> pa.Scalar | None:
        """The greatest time that a cell needs; None: all of them."""
        end = None if self.forward is None else moved(cut, self.axis, self.forward)
        return end if end is None or not self.forward_to_milestone else _nearest(milestones, end, below=False)


def _nearest(milestones: pa.Array, end: pa.Scalar, *, below: bool) -> pa.Scalar | None:
    """The last milestone below a time, or the first at or above it."""
    times, at = order_keys([milestones, pa.array([end], milestones.type)])
    numbers = np.flatnonzero(times < at[0] if below else times >= at[0])
    if numbers.size == 0:
        return None
    return milestones[int(numbers[times[numbers].argmax() if below else times[numbers].argmin()])]


def on_axis(times: pa.ChunkedArray, axis: pa.DataType) -> pa.Array:
    """The times of a side as both sides' are compared."""
    return cast(canonicalise(times), axis)


@dataclass(frozen=True)
class Stretch:
    """Consecutive cells by time, numbered from `first`: their cuts, and what is needed on either side of each.

    Bounds ascend with the cuts. Where there is none, all is needed: a `lower` of NULL comes first, an `upper` last.
    """

    first: int
    cuts: pa.Array
    lower: pa.Array
    upper: pa.Array

    @classmethod
    def of(
        cls, first: int, cuts: Sequence[tuple[int, int]], samples: tuple[pa.Table, pa.Table], margins: Margins
    ) -> Stretch:
        """Turn sampled rows into times; those of the right sample are milestones."""
        sampled = [on_axis(sample.column("v0"), margins.axis) for sample in samples]
        times = [sampled[side][row] for side, row in cuts]
        lower, upper = ([end(time, sampled[1]) for time in times] for end in (margins.lower, margins.upper))
        return cls(first, *(pa.array(ends, margins.axis) for ends in (times, lower, upper)))

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return len(self.cuts) + 1

    def reach(self, times: pa.Array) -> Reach:
        """Which cell owns rows of these times, and from which to which they are needed.

        Between two edges, all times are alike: so each is looked for once, and its cells are looked up.
        """
        ends = (own.drop_null() for own in (self.cuts, self.lower, self.upper))
        at, cuts, lower, upper = order_keys([times, *ends])
        edges = np.unique(np.concatenate([cuts, lower, upper[upper < MOST] + 1]))
        passed = (
            np.searchsorted(cuts, edges, side="right"),
            np.searchsorted(upper, edges),
            np.searchsorted(lower, edges, side="right"),
        )
        starts = 0, 0, self.lower.null_count
        here = np.searchsorted(edges, at, side="right")
        home, begin, last = (
            self.first + start + np.append(0, own)[here] for start, own in zip(starts, passed, strict=True)
        )
        return home, begin, last

    def copies(self, times: pa.Array) -> float:
        """How many cells need a row, on average of these times."""
        _, begin, last = self.reach(times)
        return float(np.maximum(last - begin + 1, 0).mean()) if len(times) else 1.0


@dataclass(frozen=True)
class Timeline:
    """The stretches of a placement, and in which column the times of either side travel.

    Right rows go wherever they are needed, to all cells but their own as guests; with `witnesses` left rows do, too.
    """

    stretches: tuple[Stretch, ...]
    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    witnesses: bool

    @property
    def digester(self) -> None:
        """All rows travel as they are."""

    def seats(self, cuts: int, rows: pa.Table, *, anchor: bool) -> Seats:
        """The cells that rows go to."""
        stretch, times = self.stretches[cuts], rows.column((self.ours if anchor else self.theirs)[0])
        home, begin, last = stretch.reach(on_axis(times, stretch.cuts.type))
        if anchor and not self.witnesses:
            return Seats(np.arange(home.size), home, np.zeros(home.size, np.bool_))
        sizes = np.maximum(last - begin + 1, 0)
        picked = np.repeat(np.arange(home.size), sizes)
        cells = begin[picked] + np.arange(picked.size) - (np.cumsum(sizes) - sizes)[picked]
        return Seats(picked, cells, cells != home[picked])
