"""Which shape to use: the one that leaves the fewest candidate pairs, judged by a sample of both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.plan.shape import shapes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Condition, Op, Side
    from dovetail._core.plan.shape import Shape

SAMPLE = 1000
_COMPARE = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


@dataclass(frozen=True, slots=True)
class Sample:
    """Order keys of some rows of both sides: one array per comparison, and codes if there are equality keys."""

    left: tuple[NDArray[np.int64], ...]
    right: tuple[NDArray[np.int64], ...]
    left_codes: NDArray[np.int64] | None = None
    right_codes: NDArray[np.int64] | None = None

    def share(self, ops: tuple[Op, ...], numbers: Iterable[int]) -> float:
        """The share of sampled pairs for which some comparisons hold, equality keys included."""
        holds = self._keys_equal()
        for i in numbers:
            holds = holds & _COMPARE[ops[i].value](self.left[i][:, None], self.right[i][None, :])
        return float(holds.mean()) if holds.size else 0.0

    def _keys_equal(self) -> NDArray[np.bool_]:
        if self.left_codes is None or self.right_codes is None:
            sizes = [side[0].size if side else 0 for side in (self.left, self.right)]
            return np.ones(sizes, np.bool_)
        return np.equal(self.left_codes[:, None], self.right_codes[None, :])


def choose_shape(condition: Condition, sample: Sample | None = None, stored: Side | None = None) -> Shape:
    """The best shape; `stored` asks for one that sorts that side, if there is one."""
    found = list(shapes(condition))
    asked = [shape for shape in found if shape.stored == stored] or found
    if sample is None or len(condition.comparisons) <= 2:  # noqa: PLR2004 -- two always fit
        return asked[0]
    ops = tuple(comparison.op for comparison in condition.comparisons)
    return min(asked, key=lambda shape: sample.share(ops, shape.used))
