"""Who tests the residuals: the task itself where that gives Spark's answer for sure, else Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from dovetail._core.columns.moved import moved_column
from dovetail._core.columns.table import Columns
from dovetail._hosts.spark.types import arrow_type
from dovetail.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql.conf import RuntimeConfig

    from dovetail._core.condition.values import Expression
    from dovetail._hosts.spark.sides import Sides

_COMPARED = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_LOGIC = (exp.And, exp.Or, exp.Not, exp.Paren, exp.Is, exp.Null, exp.Boolean)
_PLAIN = (*_COMPARED, *_LOGIC, exp.Column, exp.Identifier, exp.Literal)
_KNOWN = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.legacy.decimal.retainFractionDigitsOnTruncate": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
}
"""Settings that change what an expression means, as tasks take them to be."""
_ZONE = "spark.sql.session.timeZone"
_DAY = 86_400_000_000
"""Microseconds; Spark adds so many as a day of the session's zone, which may have an hour more or less."""
_UTC = frozenset(("UTC", "Etc/UTC", "GMT", "Z", "+00:00", "UTC+0"))


def task_can_test(sides: Sides) -> bool:
    """Whether tasks can evaluate the residuals as this session's Spark would.

    They know ANSI mode, UTC and Spark's own rules for decimals and texts; with other settings that may matter, or an
    expression or type that they lack, Spark tests the pairs.
    """
    residuals = sides.condition.residuals
    if not residuals:
        return True
    nothing = _no_rows(sides)
    if nothing is None:
        return False
    conf = sides.left.frame.sparkSession.conf
    subtle = [own for own in residuals if not _is_plain(own, nothing)]
    if subtle and any(conf.get(name) != value for name, value in _KNOWN.items()):
        return False
    if other_zone(conf) is not None and any(_speaks_of_time(own, nothing) for own in subtle):
        return False
    try:
        for residual in residuals:
            nothing.boolean(residual)
    except UnsupportedError:
        return False
    return True


def meaning_differs(
    conf: RuntimeConfig, parts: Iterable[Expression], pairs: Iterable[tuple[pa.DataType, pa.DataType]] = ()
) -> tuple[str, str, str] | None:
    """A setting under which tasks would evaluate expressions, or compare types, otherwise than Spark.

    Returns its name, its value, and the one they know.
    """
    computed = not all(_is_exact(own.node) for own in parts)
    cast = [kind for pair in pairs if not _is_alike(*pair) for kind in pair]
    for name, value in _KNOWN.items() if computed or cast else ():
        if conf.get(name) != value:
            return name, str(conf.get(name)), value
    return other_zone(conf) if computed or any(map(pa.types.is_temporal, cast)) else None


def _is_alike(left: pa.DataType, right: pa.DataType) -> bool:
    """Whether values are compared as they are, or as exact numbers: no setting changes what that means."""
    return left == right or all(pa.types.is_integer(own) or pa.types.is_decimal(own) for own in (left, right))


def other_zone(conf: RuntimeConfig) -> tuple[str, str, str] | None:
    """The zone of a session that is not UTC."""
    zone = str(conf.get(_ZONE))
    return None if zone in _UTC else (_ZONE, zone, "UTC")


def _is_exact(node: exp.Expr) -> bool:
    """Whether it is a column, or one plus or minus lengths of less than a day, which no zone changes."""
    found = moved_column(node)
    return found is not None and all(abs(own) < _DAY for own in found.lengths)


def _no_rows(sides: Sides) -> Columns | None:
    """Empty columns of the types that the residuals read; None if one of them has no Arrow type that we know."""
    read = {(c.table, c.name) for own in sides.condition.residuals for c in own.node.find_all(exp.Column)}
    kinds = {
        (side.name, name): arrow_type(side.schema[f"p{i}"].dataType)
        for side in (sides.left, sides.right)
        for i, name in enumerate(side.payload)
        if (side.name, name) in read
    }
    known = {column: pa.nulls(0, kind) for column, kind in kinds.items() if kind is not None}
    return Columns(known, 0) if len(known) == len(kinds) else None


def _is_plain(residual: Expression, columns: Columns) -> bool:
    """Whether it compares columns of one type, or whole numbers, and no more: no setting changes what that means."""
    read = {columns.raw[part.table, part.name].type for part in residual.node.find_all(exp.Column)}
    whole = all(map(pa.types.is_integer, read))
    return (len(read) == 1 or whole) and all(
        isinstance(part, _PLAIN) and (not isinstance(part, exp.Literal) or (whole and part.is_int))
        for part in residual.node.walk()
    )


def _speaks_of_time(residual: Expression, columns: Columns) -> bool:
    """Whether a residual reads a date or time, or makes one."""
    read = {columns.raw[part.table, part.name].type for part in residual.node.find_all(exp.Column)}
    return residual.node.find(exp.Cast, exp.Interval) is not None or any(map(pa.types.is_temporal, read))
