"""What is wrong with the types and values that an expression meets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from dovetail.errors._family import DovetailError

if TYPE_CHECKING:
    from collections.abc import Iterable


class OfValues(DovetailError):
    """Operands and casts that Spark refuses, too, and values that a type does not hold."""

    @classmethod
    def operand_types(cls, sql: str, got: Iterable[str]) -> Self:
        """Refuse operands of types that Spark refuses, too."""
        return cls(f"{sql!r} takes no {' and '.join(got)}; Spark refuses it, too. Hint: cast the operands.")

    @classmethod
    def division_by_zero(cls, sql: str) -> Self:
        """Show a division that has no answer."""
        return cls(f"division by zero in {sql!r}; Spark refuses it too. Hint: guard it with CASE WHEN.")

    @classmethod
    def result_overflow(cls, sql: str, kind: str) -> Self:
        """Say that the value of an expression does not fit its type."""
        return cls(f"{sql!r} overflows {kind}; Spark refuses it, too. Hint: cast an operand to a wider type.")

    @classmethod
    def no_decimal(cls, text: str) -> Self:
        """Refuse digits that no decimal of Spark's has."""
        return cls(
            f"{text!r} is no type; a decimal has 1 to 38 digits, all of them or some behind the point. "
            "Hint: DECIMAL(38,2)."
        )

    @classmethod
    def no_cast(cls, source: str, target: str) -> Self:
        """Refuse a cast that Spark refuses, too."""
        return cls(f"a cast of {source} to {target} does not exist in Spark. Hint: cast to a type in between.")

    @classmethod
    def malformed(cls, value: object, source: str, target: str) -> Self:
        """Show a value that a cast cannot turn into its type."""
        return cls(f"{value!r} of type {source} cannot be cast to {target}. Hint: TRY_CAST gives NULL instead.")

    @classmethod
    def bad_interval(cls, sql: str) -> Self:
        """Show an interval that cannot be read."""
        return cls(f"{sql!r} is no interval; units of days and of months do not mix. Hint: write INTERVAL '5' MINUTE.")

    @classmethod
    def bad_escape(cls, pattern: str, escape: str) -> Self:
        """Show a LIKE pattern whose escape character escapes nothing."""
        return cls(f"pattern {pattern!r}: {escape!r} must stand before '%', '_' or itself. Hint: double it.")

    @classmethod
    def fine_time(cls, kind: str, target: str) -> Self:
        """Refuse times finer than Spark's."""
        return cls(
            f"a column of type {kind} has values between microseconds, which {target} does not hold. "
            "Hint: join by its nanoseconds as whole numbers, or round it."
        )

    @classmethod
    def far_moment(cls, value: int, source: str, target: str) -> Self:
        """Refuse a date or timestamp that Spark's type cannot hold."""
        return cls(
            f"{value} of Arrow's type {source} lies beyond what {target} can hold. "
            "Hint: clip such moments, or make them NULL, before the join."
        )
