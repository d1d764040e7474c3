"""Steps between moments: date_add, add_months, datediff, timestampadd, timestampdiff and last_day."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from dovetail._core.columns import civil
from dovetail._core.columns.cast import cast
from dovetail._core.columns.civil import MICROS_PER_DAY, MICROS_PER_SECOND
from dovetail._core.columns.intervals import add_days, by_months
from dovetail._core.columns.lanes import column, present, values
from dovetail._core.columns.literals import whole_literal
from dovetail._core.columns.scope import overflown, refused, unsupported
from dovetail._core.columns.times import as_date, as_stamp
from dovetail._core.columns.types import BIGINT, DATE, INT, TIMESTAMP, family, is_number

if TYPE_CHECKING:
    from dovetail._core.columns.scope import Handler, Scope

_STEPS = {
    "MICROSECOND": 1,
    "MILLISECOND": 1000,
    "SECOND": MICROS_PER_SECOND,
    "MINUTE": 60 * MICROS_PER_SECOND,
    "HOUR": 3600 * MICROS_PER_SECOND,
    "DAY": MICROS_PER_DAY,
    "WEEK": 7 * MICROS_PER_DAY,
}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


def date_add(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate date_add and date_sub, which the parser turns into date_add of days times -1."""
    days, sign = node.expression, 1
    if isinstance(days, exp.Mul) and whole_literal(days.expression) == -1:
        days, sign = days.this, -1
    step = scope.value(days)
    if family(step.type) in {"string", "null"}:
        step = cast(step, INT)
    if family(step.type) != "integer" or step.type == BIGINT or node.args["unit"].name != "DAY":
        raise refused(node, step)
    return add_days(as_date(node, scope.value(node.this)), step, sign)


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


HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.TsOrDsAdd: date_add,
    exp.AddMonths: month_add,
    exp.LastDay: last_day,
    exp.DateDiff: date_diff,
    exp.TimestampDiff: stamp_diff,
    exp.TimestampAdd: stamp_add,
}
