"""Who tests the residuals: the task itself where that gives Spark's answer for sure, else Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from dovetail._core.columns.table import Columns
from dovetail._hosts.spark.types import arrow_type
from dovetail.errors import UnsupportedError

if TYPE_CHECKING:
    from dovetail._hosts.spark.sides import Sides

_COMPARED = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_KNOWN = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
}
"""Settings that change what an expression means, as tasks take them to be."""
_UTC = frozenset(("UTC", "Etc/UTC", "GMT", "Z", "+00:00", "UTC+0"))


def task_can_test(sides: Sides) -> bool:
    """Whether tasks can evaluate the residuals as this session's Spark would.

    They know ANSI mode, UTC and Spark's own rules for decimals and texts; with other settings, or an expression or type
    that they lack, Spark tests the pairs.
    """
    residuals = sides.condition.residuals
    if not residuals:
        return True
    session = sides.left.frame.sparkSession
    if any(session.conf.get(name) != value for name, value in _KNOWN.items()):
        return False
    nothing = _no_rows(sides)
    if nothing is None:
        return False
    if session.conf.get("spark.sql.session.timeZone") not in _UTC and _speaks_of_time(sides, nothing):
        return False
    try:
        for residual in residuals:
            nothing.boolean(residual)
    except UnsupportedError:
        return False
    return True


def _no_rows(sides: Sides) -> Columns | None:
    """Empty columns of the types that the residuals read; None if one of them has no Arrow type that we know."""
    read = {(c.table, c.name) for own in sides.condition.residuals for c in own.node.find_all(exp.Column)}
    arrays = {}
    for side in (sides.left, sides.right):
        for i, name in enumerate(side.payload):
            if (side.name, name) in read:
                kind = arrow_type(side.schema[f"p{i}"].dataType)
                if kind is None:
                    return None
                arrays[side.name, name] = pa.nulls(0, kind)
    return Columns(arrays, 0)


def _speaks_of_time(sides: Sides, columns: Columns) -> bool:
    """Whether a residual reads a date or time, or makes one; two columns of one type are compared in any zone alike."""
    for own in sides.condition.residuals:
        read = {columns.raw[part.table, part.name].type for part in own.node.find_all(exp.Column)}
        pair = isinstance(own.node, _COMPARED) and all(isinstance(part, exp.Column) for part in own.node.args.values())
        if pair and len(read) == 1:
            continue
        if own.node.find(exp.Cast, exp.Interval) or any(map(pa.types.is_temporal, read)):
            return True
    return False
