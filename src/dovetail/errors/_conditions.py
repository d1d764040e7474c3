"""What is wrong with a condition that was read: with what it connects, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from dovetail.errors._family import DovetailError
from dovetail.errors._wording import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable


class OfConditions(DovetailError):
    """Inputs that nothing connects, comparisons that can never hold, and types that do not compare."""

    @classmethod
    def disconnected(cls, one: Iterable[str], other: Iterable[str]) -> Self:
        """Refuse a cross product that nobody asked for."""
        first, second = list(one), list(other)
        return cls(
            f"nothing in the condition connects {quoted(first)} with {quoted(second)}; that would pair all their rows. "
            f"Hint: add a comparison between {first[-1]!r} and {second[0]!r}."
        )

    @classmethod
    def impossible_cycle(cls, path: Iterable[str]) -> Self:
        """Refuse a circle of comparisons that no values satisfy."""
        return cls(
            f"the condition can never hold: {' '.join(path)} goes round in a circle. Hint: turn one of its comparisons."
        )

    @classmethod
    def how_of_many(cls, how: str) -> Self:
        """Refuse a join type that says nothing of more than two inputs."""
        return cls(
            f"how {how!r} takes two inputs; three and more are joined by 'inner'. "
            "Hint: join two of them first, then the result with the third."
        )

    @classmethod
    def cannot_compare(cls, text: str, left: str, right: str) -> Self:
        """Refuse a comparison of types that Spark does not compare."""
        return cls(f"{text!r} compares {left} with {right}, which Spark refuses. Hint: cast one side.")
