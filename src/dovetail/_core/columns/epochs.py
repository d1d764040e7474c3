"""Moments as numbers since 1970 and back: unix_seconds, timestamp_millis, unix_date and their kin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from dovetail._core.columns.cast import cast
from dovetail._core.columns.civil import MICROS_PER_SECOND
from dovetail._core.columns.lanes import column, present, values
from dovetail._core.columns.scope import overflown, refused, unsupported
from dovetail._core.columns.times import as_date, as_stamp
from dovetail._core.columns.types import BIGINT, DATE, INT, TIMESTAMP, family
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from dovetail._core.columns.scope import Handler, Scope

_DEFAULT_FORMAT = "yyyy-MM-dd HH:mm:ss"
_DEFAULT_SHAPE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$"


def _unix(per_unit: int) -> Handler:
    """Build unix_micros, unix_millis or unix_seconds, which round down."""

    def evaluate(node: exp.Expr, scope: Scope) -> pa.Array:
        array = scope.value(node.this)
        if family(array.type) not in {"stamp", "null"}:
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
    odd = pc.fill_null(pc.invert(pc.match_substring_regex(array, _DEFAULT_SHAPE)), False)
    if pc.any(odd).as_py():
        raise UsageError.malformed(array.filter(odd)[0].as_py(), "STRING", f"TIMESTAMP in the format {_DEFAULT_FORMAT}")


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
    exp.UnixMicros: _unix(1),
    exp.UnixMillis: _unix(1000),
    exp.UnixSeconds: _unix(MICROS_PER_SECOND),
    exp.StrToUnix: unix_timestamp,
    exp.UnixDate: unix_date,
    exp.DateFromUnixDate: date_from_unix_date,
}
NAMED: dict[str, Handler] = {
    "timestamp_micros": _stamp_of(1),
    "timestamp_millis": _stamp_of(1000),
    "timestamp_seconds": _stamp_of(MICROS_PER_SECOND),
}
