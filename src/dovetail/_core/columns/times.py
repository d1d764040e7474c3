"""Parts of dates and timestamps, in the time zone UTC: year, hour, EXTRACT, date_trunc and their kin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from dovetail._core.columns import civil
from dovetail._core.columns.cast import cast, micros_of
from dovetail._core.columns.civil import MICROS_PER_DAY, MICROS_PER_SECOND
from dovetail._core.columns.decimals import rebuilt
from dovetail._core.columns.lanes import column, present, values
from dovetail._core.columns.scope import refused, unsupported
from dovetail._core.columns.types import DATE, INT, TIMESTAMP, family, is_interval, is_moment

if TYPE_CHECKING:
    from collections.abc import Callable

    from dovetail._core.columns.lanes import Values
    from dovetail._core.columns.scope import Handler, Scope

    Field = Callable[[Values], Values]

_MICROS_PER_HOUR = 3600 * MICROS_PER_SECOND
_MICROS_PER_MINUTE = 60 * MICROS_PER_SECOND
_TRUNCATIONS = {
    "MICROSECOND": 1,
    "MILLISECOND": 1000,
    "SECOND": MICROS_PER_SECOND,
    "MINUTE": _MICROS_PER_MINUTE,
    "HOUR": _MICROS_PER_HOUR,
    "DAY": MICROS_PER_DAY,
    "DD": MICROS_PER_DAY,
}
_CALENDAR = {
    "WEEK": "week",
    "MONTH": "month",
    "MON": "month",
    "MM": "month",
    "QUARTER": "quarter",
    "YEAR": "year",
    "YYYY": "year",
    "YY": "year",
}


def as_date(node: exp.Expr, array: pa.Array) -> pa.Array:
    """Take a date, a timestamp, a string or NULL for a DATE."""
    if is_moment(array.type) or family(array.type) in {"string", "null"}:
        return cast(array, DATE)
    raise refused(node, array)


def as_stamp(node: exp.Expr, array: pa.Array) -> pa.Array:
    """Take a date, a timestamp, a string or NULL for a timestamp; one without zone stays so."""
    if family(array.type) == "stamp":
        return micros_of(array)
    if array.type == DATE or family(array.type) in {"string", "null"}:
        return cast(array, TIMESTAMP)
    raise refused(node, array)


def to_date(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate to_date, and the conversion that the parser puts around the arguments of year, datediff and others."""
    return as_date(node, scope.value(node.this))


def _of_day(field: Field) -> Handler:
    def evaluate(node: exp.Expr, scope: Scope) -> pa.Array:
        days = as_date(node, scope.value(_argument(node)))
        return column(field(values(days)), present(days), INT)

    return evaluate


def _of_time(field: Field) -> Handler:
    def evaluate(node: exp.Expr, scope: Scope) -> pa.Array:
        stamps = as_stamp(node, scope.value(_argument(node)))
        return column(field(values(stamps)), present(stamps), INT)

    return evaluate


def _argument(node: exp.Expr) -> exp.Expr:
    """Return the one argument of a call, whether the parser knows the function, EXTRACT or only its name."""
    found: exp.Expr = node.this
    if isinstance(node, exp.Extract):
        found = node.expression
    if isinstance(node, exp.Anonymous):
        found = node.expressions[-1]
    return found


def _second_with_fraction(node: exp.Expr, scope: Scope) -> pa.Array:
    stamps = as_stamp(node, scope.value(_argument(node)))
    return rebuilt(values(stamps) % _MICROS_PER_MINUTE, present(stamps), pa.decimal128(8, 6))


_YEAR = _of_day(civil.year_of)
_QUARTER = _of_day(lambda days: (civil.month_of_year(days) + 2) // 3)
_MONTH = _of_day(civil.month_of_year)
_DAY = _of_day(civil.day_of_month)
_DAY_OF_WEEK = _of_day(lambda days: (civil.weekday(days) + 1) % 7 + 1)
_WEEKDAY = _of_day(civil.weekday)
_DAY_OF_YEAR = _of_day(civil.day_of_year)
_WEEK = _of_day(civil.week_of_year)
_HOUR = _of_time(lambda micros: micros % MICROS_PER_DAY // _MICROS_PER_HOUR)
_MINUTE = _of_time(lambda micros: micros % _MICROS_PER_HOUR // _MICROS_PER_MINUTE)
_SECOND = _of_time(lambda micros: micros % _MICROS_PER_MINUTE // MICROS_PER_SECOND)
_EXTRACTS = {
    **dict.fromkeys(("YEAR", "Y", "YEARS", "YR", "YRS"), _YEAR),
    **dict.fromkeys(("QUARTER", "QTR"), _QUARTER),
    **dict.fromkeys(("MONTH", "MON", "MONS", "MONTHS"), _MONTH),
    **dict.fromkeys(("WEEK", "W", "WEEKS"), _WEEK),
    **dict.fromkeys(("DAY", "D", "DAYS"), _DAY),
    **dict.fromkeys(("DAYOFWEEK", "DOW"), _DAY_OF_WEEK),
    **dict.fromkeys(("DAYOFWEEK_ISO", "DOW_ISO"), _of_day(lambda days: civil.weekday(days) + 1)),
    "DOY": _DAY_OF_YEAR,
    **dict.fromkeys(("HOUR", "H", "HOURS", "HR", "HRS"), _HOUR),
    **dict.fromkeys(("MINUTE", "M", "MIN", "MINS", "MINUTES"), _MINUTE),
    **dict.fromkeys(("SECOND", "S", "SEC", "SECONDS", "SECS"), _second_with_fraction),
}


def extract(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate EXTRACT and date_part; seconds carry their fraction."""
    field = node.expressions[0] if isinstance(node, exp.Anonymous) else node.this
    handler = _EXTRACTS.get(field.name.upper())
    if handler is None:
        raise unsupported(node, f"EXTRACT of {field.name}")
    if is_interval(scope.none().value(_argument(node)).type):
        raise unsupported(node, "EXTRACT from an interval")
    return handler(node, scope)


def truncated_stamp(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate date_trunc: always a TIMESTAMP."""
    array = cast(as_stamp(node, scope.value(node.this)), TIMESTAMP)
    unit = node.args["unit"].name.upper()
    micros = values(array)
    if unit in _TRUNCATIONS:
        return column(micros // _TRUNCATIONS[unit] * _TRUNCATIONS[unit], present(array), TIMESTAMP)
    if unit not in _CALENDAR:
        raise unsupported(node, f"date_trunc to {unit!r}")
    days = civil.floor_days(micros // MICROS_PER_DAY, _CALENDAR[unit])
    return column(days * MICROS_PER_DAY, present(array), TIMESTAMP)


def truncated_date(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate trunc: a DATE; units below a week give NULL."""
    array = as_date(node, scope.value(node.this))
    unit = node.args["unit"]
    if not isinstance(unit, exp.Literal):
        raise unsupported(node, "trunc to a unit that is no literal")
    if unit.name.upper() not in _CALENDAR:
        return pa.nulls(scope.rows, DATE)
    return column(civil.floor_days(values(array), _CALENDAR[unit.name.upper()]), present(array), DATE)


HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.TsOrDsToDate: to_date,
    exp.Year: _YEAR,
    exp.Quarter: _QUARTER,
    exp.Month: _MONTH,
    exp.Day: _DAY,
    exp.DayOfMonth: _DAY,
    exp.DayOfWeek: _DAY_OF_WEEK,
    exp.DayOfYear: _DAY_OF_YEAR,
    exp.WeekOfYear: _WEEK,
    exp.Hour: _HOUR,
    exp.Minute: _MINUTE,
    exp.Second: _SECOND,
    exp.Extract: extract,
    exp.TimestampTrunc: truncated_stamp,
    exp.DateTrunc: truncated_date,
}
NAMED: dict[str, Handler] = {"weekday": _WEEKDAY, "date_part": extract, "datepart": extract}
