"""What is wrong with the windows of a window join."""

from __future__ import annotations

from typing import Self

from dovetail.errors._family import DovetailError


class OfWindows(DovetailError):
    """Windows that are missing, that nothing describes, or that end before they begin."""

    @classmethod
    def incomplete_window(cls, lacking: str) -> Self:
        """Name an option that a window cannot do without."""
        return cls(f"a window needs {lacking}. Hint: preceding='10 minutes', agg={{'n': 'count(*)'}}.")

    @classmethod
    def no_window(cls, got: object) -> Self:
        """Refuse what describes no window."""
        return cls(
            f"{got!r} describes no window; windows is a list of them, each a dict, and so is agg. "
            "Hint: windows=[{'preceding': '1 hour', 'agg': {'n': 'count(*)'}}]."
        )

    @classmethod
    def reversed_window(cls, preceding: object, following: object) -> Self:
        """Refuse a window that ends before it begins."""
        return cls(
            f"window is empty: preceding {preceding!r} is below minus following {following!r}, so it ends before it "
            "begins. Hint: preceding counts back, following forward; one of them may be negative."
        )
