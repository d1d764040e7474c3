"""What is wrong with the options of the online engine, or with the rows it is given."""

from __future__ import annotations

from typing import Self

from dovetail.errors._family import DovetailError
from dovetail.errors._wording import an


class OfEngines(DovetailError):
    """Numbers and distances out of range, rows without a time, and windows that reach behind what is kept."""

    @classmethod
    def below_one(cls, option: str, got: object) -> Self:
        """Refuse a number of things below one."""
        return cls(f"{option} is {got!r}; it is a whole number of at least 1. Hint: leave it out.")

    @classmethod
    def too_many_joiners(cls, got: int, most: int) -> Self:
        """Refuse more joiners than one process can hold."""
        return cls(f"joiners is {got}; an engine has 1 to {most:,} joiners. Hint: as many as there are cores.")

    @classmethod
    def no_share(cls, option: str, got: object) -> Self:
        """Refuse a share outside 0 to 1."""
        return cls(f"{option} is {got!r}; it lies between 0 and 1. Hint: leave it out.")

    @classmethod
    def no_hook(cls, option: str, got: object) -> Self:
        """Refuse what cannot be called."""
        return cls(f"{option} is {got!r}; it is called with a side and its rows. Hint: {option}=lambda side, rows: ...")

    @classmethod
    def needs_schema(cls, side: str, got: str) -> Self:
        """Say that the engine must know its columns before the first row."""
        return cls(f"{side} is {an(got)}; the engine needs its schema. Hint: {side}=table.schema, or pa.schema([...]).")

    @classmethod
    def bad_rows(cls, side: str, reason: str) -> Self:
        """Refuse rows that are not of the schema that was told."""
        return cls(f"rows of {side!r} are refused, none is taken: {reason}. Hint: they must fit the engine's schema.")

    @classmethod
    def null_time(cls, side: str, column: str, rows: int) -> Self:
        """Refuse rows without a time."""
        return cls(
            f"{rows} of the rows of {side!r} have no {column!r}, none is taken; every row needs a time. "
            "Hint: filter them out first."
        )

    @classmethod
    def wide_time(cls, side: str, column: str) -> Self:
        """Refuse times whose ticks do not fit 64 bits."""
        return cls(
            f"{column!r} of {side!r} holds a decimal beyond 64 bits of ticks. Hint: fewer digits or a smaller scale."
        )

    @classmethod
    def watermark_back(cls, now: object, got: object) -> Self:
        """Refuse a watermark that runs backwards."""
        return cls(f"watermark {got} lies before {now}, where it is already; it only rises. Hint: leave this call out.")

    @classmethod
    def no_watermark_time(cls, got: object, axis: str) -> Self:
        """Refuse a watermark that is no time."""
        return cls(
            f"watermark is {str(got)[:40]!r}, {an(type(got).__name__)}; it is a time of type {axis}, as rows have it, "
            "within 64 bits of ticks. Hint: advance(the least time that rows to come can have)."
        )

    @classmethod
    def gone(cls, watermark: object) -> Self:
        """Refuse to answer from rows that are no longer there."""
        return cls(
            f"a window reaches behind what is kept, the watermark being {watermark}; rows may be missing there. "
            "Hint: ask sooner, or give the engine a greater lateness or keep."
        )

    @classmethod
    def beyond_keep(cls, got: object) -> Self:
        """Refuse a window that reaches further back than the engine keeps rows."""
        return cls(f"a row's window reaches back further than keep={got!r}. Hint: a greater keep, or a shorter window.")

    @classmethod
    def no_results(cls, number: int, first: object, reason: object) -> Self:
        """Say that rows were taken, but that some that were due have no result; `reason` ends with a hint."""
        some = f"the row {first!r} has" if number == 1 else f"{number} rows, the first of them {first!r}, have"
        return cls(f"the call was carried out, but {some} no result; those of others come with the next call: {reason}")

    @classmethod
    def engine_closed(cls) -> Self:
        """Refuse to use an engine that was closed."""
        return cls("the engine is closed; it takes no more rows. Hint: make another, or restore a snapshot.")
