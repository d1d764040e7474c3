"""Which runs are merged next, if any. Runs are told by their number of rows, in the order in which they were made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dovetail._core.plan.knobs import read_choice
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

STRATEGIES = ("max-fan-in", "greedy", "adaptive")


@dataclass(frozen=True, slots=True)
class Strategy:
    """When to merge how many runs: only `fan_in` at once, or whenever there is time; adaptive: as the load allows."""

    name: str = "greedy"
    fan_in: int = 8

    def __post_init__(self) -> None:
        """Refuse what is no strategy."""
        read_choice("strategy", self.name, STRATEGIES)
        if not isinstance(self.fan_in, int) or isinstance(self.fan_in, bool) or self.fan_in < 2:  # noqa: PLR2004
            raise UsageError.too_small_fan_in(self.fan_in)

    def eager(self, *, busy: bool) -> bool:
        """Whether to merge fewer runs than the fan-in allows."""
        return self.name == "greedy" or (self.name == "adaptive" and not busy)

    def choose(self, sizes: Sequence[int], *, busy: bool = False, last: bool = False) -> list[int]:
        """The runs to be merged: those of like length, the shortest first; none if it is better to wait.

        `last`: no more runs will come, and all are to become one. A long run is not written again for a short one's
        sake: else every merge would write all rows so far.
        """
        order = sorted(range(len(sizes)), key=lambda i: sizes[i])
        if last:
            return sorted(order[: self.fan_in]) if len(order) > 1 else []
        if self.eager(busy=busy):
            alike = _growing(order, sizes)[: self.fan_in]
            return sorted(alike) if len(alike) > 1 else []
        alike = [i for i in order if sizes[i] <= 2 * sizes[order[0]]]
        return sorted(alike[: self.fan_in]) if len(alike) >= self.fan_in else []

    def flank(self, waiting: int, *, busy: bool = False, last: bool = False) -> int:
        """How many waiting runs the left flank takes up: as many as there are, or none until the fan-in is full."""
        if last or self.eager(busy=busy) or waiting >= self.fan_in - 1:
            return min(waiting, self.fan_in - 1)
        return 0


def _growing(order: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """The shortest runs, as long as each is at most twice all shorter ones together."""
    taken: list[int] = []
    total = 0
    for i in order:
        if taken and sizes[i] > 2 * total:
            break
        taken.append(i)
        total += sizes[i]
    return taken
