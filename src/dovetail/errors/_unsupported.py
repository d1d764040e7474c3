"""What a host lacks and another has."""

from __future__ import annotations

from typing import Self

from dovetail.errors._family import DovetailError


class UnsupportedError(DovetailError):
    """Something that this host cannot do; the message names a host that can."""

    __module__ = "dovetail.errors"  # the public name, in tracebacks and pickles

    @classmethod
    def expression(cls, sql: str, what: str) -> Self:
        """Name the part of an expression that the Arrow host cannot evaluate."""
        return cls(
            f"{what} in {sql!r} is not evaluated on the arrow host. "
            "Hint: pass Spark DataFrames; the spark host takes every expression that Spark takes."
        )

    @classmethod
    def cast(cls, source: str, target: str) -> Self:
        """Name a cast that Spark has and the Arrow host lacks."""
        return cls(
            f"a cast of {source} to {target} is not done on the arrow host. "
            "Hint: pass Spark DataFrames, or cast the column before the join."
        )

    @classmethod
    def unescaped(cls, text: str) -> Self:
        """Refuse a text that a session would read otherwise once it is written again."""
        return cls(
            f"text {text} has an escape, which spark.sql.parser.escapedStringLiterals takes as it stands. "
            "Hint: unset it, or compare with a column that holds the text."
        )

    @classmethod
    def time_zone(cls, text: str) -> Self:
        """Show a timestamp whose zone is a name and not an offset."""
        return cls(f"the time zone of {text!r} is not read on the arrow host. Hint: write an offset, as in '+01:00'.")

    @classmethod
    def long_texts(cls) -> Self:
        """Refuse values that one array cannot hold."""
        return cls(
            "the texts of a column take more than 2 GB; such a column can be carried along, but not read or made. "
            "Hint: pass Spark DataFrames, or compute a shorter column first, such as a hash."
        )

    @classmethod
    def column_type(cls, column: str, arrow_type: str) -> Self:
        """Name a column whose Arrow type has no Spark type."""
        return cls(f"column {column!r} is {arrow_type}, which Spark has no type for. Hint: cast it, or leave it out.")

    @classmethod
    def cannot_leave_spark(cls, column: str, spark_type: str) -> Self:
        """Name a column whose Spark type has no counterpart in Python."""
        return cls(
            f"column {column!r} is {spark_type}, which cannot pass from Spark to Python. "
            "Hint: leave it out, or cast it to a string or a number."
        )

    @classmethod
    def only_by_spark(cls, sql: str) -> Self:
        """Name a part of a condition that only Spark can test, in a join that goes through candidates itself."""
        return cls(
            f"{sql!r} is not supported in a join by time: only Spark itself can test it. "
            "Hint: compute what it compares as columns of plain types first."
        )

    @classmethod
    def collated(cls, column: str, kind: str) -> Self:
        """Name a text that a condition reads, and tasks would compare otherwise than Spark."""
        return cls(
            f"column {column!r} is {kind}; a join of streams compares texts byte by byte. "
            "Hint: compare a column of its own, such as lower(...) COLLATE UTF8_BINARY."
        )

    @classmethod
    def residual_in_ring(cls, sql: str) -> Self:
        """Name a residual that only Spark can test, in a join whose tasks test them."""
        return cls(
            f"{sql!r} is not supported in a ring: only Spark itself can test that part of the condition. "
            "Hint: algorithm='der' or 'spark'."
        )

    @classmethod
    def agg_of_many(cls, what: str) -> Self:
        """Name what cannot be folded over three and more inputs."""
        return cls(
            f"agg over three and more inputs is not supported for {what}; it folds count, sum, avg, min and max of one "
            "input along conditions that form a chain or a star. Hint: join without agg, then group the result."
        )

    @classmethod
    def aggregate_type(cls, text: str, kind: str = "a nested or collated type") -> Self:
        """Name an aggregate over a type that has no order we know."""
        return cls(f"aggregate {text!r} is over {kind}, which is not folded. Hint: cast it to a plain type.")

    @classmethod
    def by_reference(cls, sql: str, what: str) -> Self:
        """Name the part of an expression that the naive reference does not know."""
        return cls(
            f"{what} in {sql!r} is not known to the naive reference. "
            "Hint: compare with Spark's own join, or compute the value as a column first."
        )
