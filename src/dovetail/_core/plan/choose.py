"""Which shape to use: the one that leaves the fewest candidate pairs, judged by a sample of both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.condition.values import Op
from dovetail._core.plan.shape import shapes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Condition, Side
    from dovetail._core.plan.shape import Shape
    from dovetail._core.plan.span import Span

SAMPLE = 1000
COMPARE = {Op.LT: np.less, Op.LE: np.less_equal, Op.GT: np.greater, Op.GE: np.greater_equal}


@dataclass(frozen=True, slots=True)
class Sample:
    """Order keys of some rows of both sides: one array per comparison, and codes if there are equality keys.

    `spans` tell how far apart the values of a left row may lie.
    """

    left: tuple[NDArray[np.int64], ...]
    right: tuple[NDArray[np.int64], ...]
    left_codes: NDArray[np.int64] | None = None
    right_codes: NDArray[np.int64] | None = None
    spans: tuple[Span, ...] = ()

    def share(self, ops: tuple[Op, ...], numbers: Iterable[int] | None = None) -> float:
        """The share of sampled pairs for which some comparisons (None: all) hold, equality keys included."""
        holds = self.thinned().holds(ops, numbers)
        return float(holds.mean()) if holds.size else 0.0

    def holds(self, ops: tuple[Op, ...], numbers: Iterable[int] | None = None) -> NDArray[np.bool_]:
        """Pair by pair, whether the keys are equal and the comparisons hold."""
        found = self._keys_equal()
        for i in range(len(ops)) if numbers is None else numbers:
            found = found & COMPARE[ops[i]](self.left[i][:, None], self.right[i][None, :])
        return found

    def pick(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> Sample:
        """Some rows of either side."""
        return Sample(
            tuple(values[left] for values in self.left),
            tuple(values[right] for values in self.right),
            None if self.left_codes is None else self.left_codes[left],
            None if self.right_codes is None else self.right_codes[right],
            tuple(span.pick(left, right) for span in self.spans),
        )

    def flip(self) -> Sample:
        """The same, with the sides exchanged; nothing is known of spans then, which are of the left rows."""
        return Sample(self.right, self.left, self.right_codes, self.left_codes)

    def thinned(self) -> Sample:
        """At most SAMPLE rows of either side, so that all pairs can be tried."""
        sizes = [_size(self.left, self.left_codes), _size(self.right, self.right_codes)]
        if max(sizes) <= SAMPLE:
            return self
        return self.pick(*(evenly_spaced(size, SAMPLE) for size in sizes))

    def _keys_equal(self) -> NDArray[np.bool_]:
        if self.left_codes is None or self.right_codes is None:
            return np.ones([_size(self.left, None), _size(self.right, None)], np.bool_)
        return np.equal(self.left_codes[:, None], self.right_codes[None, :])


def evenly_spaced(size: int, most: int) -> NDArray[np.int64]:
    """At most so many of some rows by their positions, the first and the last among them."""
    return np.unique(np.linspace(0, max(0, size - 1), min(size, most)).astype(np.int64))


def _size(values: tuple[NDArray[np.int64], ...], codes: NDArray[np.int64] | None) -> int:
    return values[0].size if values else 0 if codes is None else codes.size


def choose_shape(
    condition: Condition,
    sample: Sample | None = None,
    stored: Side | None = None,
    axes: tuple[str, ...] | None = None,
) -> Shape:
    """The best shape; `stored` asks for one that sorts that side, if there is one.

    `axes` name, for every comparison, the axis on which its values lie (None: all lie on one).
    """
    found = list(shapes(condition, axes))
    asked = [shape for shape in found if shape.stored == stored] or found
    if sample is None or len(condition.comparisons) <= 2:  # noqa: PLR2004 -- two always fit
        return asked[0]
    ops = tuple(comparison.op for comparison in condition.comparisons)
    return min(asked, key=lambda shape: sample.share(ops, shape.used))
