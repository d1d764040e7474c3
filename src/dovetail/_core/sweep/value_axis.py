"""One order of values for all inputs: every row covers an interval of an axis, and rows that match share a point of it.

Equal keys become one point, by a hash; two comparisons that make an overlap or a band, the interval between both
values; one comparison, a point on one side and everything from a point on, on the other. A row whose start lies above
its end covers what lies between. The axis only leads rows to each other: the comparisons themselves are tested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.columns.axis import MOST
from dovetail._core.sweep.areas.rows import mixed_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dovetail._core.sweep.links import Link

    Keys = NDArray[np.int64]


def covered(link: Link, owner: int, keys: tuple[Keys, ...], values: tuple[Keys, ...]) -> tuple[Keys, Keys]:
    """The start and the open end of what each row of one of the link's inputs covers."""
    if link.has_keys:
        point = (mixed_keys(keys) >> np.uint64(2)).view(np.int64)
        return point, point + 1
    pair, is_one = link.overlap(), owner == link.one
    if pair is not None:
        low, high = pair if is_one else pair[::-1]
        return _between(values[low], values[high], is_open=link.ops[high].strict)
    if link.ops[0].rises == is_one:
        start = np.minimum(values[0], MOST - 1)
        return start, np.full(start.size, MOST)
    return _between(values[0], values[0], is_open=False)


def _between(low: Keys, high: Keys, *, is_open: bool) -> tuple[Keys, Keys]:
    """From one value to the other; the other is left out if it is an open end above the first."""
    start = np.minimum(np.minimum(low, high), MOST - 1)
    most = np.maximum(low, high)
    past = most + (most != MOST)
    return start, np.where(low < high, most, past) if is_open else past


def order_of(link: Link, owner: int) -> tuple[str, ...]:
    """By what the rows of one of the link's inputs are ordered, in words that are equal where the order is."""
    names = link.names[0] if owner == link.one else link.names[1]
    if link.has_keys:
        return link.keys[0] if owner == link.one else link.keys[1]
    pair = link.overlap()
    if pair is None:
        return (f"{names[0]} {'from' if link.ops[0].rises == (owner == link.one) else 'at'}", link.axes[0])
    low, high = pair if owner == link.one else pair[::-1]
    return (names[low], names[high], link.axes[low])
