"""Functions of dates and timestamps, in the time zone UTC."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from dovetail._core.columns import civil
from dovetail._core.columns.cast import cast, micros_of
from dovetail._core.columns.civil import MICROS_PER_DAY, MICROS_PER_SECOND
from dovetail._core.columns.decimals import rebuilt
from dovetail._core.columns.intervals import add_days, by_months
from dovetail._core.columns.lanes import Values, column, present, values
from dovetail._core.columns.scope import Scope, overflown, refused, unsupported
from dovetail._core.columns.types import BIGINT, DATE, INT, TIMESTAMP, family, is_moment, is_number
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dovetail._core.columns.scope import Handler

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
_STEPS = {
    "MICROSECOND": 1,
    "MILLISECOND": 1000,
    "SECOND": MICROS_PER_SECOND,
    "MINUTE": _MICROS_PER_MINUTE,
    "HOUR": _MICROS_PER_HOUR,
    "DAY": MICROS_PER_DAY,
    "WEEK": 7 * MICROS_PER_DAY,
}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
# How the parser spells Spark's default format 'yyyy-MM-dd HH:mm:ss' in unix_timestamp.
_DEFAULT_FORMAT = "%Y-%mstrict-%dstrict %Hstrict:%Mstrict:%Sstrict"
_DEFAULT_SHAPE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$"


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
    if node.args.get("format"):
        raise unsupported(node, "to_date with a format")
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
    if isinstance(node, exp.Extract):
        return node.expression
    found: exp.Expr = node.expressions[-1] if isinstance(node, exp.Anonymous) else node.this
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


def date_add(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate date_add and date_sub, which the parser turns into date_add of days times -1."""
    step = scope.value(node.expression)
    if family(step.type) in {"string", "null"}:
        step = cast(step, INT)
    if family(step.type) != "integer" or step.type == BIGINT or node.args["unit"].name != "DAY":
        raise refused(node, step)
    return add_days(as_date(node, scope.value(node.this)), step, 1)


def month_add(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate add_months."""
    step = scope.value(node.expression)
    if not is_number(step.type) and family(step.type) not in {"string", "null"}:
        raise refused(node, step)
    return by_months(node, as_date(node, scope.value(node.this)), cast(step, INT))


def last_day(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate last_day of the month."""
    array = as_date(node, scope.value(node.this))
    return column(civil.last_day(values(array)), present(array), DATE)


def date_diff(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate datediff of two dates in days; with a unit it is timestampdiff."""
    if node.args.get("unit"):
        return _difference(node, scope, _unwrapped(node.this), _unwrapped(node.expression))
    end, start = (as_date(node, scope.value(part)) for part in (node.this, node.expression))
    return column(values(end).astype(np.int64) - values(start), present(end) & present(start), INT)


def _unwrapped(node: exp.Expr) -> exp.Expr:
    """Take away the conversion to a date that the parser puts around datediff's arguments; Spark keeps the time."""
    inner: exp.Expr = node.this if isinstance(node, exp.TsOrDsToDate) and not node.args.get("safe") else node
    return inner


def stamp_diff(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate timestampdiff: whole units between two timestamps, towards zero."""
    return _difference(node, scope, node.this, node.expression)


def _difference(node: exp.Expr, scope: Scope, end_node: exp.Expr, start_node: exp.Expr) -> pa.Array:
    unit = node.args["unit"].name.upper()
    end, start = (cast(as_stamp(node, scope.value(part)), TIMESTAMP) for part in (end_node, start_node))
    there = present(end) & present(start)
    if unit in _MONTHS:
        months = civil.months_between(values(start), values(end))
        return column(np.trunc(months / _MONTHS[unit]), there, BIGINT)
    if unit not in _STEPS:
        raise unsupported(node, f"timestampdiff in {unit!r}")
    elapsed = values(end) - values(start)
    return column(np.sign(elapsed) * (np.abs(elapsed) // _STEPS[unit]), there, BIGINT)


def stamp_add(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate timestampadd: a timestamp moved by a number of units."""
    unit = node.args["unit"].name.upper()
    stamp, count = as_stamp(node, scope.value(node.this)), scope.value(node.expression)
    if unit not in _STEPS and unit not in _MONTHS:
        raise unsupported(node, f"timestampadd of {unit!r}")
    if not is_number(count.type) and family(count.type) not in {"string", "null"}:
        raise refused(node, count)
    count = cast(count, BIGINT)
    try:
        step = pc.multiply_checked(count, _STEPS.get(unit) or _MONTHS[unit])
        if unit in _MONTHS:
            return by_months(node, stamp, step)
        return pc.add_checked(stamp.view(BIGINT), step).view(stamp.type)
    except pa.ArrowInvalid as error:
        raise overflown(node, stamp.type) from error


def _unix(per_unit: int) -> Handler:
    """Build unix_micros, unix_millis or unix_seconds, which round down."""

    def evaluate(node: exp.Expr, scope: Scope) -> pa.Array:
        array = scope.value(node.this)
        if array.type == DATE:
            raise refused(node, array)
        stamps = as_stamp(node, array)
        return column(values(stamps) // per_unit, present(stamps), BIGINT)

    return evaluate


def unix_timestamp(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate unix_timestamp: whole seconds, cut towards zero; of a string only in the default format."""
    array = scope.value(node.this)
    if family(array.type) == "string":
        given = node.args.get("format")
        if given is not None and given.name != _DEFAULT_FORMAT:
            raise unsupported(node, "unix_timestamp with a format")
        _check_shape(array)
    stamps = as_stamp(node, array)
    micros = values(stamps)
    return column(np.sign(micros) * (np.abs(micros) // MICROS_PER_SECOND), present(stamps), BIGINT)


def _check_shape(array: pa.Array) -> None:
    odd = pc.fill_null(pc.invert(pc.match_substring_regex(array, _DEFAULT_SHAPE)), False)  # noqa: FBT003
    if pc.any(odd).as_py():
        raise UsageError.malformed(array.filter(odd)[0].as_py(), "STRING", "TIMESTAMP in the format yyyy-MM-dd HH:mm:ss")


def unix_date(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate unix_date: days since 1970-01-01."""
    array = scope.value(node.this)
    if array.type != DATE and family(array.type) not in {"string", "null"}:
        raise refused(node, array)
    days = as_date(node, array)
    return column(values(days), present(days), INT)


def date_from_unix_date(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate date_from_unix_date."""
    array = cast(scope.value(node.this), INT)
    return column(values(array), present(array), DATE)


def _stamp_of(per_unit: int) -> Handler:
    """Build timestamp_micros, timestamp_millis or, for whole numbers, timestamp_seconds."""

    def evaluate(node: exp.Expr, scope: Scope) -> pa.Array:
        array = scope.value(node.expressions[0])
        if family(array.type) in {"float", "decimal"} and per_unit == MICROS_PER_SECOND:
            return _stamp_of_fraction(node, array)
        if family(array.type) not in {"integer", "null"}:
            raise refused(node, array)
        try:
            return pc.multiply_checked(cast(array, BIGINT), per_unit).view(TIMESTAMP)
        except pa.ArrowInvalid as error:
            raise overflown(node, TIMESTAMP) from error

    return evaluate


def _stamp_of_fraction(node: exp.Expr, array: pa.Array) -> pa.Array:
    """Take seconds with a fraction; a decimal must not be finer than microseconds."""
    if family(array.type) == "decimal":
        micros = cast(array, pa.decimal128(38, min(array.type.scale, 6)))
        if pc.any(pc.not_equal(cast(micros, array.type), array)).as_py():
            raise overflown(node, TIMESTAMP)
    return cast(array, TIMESTAMP)


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
    exp.TsOrDsAdd: date_add,
    exp.AddMonths: month_add,
    exp.LastDay: last_day,
    exp.DateDiff: date_diff,
    exp.TimestampDiff: stamp_diff,
    exp.TimestampAdd: stamp_add,
    exp.UnixMicros: _unix(1),
    exp.UnixMillis: _unix(1000),
    exp.UnixSeconds: _unix(MICROS_PER_SECOND),
    exp.StrToUnix: unix_timestamp,
    exp.UnixDate: unix_date,
    exp.DateFromUnixDate: date_from_unix_date,
}
NAMED: dict[str, Handler] = {
    "weekday": _WEEKDAY,
    "date_part": extract,
    "datepart": extract,
    "timestamp_micros": _stamp_of(1),
    "timestamp_millis": _stamp_of(1000),
    "timestamp_seconds": _stamp_of(MICROS_PER_SECOND),
}
