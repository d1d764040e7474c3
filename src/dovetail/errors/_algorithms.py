"""What is wrong with an algorithm that is asked for by name, and with its knobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from dovetail.errors._family import DovetailError
from dovetail.errors._wording import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable


class OfAlgorithms(DovetailError):
    """Knobs that an algorithm does not have, and joins and inputs that it is not made for."""

    @classmethod
    def knob_of_others(cls, name: str, value: object, algorithm: str, takers: Iterable[str]) -> Self:
        """Refuse a choice that the algorithm does not have."""
        names = list(takers)
        return cls(
            f"{name}={value!r} says nothing to algorithm {algorithm!r}; it is for {quoted(names)}. "
            f"Hint: add algorithm={names[-1]!r}."
        )

    @classmethod
    def idle_knob(cls, name: str, value: object, algorithm: str) -> Self:
        """Refuse a choice that an algorithm asked for by name does not have."""
        return cls(
            f"{name}={value!r} says nothing to algorithm {algorithm!r}, which takes `on`, `how` and `select`. "
            "Hint: leave it out."
        )

    @classmethod
    def number_of_partitions(cls, got: object, most: int) -> Self:
        """Refuse a number of cells below one, or one whose edges alone would fill the memory."""
        return cls(
            f"partitions is {got!r}; it is a whole number of at least 1 and at most {most:,}. "
            "Hint: leave it out to have it chosen."
        )

    @classmethod
    def too_small_window(cls, got: object) -> Self:
        """Refuse a window below one row."""
        return cls(f"window is {got!r}; it is a whole number of rows, at least 1. Hint: leave it out to join all rows.")

    @classmethod
    def not_one_inequality(cls, algorithm: str, inequalities: int, equalities: int) -> Self:
        """Refuse an algorithm of the partitioned theta-joins for a condition that it is not made for."""
        return cls(
            f"algorithm {algorithm!r} takes one of < <= > >= between the sides and no equality; the condition has "
            f"{inequalities} and {equalities}. Hint: leave algorithm out, and the plan chooses."
        )

    @classmethod
    def no_equality(cls, algorithm: str) -> Self:
        """Refuse an algorithm of the equality joins for a condition without one."""
        return cls(
            f"algorithm {algorithm!r} takes an equality between the sides; the condition has none. "
            "Hint: leave algorithm out, and the plan chooses."
        )

    @classmethod
    def algorithm_with_agg(cls, algorithm: str) -> Self:
        """Refuse to fold pairs by an algorithm that makes them."""
        return cls(f"algorithm {algorithm!r} cannot be had with agg, which makes no pairs. Hint: leave algorithm out.")

    @classmethod
    def only_in_process(cls, algorithm: str) -> Self:
        """Refuse an operator of streams to DataFrames."""
        return cls(
            f"algorithm {algorithm!r} joins tables and iterators of this process, not Spark DataFrames. "
            "Hint: leave algorithm out, and the plan chooses."
        )

    @classmethod
    def only_inner(cls, algorithm: str, how: str) -> Self:
        """Refuse a join type to an algorithm that finds pairs alone."""
        return cls(
            f"how {how!r} is not done by algorithm {algorithm!r}, which joins by 'inner'. "
            "Hint: leave algorithm out, and the plan chooses."
        )

    @classmethod
    def two_streams(cls, got: int) -> Self:
        """Refuse more inputs than the progressive merge join takes."""
        return cls(
            f"algorithm 'progressive' joins two inputs; got {got}. "
            "Hint: join two first, or use stream.temporal_join with window=dv.unbounded()."
        )

    @classmethod
    def too_large_to_travel(cls, algorithm: str, name: str, limit: int) -> Self:
        """Refuse to bring a side to every task that is too large for it."""
        return cls(
            f"algorithm {algorithm!r} brings {name!r} to every task, but it takes more than {limit >> 20} MB. "
            "Hint: algorithm='ring' sends it from task to task, 'spark' lets Spark shuffle both sides."
        )

    @classmethod
    def too_few_slots(cls, name: str, parts: int, slots: int) -> Self:
        """Refuse a ring of more tasks than can run at once."""
        return cls(
            f"a ring of {parts} tasks needs as many at once, but {slots} can run; {name!r} stays in its parts. "
            f"Hint: partitions={slots} deals it out anew, as does a larger spark.sql.files.maxPartitionBytes."
        )
