"""What is known of both sides of a join, found when it is first asked for: every look costs a job."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dovetail._hosts.spark.small import estimated_bytes
from dovetail._hosts.spark.statistics import read_statistics

if TYPE_CHECKING:
    from dovetail._hosts.spark.sides import Sides
    from dovetail._hosts.spark.statistics import Statistics


@dataclass(frozen=True)
class Known:
    """What is known of both sides, found when it is first asked for."""

    sides: Sides

    @cached_property
    def statistics(self) -> tuple[Statistics, Statistics]:
        """Both sides, read once."""
        return read_statistics(self.sides)

    @cached_property
    def estimates(self) -> tuple[float, float]:
        """Spark's own estimates, for which nothing is read."""
        return estimated_bytes(self.sides)

    @property
    def is_read(self) -> bool:
        """Whether the statistics are there already."""
        return "statistics" in self.__dict__

    def flip(self) -> Known:
        """The sides exchanged; what was found stays."""
        other = Known(self.sides.flip())
        for name in ("statistics", "estimates"):
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name][::-1]
        return other
