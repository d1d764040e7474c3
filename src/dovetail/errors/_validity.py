"""What is wrong with a join of rows while they are valid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from dovetail.errors._family import DovetailError
from dovetail.errors._wording import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable


class OfValidity(DovetailError):
    """Windows over time, columns of starts and ends, and rows that end before they start."""

    @classmethod
    def no_validity(cls, ts: object, window: object, valid: object) -> Self:
        """Say what a temporal join must know of its rows."""
        return cls(
            f"temporal_join got ts={ts!r}, window={window!r}, valid={valid!r}; it takes ts and window, or valid. "
            "Hint: ts='ts', window=dv.sliding('10 seconds'), or valid=('start', 'end')."
        )

    @classmethod
    def no_ends(cls, got: object) -> Self:
        """Refuse what names no start and end."""
        return cls(f"valid is {got!r}; it is a pair of columns, the start and the end. Hint: valid=('start', 'end').")

    @classmethod
    def no_time_window(cls, got: object) -> Self:
        """Refuse what is no window over time."""
        return cls(
            f"window is {got!r}; it is one of dv.sliding(...), dv.fixed(...) and dv.unbounded(). "
            "Hint: window=dv.sliding('10 seconds')."
        )

    @classmethod
    def no_window_length(cls, kind: str, got: object) -> Self:
        """Refuse a window over time that no row could stay in."""
        return cls(
            f"{kind} window of {got!r}: its length is a duration or a number above 0. "
            f"Hint: dv.{kind}('10 seconds'), or dv.{kind}(10) on an axis of numbers."
        )

    @classmethod
    def not_for_input(cls, option: str, name: str, given: Iterable[str]) -> Self:
        """Name an input that an option by name leaves out."""
        return cls(f"{option} says nothing of input {name!r}; it names {quoted(given)}. Hint: name every input.")

    @classmethod
    def wide_axis(cls, text: str, kind: str) -> Self:
        """Refuse instants that do not fit 64 bits."""
        return cls(f"{text!r} is {kind}; instants have at most 18 digits. Hint: cast the columns to DECIMAL(18, s).")

    @classmethod
    def ends_before_start(cls, name: str, start: object, end: object) -> Self:
        """Show an interval of validity that is turned round."""
        return cls(
            f"a row of {name!r} ends at {end}, before its start {start}; a row is valid in [start, end). "
            "Hint: swap the two columns, or drop such rows."
        )
