"""Where the windows of base rows end, as order keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dovetail._core.columns.axis import LEAST, MOST, steps
from dovetail._core.kernels.sort import extent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dovetail._core.plan.offset import Offset
    from dovetail._core.plan.timed import Window
    from dovetail._hosts.online.definition import Definition

    Ints = NDArray[np.int64]


def prevails_in(window: Window) -> bool:
    """Whether a window begins with rows before it."""
    return window.include_prevailing and window.preceding is not None


class WindowEnds(NamedTuple):
    """Where the windows of one kind end, as order keys, lower above upper for none; and where rows prevail."""

    lower: Ints
    upper: Ints
    start: Ints | None

    @property
    def least(self) -> Ints:
        """The least key that each row's window may look at."""
        return self.lower if self.start is None else np.minimum(self.lower, self.start)


class Whole(NamedTuple):
    """Windows alike for all rows, on whole ticks: how far each goes down, up (None: without end), and to its start."""

    windows: list[tuple[int | None, int | None, int | None]]
    reach: int

    @classmethod
    def of(cls, definition: Definition) -> Whole:
        """The windows of a definition without distances of rows' own."""

        def size(offset: Offset | None, rounding: Any) -> int | None:
            return None if offset is None else int(steps(offset, definition.axis, None, rounding).size)

        found = [
            (
                size(own.preceding, "within" if own.lower_closed else "below"),
                size(own.following, "within" if own.upper_closed else "below"),
                size(own.preceding, "beyond") if prevails_in(own) else None,
            )
            for own in definition.asked.windows
        ]
        return cls(found, max(abs(by or 0) for own in found for by in own))

    def stay(self, at: Ints) -> bool:
        """Whether no window of some rows, of which there are any, reaches an end of the axis."""
        least, greatest = extent(at)
        return bool(at.size and self.stays(int(least)) and self.stays(int(greatest)))

    def stays(self, tick: int) -> bool:
        """Whether no window of a row reaches an end of the axis."""
        return tick - self.reach > LEAST and tick + self.reach < MOST

    def ends(self, at: Ints) -> list[WindowEnds]:
        """Where windows end for rows that are further from both ends of the axis than any reaches."""
        return [
            WindowEnds(
                np.full(at.size, LEAST) if down is None else at - down,
                np.full(at.size, MOST) if up is None else at + up if up else at,
                None if start is None else at - start,
            )
            for down, up, start in self.windows
        ]
