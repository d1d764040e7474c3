"""One cell of a window join, from evaluated columns to the columns of its aggregates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.aggregate.windows import WindowFolds, Windows
from dovetail._core.columns.axis import check_distance, check_offset, numbers, steps, ticks
from dovetail._core.condition.parse import told
from dovetail._core.plan.offset import PerRow
from dovetail._core.sweep.asof_join import TimedSide
from dovetail._core.sweep.prepare import pick, prepare
from dovetail._core.sweep.window_join import Reach, window_slices

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from dovetail._core.aggregate.run import Argument
    from dovetail._core.columns.axis import Rounding, Steps
    from dovetail._core.plan.offset import Offset
    from dovetail._core.plan.timed import Window, WindowJoin
    from dovetail._core.sweep.prepare import SideColumns


@dataclass(frozen=True)
class WindowCell:
    """Both sides of a cell; the first value of either is its time, on one axis.

    `offsets` holds, by the text of their columns, the base rows' own distances; `arguments` what each aggregate reads
    of the probe rows.
    """

    asked: WindowJoin
    left: SideColumns
    right: SideColumns
    offsets: Mapping[str, pa.Array]
    arguments: Sequence[Argument]
    threads: int = 1

    def check(self) -> None:
        """Refuse an axis without distances, and offsets that do not fit it."""
        kind, text = self.left.values[0].type, told(self.asked.query.condition.comparisons[0].left)
        check_distance(kind, "a window", text)
        for window in self.asked.windows:
            for option, offset in (("preceding", window.preceding), ("following", window.following)):
                if offset is not None:
                    own = self.offsets[offset.column.sql].type if isinstance(offset, PerRow) else None
                    check_offset(option, offset, kind, own)

    def columns(self) -> list[pa.Array]:
        """One column per aggregate of all windows, one value per base row."""
        keys = self.asked.query.condition.keys
        left, right = prepare(self.left, self.right, [key.null_safe for key in keys])
        ours, theirs = ticks(pick(self.left.values[0], left.rows), pick(self.right.values[0], right.rows))
        sides = TimedSide(left.codes, left.values[0], ours), TimedSide(right.codes, right.values[0], theirs)
        placed = window_slices(*sides, [self._reach(own, left.rows) for own in self.asked.windows], self.threads)
        folds = WindowFolds(placed.line)
        arguments = iter([argument.pick(right.rows) for argument in self.arguments])
        found = []
        for window, (low, high) in zip(self.asked.windows, placed.slices, strict=True):
            at = Windows(low, high, left.rows[placed.rows], self.left.rows)
            found += [folds.column(aggregate, next(arguments), at) for aggregate in window.aggregates]
        return found

    def _reach(self, window: Window, rows: NDArray[np.int64]) -> Reach:
        prevails = window.include_prevailing and window.preceding is not None
        return Reach(
            self._steps(window.preceding, rows, "within" if window.lower_closed else "below"),
            self._steps(window.following, rows, "within" if window.upper_closed else "below"),
            self._steps(window.preceding, rows, "beyond") if prevails else None,
            self._reversed(window, rows) if prevails else None,
        )

    def _steps(self, offset: Offset | None, rows: NDArray[np.int64], rounding: Rounding) -> Steps | None:
        if offset is None:
            return None
        own = pick(self.offsets[offset.column.sql], rows) if isinstance(offset, PerRow) else None
        return steps(offset, self.left.values[0].type, own, rounding)

    def _reversed(self, window: Window, rows: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        return reversed_rows(
            window,
            self.left.values[0].type,
            {name: pick(array, rows) for name, array in self.offsets.items()},
        )


def reversed_rows(window: Window, kind: pa.DataType, offsets: Mapping[str, pa.Array]) -> NDArray[np.bool_] | None:
    """The rows whose own distances turn the window round; those given for all rows were checked before."""
    ends = (window.preceding, window.following)
    if None in ends or not any(isinstance(end, PerRow) for end in ends):
        return None
    back, forward = (numbers(end, kind, offsets[end.column.sql] if isinstance(end, PerRow) else None) for end in ends)
    return np.asarray(back + forward < 0, np.bool_)
