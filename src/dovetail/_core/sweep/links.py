"""What a condition says of two inputs, as areas need it: equality keys and comparisons of stable order keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.plan.choose import COMPARE
from dovetail._core.sweep.areas.by_key import ByKey
from dovetail._core.sweep.areas.interval import Interval
from dovetail._core.sweep.areas.ordered import Ordered

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Op
    from dovetail._core.sweep.areas.area import Kind

    Keys = NDArray[np.int64]
    BroughtKeys = tuple[tuple[Keys, ...], tuple[Keys, ...]]
    """What rows bring to a link: the arrays of their keys, and those of their values."""


@dataclass(frozen=True, slots=True)
class Link:
    """A condition between the inputs numbered `one` and `other`.

    Every comparison reads `one <op> other`. `names` tell, for either input, which of its values are the same
    expression; `axes` which comparisons compare values of one type. `keys` tell the keys of either input.
    """

    one: int
    other: int
    ops: tuple[Op, ...]
    names: tuple[tuple[str, ...], tuple[str, ...]]
    axes: tuple[str, ...]
    keys: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def has_keys(self) -> bool:
        """Whether anything must be equal."""
        return bool(self.keys[0])

    def kind(self, stored: int) -> Kind:
        """How the rows of one of the inputs lie in their area."""
        ops = self.ops if stored == self.other else tuple(op.flip() for op in self.ops)
        if self.has_keys or not ops:
            return ByKey(ops)
        sliced = self._shared(self.names[0] if stored == self.one else self.names[1])
        if len({ops[i].rises for i in sliced}) == 1:
            pair = self.overlap()
            if pair is not None:
                return Interval(ops, *(pair if stored == self.other else pair[::-1]))
        return Ordered(ops, sliced)

    def _shared(self, names: tuple[str, ...]) -> tuple[int, ...]:
        """The comparisons of that value which most of them share."""
        own = list(zip(names, self.axes, strict=True))
        most = max(own, key=own.count)
        return tuple(i for i, value in enumerate(own) if value == most)

    def holds(self, one: BroughtKeys, other: BroughtKeys) -> NDArray[np.bool_]:
        """Whether keys are equal and all comparisons hold, pair by pair."""
        tests = [a == b for a, b in zip(one[0], other[0], strict=True)]
        tests += [COMPARE[op](a, b) for op, a, b in zip(self.ops, one[1], other[1], strict=True)]
        return np.asarray(np.logical_and.reduce(tests), np.bool_)

    def overlap(self) -> tuple[int, int] | None:
        """A comparison that rises and one that falls, on one axis; None if there are none."""
        for rising, op in enumerate(self.ops):
            for falling, other in enumerate(self.ops):
                if op.rises and not other.rises and self.axes[rising] == self.axes[falling]:
                    return rising, falling
        return None


def changed(brought: BroughtKeys, change: Callable[[Keys], Keys]) -> BroughtKeys:
    """What rows bring to a link, with every array changed alike."""
    keys, values = brought
    return tuple(map(change, keys)), tuple(map(change, values))
