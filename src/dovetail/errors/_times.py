"""What is wrong with a join by time: with the axis, and with distances on it."""

from __future__ import annotations

from typing import Self

from dovetail.errors._family import DovetailError


class OfTimes(DovetailError):
    """Times that have no common axis, offsets and durations that do not fit it, and ties."""

    @classmethod
    def no_pair(cls, option: str, got: object) -> Self:
        """Refuse what names no column of either side."""
        return cls(
            f"{option} is {got!r}; it is one column's name, or a pair of names, left and right. "
            f"Hint: {option}='ts' or {option}=('traded', 'quoted')."
        )

    @classmethod
    def no_names(cls, option: str, got: object) -> Self:
        """Refuse what is neither a name nor a list of names."""
        return cls(
            f"{option} is {got!r}; it is a column's name, or a list of them. "
            f"Hint: {option}='symbol' or {option}=['symbol', 'venue']."
        )

    @classmethod
    def no_axis(cls, text: str, left: str, right: str) -> Self:
        """Refuse times that have no common order."""
        return cls(
            f"{text!r} compares {left} with {right}; an axis is of numbers, dates or timestamps, alike on both sides. "
            "Hint: cast one side."
        )

    @classmethod
    def mixed_zones(cls, text: str) -> Self:
        """Refuse to compare moments with and without a time zone."""
        return cls(
            f"{text!r} compares TIMESTAMP with TIMESTAMP_NTZ; whether they are near depends on a time zone. "
            "Hint: cast one side to the other's type."
        )

    @classmethod
    def no_distance(cls, what: str, text: str, kind: str) -> Self:
        """Refuse to measure on an axis that has only an order."""
        return cls(
            f"{what} measures distances, but {text!r} is {kind}, which has none; an axis with distances is of numbers, "
            "dates or timestamps. Hint: cast the column."
        )

    @classmethod
    def no_offset(cls, option: str, got: object, base: str) -> Self:
        """Refuse what is neither a length of time, nor a number, nor a column."""
        return cls(
            f"{option} {got!r} is no duration, no finite number{f' and no column of {base!r}' if base else ''}. "
            f"Hint: {option}='5 minutes', {option}=2.5{', or the name of a column' if base else ''}."
        )

    @classmethod
    def calendar_duration(cls, text: str) -> Self:
        """Refuse lengths of time that depend on the calendar."""
        return cls(
            f"duration {text!r} has no fixed length; months and years differ. Hint: count days, as in '30 days'."
        )

    @classmethod
    def too_fine(cls, text: str) -> Self:
        """Refuse parts of a nanosecond."""
        return cls(f"duration {text!r} is no whole number of nanoseconds. Hint: write fewer digits.")

    @classmethod
    def needs_duration(cls, option: str, got: float, kind: str) -> Self:
        """Refuse a bare number on an axis of time."""
        return cls(
            f"{option} is the number {got:g}, but the axis is {kind}. Hint: say the unit, as in '{got:g} seconds'."
        )

    @classmethod
    def needs_number(cls, option: str, kind: str) -> Self:
        """Refuse a length of time on an axis of numbers."""
        return cls(f"{option} is a duration, but the axis is {kind}. Hint: give a number in the axis's own unit.")

    @classmethod
    def offset_column(cls, option: str, column: str, axis: str) -> Self:
        """Refuse a column of offsets that does not fit the axis."""
        return cls(
            f"{option} is a column of {column}, but the axis is {axis}; times need INTERVAL DAY TO SECOND, numbers a "
            "number. Hint: make_dt_interval(0, 0, 0, seconds)."
        )

    @classmethod
    def no_fixed_distance(cls, option: str, got: object) -> Self:
        """Refuse a distance that is negative or differs from row to row."""
        return cls(f"{option} is {got!r}; it is one distance for all rows, not negative. Hint: {option}='10 seconds'.")

    @classmethod
    def negative_tolerance(cls, got: object) -> Self:
        """Refuse a tolerance that nothing can keep."""
        return cls(f"tolerance {got!r} is negative; it is a distance. Hint: leave it out to take the nearest at any.")

    @classmethod
    def tied_rows(cls, side: str, rows: int) -> Self:
        """Say that a time does not tell one row from another."""
        return cls(
            f"ties='error': {rows} rows of {side!r} are equally near to one row. "
            "Hint: ties='last' takes the greatest by tie_break, ties='all' keeps them."
        )
