"""Days and months of the proleptic Gregorian calendar, on whole columns of integers.

A day is its number since 1970-01-01, a month its number since January 1970; NumPy's calendar turns one into the other
for every year that Spark knows, also before the year one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dovetail._core.columns.lanes import Flags, Values

MICROS_PER_SECOND = 1_000_000
MICROS_PER_DAY = 86_400 * MICROS_PER_SECOND
_MONTHS = 12
_MONDAY = 3  # 1970-01-01 was a Thursday, three days after a Monday


def month_of(days: Values) -> Values:
    """Return the month that each day lies in."""
    return days.astype(np.int64).view("M8[D]").astype("M8[M]").astype(np.int64)


def first_day(months: Values) -> Values:
    """Return the first day of each month."""
    return months.astype(np.int64).view("M8[M]").astype("M8[D]").astype(np.int64)


def year_of(days: Values) -> Values:
    """Return the calendar year."""
    return month_of(days) // 12 + 1970


def month_of_year(days: Values) -> Values:
    """Return the month, 1 to 12."""
    return month_of(days) % 12 + 1


def day_of_month(days: Values) -> Values:
    """Return the day, 1 to 31."""
    return days.astype(np.int64) - first_day(month_of(days)) + 1


def day_of_year(days: Values) -> Values:
    """Return the day, 1 to 366."""
    return days.astype(np.int64) - first_day(month_of(days) // 12 * 12) + 1


def weekday(days: Values) -> Values:
    """Return the day of the week, Monday 0 to Sunday 6."""
    return (days.astype(np.int64) + _MONDAY) % 7


def week_of_year(days: Values) -> Values:
    """Return the ISO week, 1 to 53: the week belongs to the year of its Thursday."""
    thursday = days.astype(np.int64) - weekday(days) + 3
    return (day_of_year(thursday) - 1) // 7 + 1


def add_months(days: Values, months: Values) -> Values:
    """Move each day by months; a day that the month lacks becomes its last."""
    target = month_of(days) + months
    start = first_day(target)
    length = first_day(target + 1) - start
    return np.asarray(start + np.minimum(day_of_month(days), length) - 1)


def last_day(days: Values) -> Values:
    """Return the last day of each day's month."""
    return first_day(month_of(days) + 1) - 1


def day_number(year: Values, month: Values, day: Values) -> tuple[Values, Flags]:
    """Return the day of a calendar date and whether there is such a date."""
    months = (year - 1970) * 12 + month - 1
    start = first_day(months)
    real = (month >= 1) & (month <= _MONTHS) & (day >= 1) & (day <= first_day(months + 1) - start)
    return start + day - 1, np.asarray(real, dtype=np.bool_)


def floor_days(days: Values, unit: str) -> Values:
    """Return the first day of the 'week', 'month', 'quarter' or 'year' that each day lies in."""
    if unit == "week":
        return days - weekday(days)
    step = {"month": 1, "quarter": 3, "year": 12}[unit]
    return first_day(month_of(days) // step * step)


def months_between(start: Values, end: Values) -> Values:
    """Return the whole months from one microsecond to another, towards zero."""
    start_day, end_day = start // MICROS_PER_DAY, end // MICROS_PER_DAY
    start_time, end_time = start % MICROS_PER_DAY, end % MICROS_PER_DAY
    # A day that the time of day has not yet completed does not count.
    end_day = (
        end_day - ((end_day > start_day) & (end_time < start_time)) + ((end_day < start_day) & (end_time > start_time))
    )
    packed = (month_of(end_day) - month_of(start_day)) * 32 + day_of_month(end_day) - day_of_month(start_day)
    return np.asarray(np.trunc(packed / 32).astype(np.int64))
