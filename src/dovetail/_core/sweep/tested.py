"""Pairs that must also pass a test of their own: residuals, and comparisons that found no place in the sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.sweep.matches import CHUNK, ListedMatches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Op, Side
    from dovetail._core.sweep.matches import Matches, Pairs

    Test = Callable[[Matches], NDArray[np.bool_]]

COMPARE = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


@dataclass(frozen=True, slots=True)
class TestedPairs:
    """The pairs for which a test holds."""

    __test__ = False  # not a test class, whatever pytest makes of the name

    pairs: Pairs
    test: Test

    def tasks(self, number: int, chunk: int = CHUNK) -> list[Iterator[Matches]]:
        """The shares of the pairs, thinned."""
        return [self._passing(task) for task in self.pairs.tasks(number, chunk)]

    def _passing(self, task: Iterator[Matches]) -> Iterator[Matches]:
        for found in task:
            holds = self.test(found)
            yield ListedMatches(found.left_rows[holds], found.right_rows[holds])

    def count(self) -> int:
        """Count by going through all pairs."""
        return sum(found.size for task in self.tasks(1) for found in task)

    def partners(self, _side: Side) -> None:
        """Only the pairs can tell."""
        return


def order_test(left: NDArray[np.int64], op: Op, right: NDArray[np.int64]) -> Test:
    """Test `left <op> right` on order keys that stand in the positions of the pairs."""
    compare = COMPARE[op.value]
    return lambda found: compare(left[found.left_rows], right[found.right_rows])
