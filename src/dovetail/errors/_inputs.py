"""What is wrong with the frames that a call is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from dovetail.errors._family import DovetailError
from dovetail.errors._wording import an, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable


class OfInputs(DovetailError):
    """Too few frames or too many, frames of another kind, host or session, and frames that fail."""

    @classmethod
    def number_of_inputs(cls, got: int, function: str = "join", *, takes_more: bool = True) -> Self:
        """Refuse fewer inputs than two, or more than a join takes."""
        rule, hint = "two", f"{function}(left, right, on=...)"
        if takes_more:
            rule, hint = "two, or more if each has a name", f"{hint} or {function}(a=..., b=..., c=..., on=...)"
        if got == 1:
            hint += ", by names that no option has"
        return cls(f"{function} got {got} input{'s' * (got != 1)}; it takes {rule}. Hint: {hint}.")

    @classmethod
    def number_of_streams(cls, got: int) -> Self:
        """Refuse fewer streams than two."""
        return cls(
            f"a join of streams got {got} input{'s' * (got != 1)}; it takes two or more. Hint: name each, a=..., b=...."
        )

    @classmethod
    def alike_inputs(cls, names: Iterable[str]) -> Self:
        """Refuse inputs whose names differ in nothing but their case."""
        return cls(f"inputs {quoted(names)} have the same name in SQL, which knows no case. Hint: rename one of them.")

    @classmethod
    def nameless_input(cls) -> Self:
        """Refuse an empty name, which no column can have before it."""
        return cls(
            "the name of an input is ''; a condition speaks of inputs by name. Hint: join(p=..., o=..., on=...)."
        )

    @classmethod
    def no_frame(cls, name: str, got: str) -> Self:
        """Name an input that is no frame."""
        return cls(
            f"input {name!r} is {an(got)}; a join takes Spark, Arrow, pandas, Polars or DuckDB frames. "
            "Hint: pyarrow.table(...) makes one of columns."
        )

    @classmethod
    def unreadable_frame(cls, name: str, reason: str) -> Self:
        """Say why a frame has no counterpart in Arrow."""
        return cls(f"input {name!r} cannot be read as Arrow: {reason}. Hint: cast, rename or drop the column it names.")

    @classmethod
    def failing_frame(cls, name: str, kind: str, error: Exception) -> Self:
        """Pass on, with the input's name, what it ran into when its rows were asked for."""
        reason = next((line.strip().rstrip(".") for line in str(error).splitlines() if line.strip()), "it says no more")
        return cls(
            f"input {name!r}, {an(kind)}, failed when its rows were read: {type(error).__name__}: {reason}. "
            "Hint: compute it by itself first; its own error is the cause of this one."
        )

    @classmethod
    def mixed_hosts(cls, spark: str, other: str, got: str) -> Self:
        """Refuse to join a Spark frame with a local one."""
        return cls(
            f"input {spark!r} is a Spark DataFrame and {other!r}, {an(got)}, is not; both must be. "
            "Hint: spark.createDataFrame(table) brings the other to Spark."
        )

    @classmethod
    def pandas_on_spark(cls, name: str) -> Self:
        """Refuse a frame that only looks like a DataFrame of Spark's."""
        return cls(f"input {name!r} is a pandas-on-Spark frame; a join takes Spark DataFrames. Hint: frame.to_spark().")

    @classmethod
    def stopped_session(cls, name: str) -> Self:
        """Refuse a frame whose session has ended."""
        return cls(f"input {name!r} belongs to a stopped Spark session. Hint: read it again in a new session.")

    @classmethod
    def other_session(cls, name: str, other: str) -> Self:
        """Refuse frames of two sessions."""
        return cls(
            f"inputs {name!r} and {other!r} belong to different Spark sessions. "
            "Hint: read both in one session; within foreachBatch, that is batch.sparkSession."
        )
