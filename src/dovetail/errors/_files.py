"""What is wrong with a file that is read or written under a name of the caller's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from dovetail.errors._family import DovetailError
from dovetail.errors._wording import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable


class OfFiles(DovetailError):
    """Files that cannot be read or written, and formats that are unknown or do not fit."""

    @classmethod
    def unreadable_file(cls, path: object, why: str) -> Self:
        """Name a file that cannot be read, and why."""
        return cls(f"{str(path)!r} cannot be read: {why}. Hint: check the path and what the file holds.")

    @classmethod
    def open_quote(cls, path: str, line: int) -> Self:
        """Name the line from which on a file is one field."""
        return cls(
            f"{path!r} has a quote in the row of line {line} that nothing closes. "
            "Hint: close it, or double a quote that is part of a field."
        )

    @classmethod
    def unwritable_file(cls, path: object, why: str) -> Self:
        """Name a file that cannot be written, and why."""
        return cls(f"{str(path)!r} cannot be written: {why}; nothing was left there. Hint: choose another place.")

    @classmethod
    def unfit_format(cls, path: object, why: str) -> Self:
        """Name a file whose format cannot hold a result, and why."""
        return cls(
            f"{str(path)!r} cannot be written: {why}; nothing was left there. "
            "Hint: choose another format, such as .parquet, or leave the column out with select."
        )

    @classmethod
    def file_ending(cls, path: object, known: Iterable[str]) -> Self:
        """Name a file whose ending says nothing of its format."""
        return cls(
            f"the format of {str(path)!r} is not known; its ending must be one of {quoted(known)}. "
            "Hint: rename or convert it."
        )
