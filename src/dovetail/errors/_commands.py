"""What is wrong with a command, or with what it is to show."""

from __future__ import annotations

from typing import Self

from dovetail.errors._family import DovetailError


class OfCommands(DovetailError):
    """Arguments that a command does not take, plans without a picture, and what is not installed."""

    @classmethod
    def bad_call(cls, reason: str, command: str) -> Self:
        """Pass on what is wrong with the arguments of a command."""
        end = "" if reason.endswith((".", "?")) else "."
        return cls(f"{reason[:1].lower()}{reason[1:]}{end} Hint: {command} --help names all that it takes.")

    @classmethod
    def unnamed_aggregate(cls, text: str) -> Self:
        """Show an aggregate without a name or a call."""
        return cls(f"aggregate {text!r} has no name or no call. Hint: --agg 'n=count(*)'.")

    @classmethod
    def nothing_to_draw(cls, algorithm: str) -> Self:
        """Say that a plan has no matrix."""
        return cls(
            f"this plan ({algorithm}) has no join matrix to draw; one needs a comparison and rows on both sides. "
            "Hint: leave the picture out; as text it says the same."
        )

    @classmethod
    def no_data(cls, package: str) -> Self:
        """Say that the lab's real data are missing."""
        return cls(f"the lab needs the data of {package!r}, which is not installed. Hint: pip install {package}.")

    @classmethod
    def no_benchmarks(cls) -> Self:
        """Say that the races are not in the package."""
        return cls("the races are not here; they stand in the repository. Hint: run `dovetail bench` in its folder.")
