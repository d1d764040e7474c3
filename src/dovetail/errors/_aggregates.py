"""What is wrong with `agg` and `per`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from dovetail.errors._family import DovetailError
from dovetail.errors._wording import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable


class OfAggregates(DovetailError):
    """Aggregates that lack a part, that nobody knows, or that cannot fold what they are given."""

    @classmethod
    def agg_without_per(cls, given: str) -> Self:
        """Say that `agg` and `per` go together."""
        other = "per" if given == "agg" else "agg"
        return cls(
            f"{given} is given without {other}; an aggregate needs both. "
            "Hint: agg={'n': 'count(*)'}, per='l' gives one row per row of l."
        )

    @classmethod
    def how_with_agg(cls, how: str) -> Self:
        """Refuse a join type that says nothing with an aggregate."""
        return cls(
            f"how {how!r} cannot be had with agg; every row of 'per' gets one row, with or without partners. "
            "Hint: leave how out, and filter on a count."
        )

    @classmethod
    def no_aggregates(cls, got: object) -> Self:
        """Refuse aggregates without names."""
        return cls(f"agg is {got!r}; it is a dict of names and calls. Hint: agg={{'n': 'count(*)'}}.")

    @classmethod
    def unknown_aggregate(cls, text: str, known: Iterable[str]) -> Self:
        """Name an aggregate that does not exist."""
        return cls(
            f"aggregate {text!r} is not known; there are {quoted(known)} of one expression. "
            "Hint: for any other, group the pairs of dv.join."
        )

    @classmethod
    def aggregate_of_per(cls, text: str, others: Iterable[str]) -> Self:
        """Refuse an aggregate over the side that is kept."""
        names = quoted(others)
        return cls(
            f"aggregate {text!r} reads the side it is computed for; it folds the rows of {names}. "
            "Hint: name a column of these."
        )

    @classmethod
    def no_sum(cls, text: str, kind: str) -> Self:
        """Refuse to add up what has no sum."""
        return cls(f"aggregate {text!r} needs a number; got {kind}. Hint: count, min, max, first, last take any type.")

    @classmethod
    def sum_overflow(cls, text: str, kind: str) -> Self:
        """Say that a sum does not fit its type."""
        return cls(f"aggregate {text!r} overflows {kind}. Hint: cast its argument to a decimal or a double.")
