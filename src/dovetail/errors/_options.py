"""What is wrong with an option, whichever join is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from dovetail.errors._family import DovetailError
from dovetail.errors._wording import did_you_mean, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable


_ELSEWHERE = {"by": "keys", "strategy": "direction"}
"""What pandas and Polars call an option."""


class OfOptions(DovetailError):
    """Options that a join does not have, and values that an option does not take."""

    @classmethod
    def unknown_option(cls, name: str, got: object, function: str, known: Iterable[str]) -> Self:
        """Name an option that a join does not have; whatever else is named is an input."""
        names = list(known)
        other = _ELSEWHERE.get(name)
        hint = f" Hint: it is called {other!r} here." if other in names else did_you_mean(name, names)
        hint = hint or " Hint: inputs are Spark, Arrow, pandas, Polars or DuckDB frames."
        return cls(f"{name}={got!r} is neither an option of {function} nor an input; it has {quoted(names)}.{hint}")

    @classmethod
    def mixed_options(cls, given: Iterable[str], joins: Iterable[str]) -> Self:
        """Say that no join takes all of some options."""
        return cls(f"no join takes {quoted(given)} together; known are {quoted(joins)}. Hint: explain one of them.")

    @classmethod
    def unknown_choice(cls, what: str, got: object, known: Iterable[str]) -> Self:
        """Name an option's value that does not exist."""
        names = list(known)
        return cls(f"{what} {got!r} is not known; it is one of {quoted(names)}.{did_you_mean(str(got), names)}")

    @classmethod
    def no_flag(cls, option: str, got: object) -> Self:
        """Refuse what is neither yes nor no."""
        return cls(f"{option} is {got!r}; it is True or False. Hint: {option}=True, or leave it out.")

    @classmethod
    def no_path(cls, option: str, got: object) -> Self:
        """Refuse what names no place in the file system."""
        return cls(f"{option} is {got!r}; it is a path. Hint: {option}='a/folder/name', or a pathlib.Path.")
