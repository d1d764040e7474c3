"""What is wrong with a ring of workers, or with the CSV files that it joins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from dovetail.errors._family import DovetailError

if TYPE_CHECKING:
    from collections.abc import Iterable


class OfRings(DovetailError):
    """Too many workers, files that are no tables, and workers that are silent or fail."""

    @classmethod
    def number_of_workers(cls, option: str, got: int, most: int) -> Self:
        """Refuse a ring without a worker, or of more than one machine can run."""
        return cls(f"{option} is {got}; a ring has 1 to {most:,} workers. Hint: as many as there are cores.")

    @classmethod
    def no_table(cls, path: str, reason: str) -> Self:
        """Say why a file cannot be joined."""
        return cls(
            f"{path!r} cannot be joined: {reason}. Hint: a CSV file with a header and the key in the first column."
        )

    @classmethod
    def ragged_rows(cls, path: str, lines: Iterable[int], more: int, columns: int) -> Self:
        """Name the lines whose fields are not as many as the header's."""
        numbers = ", ".join(map(str, lines)) + (f" and {more} more" if more else "")
        return cls(
            f"{path!r} has another number of fields than its header's {columns} in line {numbers}. "
            "Hint: put fields with commas into quotes."
        )

    @classmethod
    def texts_beside(cls, texts: str, others: str, kind: str) -> Self:
        """Refuse keys of files that are texts on one side alone."""
        return cls(
            f"{texts} has fields that are no {kind}, and all of {others} are: such keys cannot be compared. "
            "Hint: the first columns of both files must be of one kind."
        )

    @classmethod
    def no_answer(cls, who: str, seconds: float) -> Self:
        """Say that a worker of a ring is gone, or never came."""
        return cls(
            f"{who} did not answer within {seconds:g} seconds, or hung up; a ring needs all its workers. "
            "Hint: see its own log; on Spark the stage runs again by itself."
        )

    @classmethod
    def worker_failed(cls, rank: int, reason: str) -> Self:
        """Pass on what a worker said last."""
        return cls(f"worker {rank} failed: {reason}. Hint: nothing was written; mend the cause and run it again.")
