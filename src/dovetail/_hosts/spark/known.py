"""What is known of both sides of a join, found when it is first asked for: every look costs a job."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from dovetail._core.plan.decide import BROADCAST_BYTES
from dovetail._hosts.spark.small import Brought, bring, bring_both, planned
from dovetail._hosts.spark.statistics import count_pieces, read_side, read_statistics

if TYPE_CHECKING:
    import pyarrow as pa

    from dovetail._hosts.spark.sides import Sides
    from dovetail._hosts.spark.small import Planned
    from dovetail._hosts.spark.statistics import Statistics


FEW_PAIRS = 10_000_000
"""Fewer than this are joined before anything could be learned of them."""
BOTH_BYTES = 4 << 20
"""Sides of no more than this can both be brought."""


class Known:
    """What is known of both sides, found when it is first asked for.

    `sampled` asks for a sample of the side that stays where the other one is brought.
    """

    def __init__(self, sides: Sides, *, sampled: bool = False) -> None:
        self.sides, self.sampled = sides, sampled
        self._statistics: tuple[Statistics, Statistics] | None = None
        self._planned: tuple[Planned, Planned] | None = None
        self.both: tuple[pa.Table, pa.Table] | None = None
        """Both sides in the driver, once they were brought."""

    @property
    def statistics(self) -> tuple[Statistics, Statistics]:
        """Both sides, read once."""
        if self._statistics is None:
            self._statistics = read_statistics(self.sides)
        return self._statistics

    @property
    def planned(self) -> tuple[Planned, Planned]:
        """What Spark plans for both sides, for which nothing is read."""
        if self._planned is None:
            self._planned = planned(self.sides)
        return self._planned

    @property
    def estimates(self) -> tuple[float, float]:
        """Spark's own estimates of both sides' bytes."""
        return self.planned[0].size, self.planned[1].size

    @cached_property
    def larger_left(self) -> Known:
        """The side that Spark takes to be the larger one on the left."""
        return self if self.estimates[0] >= self.estimates[1] else self.flip()

    @cached_property
    def few_pairs(self) -> bool:
        """Whether Spark takes the sides to be so small that nothing more is worth knowing."""
        sides = self.sides.left, self.sides.right
        rows = [size / max(1, side.row_bytes) for size, side in zip(self.estimates, sides, strict=True)]
        return rows[0] * rows[1] < FEW_PAIRS

    def bring_both(self) -> tuple[pa.Table, pa.Table] | None:
        """Both sides in the driver, if Spark takes both to be small and they are; None, too, if they are tiny."""
        if not self.few_pairs and max(self.estimates) <= BOTH_BYTES:
            self.both = bring_both(self.sides, 2 * BOTH_BYTES)
        return self.both

    @cached_property
    def brought(self) -> Brought | None:
        """The right side in the driver, if Spark takes it to be small and it is."""
        if self.both is not None:
            return Brought(self.both[1], count_pieces(self.sides.left))
        if self.estimates[1] > BROADCAST_BYTES:
            return None
        look = None if self.few_pairs else read_side if self.sampled else count_pieces
        return bring(self.sides, look)

    @cached_property
    def kept(self) -> Brought | None:
        """All of the right side in the driver, if Spark takes it to be small and it is, and the left one to be not."""
        small = self.estimates[1] <= BROADCAST_BYTES < self.estimates[0]
        return bring(self.sides, count_pieces, kept=True) if small else None

    @property
    def is_read(self) -> bool:
        """Whether the statistics are there already."""
        return self._statistics is not None

    def flip(self) -> Known:
        """The sides exchanged; what was found of both stays."""
        other = Known(self.sides.flip(), sampled=self.sampled)
        if self._statistics is not None:
            other._statistics = self._statistics[::-1]
        if self._planned is not None:
            other._planned = self._planned[::-1]
        if self.both is not None:
            other.both = self.both[::-1]
        return other
