"""Pairs that must also pass a test of their own: residuals, and comparisons that found no place in the sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.plan.choose import COMPARE
from dovetail._core.sweep.matches import CHUNK, ListedMatches
from dovetail._core.sweep.slice_join import SliceJoin
from dovetail._core.sweep.threshold_join import ThresholdJoin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Op, Side
    from dovetail._core.sweep.matches import Matches, Pairs

    Test = Callable[[Matches], NDArray[np.bool_]]


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

    def partners(self, side: Side) -> NDArray[np.bool_] | None:
        """A probe is done at its first partner; a stored row is known only by its pairs."""
        pairs, tests = self.pairs, [self.test]
        while isinstance(pairs, TestedPairs):
            tests.insert(0, pairs.test)
            pairs = pairs.pairs
        if not isinstance(pairs, (SliceJoin, ThresholdJoin)) or side == pairs.stored:
            return None
        return _any_passes(pairs, tests)


def _any_passes(pairs: SliceJoin | ThresholdJoin, tests: Sequence[Test]) -> NDArray[np.bool_]:
    """Whether a probe has a candidate that passes: tested in rounds, of twice as many candidates in each.

    So never more than twice the candidates are tested that were needed, in few calls.
    """
    marked = np.zeros(pairs.found.low.size, np.bool_)
    waiting = np.flatnonzero(pairs.found.low < pairs.found.high)
    low, size = pairs.found.low[waiting], 1
    while waiting.size:
        end = pairs.found.high[waiting]
        last = pairs.ends_of_next(waiting, low, size)
        for task in pairs.some(waiting, low, last).tasks(1):
            for found in task:
                _mark_passing(_numbered(found, waiting, pairs.stored), tests, pairs.stored, marked)
        left = (last < end) & ~marked[waiting]
        waiting, low, size = waiting[left], last[left], 2 * size
    return marked


def _numbered(found: Matches, probes: NDArray[np.int64], stored: Side) -> Matches:
    """Pairs of some probes, told by the numbers that these have among all."""
    if stored == "right":
        return ListedMatches(probes[found.left_rows], found.right_rows)
    return ListedMatches(found.left_rows, probes[found.right_rows])


def _mark_passing(found: Matches, tests: Sequence[Test], stored: Side, marked: NDArray[np.bool_]) -> None:
    for test in tests:
        holds = test(found)
        found = ListedMatches(found.left_rows[holds], found.right_rows[holds])
    marked[found.left_rows if stored == "right" else found.right_rows] = True


def order_test(left: NDArray[np.int64], op: Op, right: NDArray[np.int64]) -> Test:
    """Test `left <op> right` on order keys that stand in the positions of the pairs."""
    compare = COMPARE[op]
    return lambda found: compare(left[found.left_rows], right[found.right_rows])
