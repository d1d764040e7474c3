"""An area for boxes: intervals in two dimensions and more, all of which must overlap.

Rows lie by the start of their side in the first dimension; the other sides are tested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail._core.condition.values import Op
from dovetail._core.sweep.areas.interval import Interval

if TYPE_CHECKING:
    from dovetail._core.sweep.areas.rows import Keys


def boxes(dimensions: int = 2) -> Interval:
    """The area of boxes, whose values are told by `probing_box` and `stored_box`."""
    return Interval((Op.LT, Op.GT) * dimensions, 0, 1)


def probing_box(sides: list[tuple[Keys, Keys]]) -> tuple[Keys, ...]:
    """The start and the open end in every dimension, as a probe brings them."""
    return tuple(end for side in sides for end in side)


def stored_box(sides: list[tuple[Keys, Keys]]) -> tuple[Keys, ...]:
    """The same, as the area holds them: a probe's start is compared with an end."""
    return tuple(end for side in sides for end in side[::-1])
