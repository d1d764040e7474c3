"""What is wrong with Spark SQL as text: a condition, a select list, an expression."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Self

from dovetail.errors._family import DovetailError

if TYPE_CHECKING:
    from collections.abc import Iterable


class OfTexts(DovetailError):
    """Texts that cannot be read, that Spark refuses, or that say what a join cannot take."""

    @classmethod
    def no_condition(cls, got: object) -> Self:
        """Say that a join needs a condition."""
        return cls(f"condition is {got!r}; a join needs a Spark SQL boolean as one text. Hint: on='l.price > r.price'.")

    @classmethod
    def no_boolean(cls, text: str) -> Self:
        """Say that a condition is some other kind of expression."""
        hint = "write AND and OR" if "&" in text or "|" in text else "compare the sides, as in 'l.price > r.price'"
        return cls(f"condition {text!r} is no boolean; a join needs one. Hint: {hint}.")

    @classmethod
    def shared_column(cls, column: str, inputs: Iterable[str]) -> Self:
        """Say how a column that all inputs have becomes a condition."""
        name = column if column.isidentifier() else f"`{column}`"
        equal = " AND ".join(f"{one}.{name} = {other}.{name}" for one, other in pairwise(inputs))
        return cls(f"condition {column!r} is a column; a join needs a Spark SQL boolean. Hint: on={equal!r}.")

    @classmethod
    def cannot_read(cls, what: str, text: object, reason: str) -> Self:
        """Say why a text cannot be parsed."""
        example = "l.id, r.price AS other" if what == "select" else "l.price > r.price"
        return cls(f"{what} {text!r} cannot be read: {reason}. Hint: it is Spark SQL, as in {example!r}.")

    @classmethod
    def too_deep(cls, what: str, text: str) -> Self:
        """Refuse what nests deeper than a reader can follow."""
        shown = f"{text[:60]}..." if len(text) > 60 else text  # noqa: PLR2004 -- enough to know it by
        return cls(f"{what} {shown!r} nests too deep. Hint: take parentheses away, or compute parts as columns first.")

    @classmethod
    def spark_refuses(cls, text: str, reason: str) -> Self:
        """Pass on what Spark's analysis said."""
        hint = "cast the part that it names, or rename a column"
        if "UNRESOLVED_ROUTINE" in reason:
            hint = "look up how Spark spells the function; one of Python's must be registered in this session"
        return cls(f"Spark refuses {text!r}: {reason} Hint: {hint}.")

    @classmethod
    def chained_comparison(cls, part: str) -> Self:
        """Refuse `a = b > c`, which parsers read in different ways."""
        return cls(f"{part!r} compares a comparison; readers differ on which comes first. Hint: set parentheses.")

    @classmethod
    def subquery(cls, what: str, text: str) -> Self:
        """Refuse a query inside a condition or a select list."""
        return cls(
            f"{what} {text!r} holds a query; a {what} may only use the columns of its inputs. "
            "Hint: join the result of that query as an input of its own."
        )

    @classmethod
    def of_many_rows(cls, part: str, what: str, text: str) -> Self:
        """Refuse an aggregate or window function where single rows are spoken of."""
        return cls(
            f"{part!r} in {what} {text!r} is of many rows; a {what} speaks of single rows. "
            "Hint: use agg= and per=, or aggregate before or after the join."
        )

    @classmethod
    def not_deterministic(cls, part: str, text: str) -> Self:
        """Refuse a function that may answer differently each time."""
        return cls(
            f"{part!r} in condition {text!r} is not deterministic; a pair must match or not match for good. "
            "Hint: add it to the input as a column and write that out first."
        )
