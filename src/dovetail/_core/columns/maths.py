"""Numeric functions: abs, sign, floor, ceil, round, sqrt, exp, ln, log, power, isnan and shifts.

`exp`, `ln`, `log` and `power` come from the platform's C library; Spark uses Java's StrictMath, and the two may differ
in the last bits of a double. All else is exact.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from dovetail._core.columns import decimals, intervals
from dovetail._core.columns.cast import cast
from dovetail._core.columns.coerce import as_decimal
from dovetail._core.columns.lanes import column, flags, present, values
from dovetail._core.columns.literals import whole_literal
from dovetail._core.columns.scope import overflown, refused, unsupported
from dovetail._core.columns.types import BIGINT, DOUBLE, INT, STRING, family, is_interval, is_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from dovetail._core.columns.lanes import Flags, Values
    from dovetail._core.columns.scope import Handler, Scope

_SYSTEM_DECIMAL = pa.decimal128(38, 18)
_DECIMAL_OF_FLOAT = {32: pa.decimal128(14, 7), 64: pa.decimal128(30, 15)}
_TEN = 10
_BEYOND = 2.0**63
"""The least double above all BIGINTs."""


def _numeric(node: exp.Expr, array: pa.Array) -> pa.Array:
    """Take a number as it is; a string or NULL becomes a DOUBLE."""
    if family(array.type) in {"string", "null"}:
        return cast(array, DOUBLE)
    if not is_number(array.type):
        raise refused(node, array)
    return array


def _double(node: exp.Expr, array: pa.Array) -> pa.Array:
    return cast(_numeric(node, array), DOUBLE)


def absolute(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate abs; the least integer has no counterpart."""
    array = scope.value(node.this)
    if is_interval(array.type):
        backward = values(array) < 0
        turned = intervals.negated(node, pc.if_else(pa.array(backward), array, pa.scalar(None, array.type)))
        return pc.if_else(pa.array(backward), turned, array)
    array = _numeric(node, array)
    if family(array.type) == "decimal":
        numbers = decimals.unscaled(array)
        return _settled(node, array, np.where(numbers < 0, decimals.negated(array), numbers), 0, array.type)
    try:
        return pc.abs_checked(array)
    except pa.ArrowInvalid as error:
        raise overflown(node, array.type) from error


def sign(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate sign: -1.0, 0.0 or 1.0; NaN and -0.0 stay."""
    array = scope.value(node.this)
    numbers = values(array).astype(np.float64) if is_interval(array.type) else values(_double(node, array))
    answer = np.where((numbers == 0) | np.isnan(numbers), numbers, np.sign(numbers))
    return column(answer, present(array), DOUBLE)


def _rounding(upwards: bool) -> Handler:  # noqa: FBT001
    """Build floor or ceil: of a decimal a decimal, of anything else a BIGINT; with digits always a decimal."""

    def evaluate(node: exp.Expr, scope: Scope) -> pa.Array:
        array = scope.value(node.this)
        digits = _digits(node, scope)
        if digits is not None:
            return _to_step(node, _system_decimal(node, array), digits, upwards=upwards)
        array = _numeric(node, array)
        if family(array.type) == "decimal":
            whole = array.type.precision - array.type.scale + (1 if array.type.scale else 0)
            return _to_step(node, array, 0, upwards=upwards, target=pa.decimal128(whole or 1, 0))
        if family(array.type) == "integer":
            return cast(array, BIGINT)
        numbers = (np.ceil if upwards else np.floor)(values(array).astype(np.float64))
        return _whole_doubles(node, numbers, present(array))

    return evaluate


def _whole_doubles(node: exp.Expr, numbers: Values, there: Flags) -> pa.Array:
    """Make BIGINTs of whole doubles; NaN gives zero, and 2**63, which a cast takes, overflows, as in Spark."""
    whole = column(np.where(np.isnan(numbers), 0.0, numbers), there, DOUBLE)
    result = cast(whole, BIGINT, safe=True)
    if result.null_count > whole.null_count or np.any(there & (numbers >= _BEYOND)):
        raise overflown(node, BIGINT)
    return result


def _system_decimal(node: exp.Expr, array: pa.Array) -> pa.Array:
    """Make the decimal that Spark makes of any value for floor and ceil with digits."""
    kind = family(array.type)
    if kind in {"string", "null"}:
        return cast(array, _SYSTEM_DECIMAL)
    if kind == "float":
        return cast(array, _DECIMAL_OF_FLOAT[array.type.bit_width])
    return cast(_numeric(node, array), as_decimal(array.type))


def _to_step(
    node: exp.Expr, array: pa.Array, digits: int, *, upwards: bool, target: pa.DataType | None = None
) -> pa.Array:
    """Go down or up to the next multiple of 10**-digits."""
    target = target or decimals.rounded_type(array.type, digits)
    drop = max(array.type.scale - digits, 0)
    numbers = decimals.wide(decimals.unscaled(array), max(drop, array.type.precision) + 1)
    stepped = -(-numbers // 10**drop) if upwards else numbers // 10**drop
    return _settled(node, array, stepped, drop, target)


def _settled(node: exp.Expr, array: pa.Array, numbers: Values, drop: int, target: pa.DataType) -> pa.Array:
    """Build a decimal from integers of which `drop` digits were dropped, putting back zeros left of the point."""
    scale = array.type.scale - drop
    there = present(array)
    result = decimals.rebuilt(decimals.shifted(numbers, target.scale - scale, 38), there, target)
    if result.null_count > array.null_count:
        raise overflown(node, target)
    return result


def _digits(node: exp.Expr, scope: Scope) -> int | None:
    """Read the second argument of floor, ceil or round, which must be a constant."""
    argument = node.args.get("decimals")
    if argument is None:
        return None
    literal = whole_literal(argument)
    if literal is not None:
        return literal
    if argument.find(exp.Column):
        raise refused(node, scope.value(argument))
    value = cast(replace(scope, rows=1, picked=None).value(argument), INT)
    if not value[0].is_valid:
        raise unsupported(node, "a number of digits that is no literal")
    return int(value[0].as_py())


def rounded(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate round: half away from zero, and the type stays (decimals shrink)."""
    array = _numeric(node, scope.value(node.this))
    digits = _digits(node, scope) or 0
    if family(array.type) == "float":
        return _rounded_doubles(array, digits)
    if family(array.type) == "integer":
        return _rounded_integers(node, array, digits)
    drop = max(array.type.scale - digits, 0)
    numbers = decimals.half_up(decimals.wide(decimals.unscaled(array), max(drop, array.type.precision) + 1), drop)
    return _settled(node, array, numbers, drop, decimals.rounded_type(array.type, digits))


def _rounded_integers(node: exp.Expr, array: pa.Array, digits: int) -> pa.Array:
    if digits >= 0:
        return array
    numbers = decimals.half_up(values(array).astype(object), -digits) * 10**-digits
    bounds = np.iinfo(array.type.to_pandas_dtype())
    if np.any((numbers > bounds.max) | (numbers < bounds.min)):
        raise overflown(node, array.type)
    return column(numbers, present(array), array.type)


def _rounded_doubles(array: pa.Array, digits: int) -> pa.Array:
    """Round the digits that the double is printed with, as Java's BigDecimal does, not its binary value."""
    numbers = values(array).astype(np.float64)
    text = pa.array(np.where(np.isfinite(numbers), numbers, 0.0)).cast(STRING)
    parts = pc.extract_regex(
        text, r"^(?P<sign>-?)(?P<whole>[0-9]+)\.?(?P<fraction>[0-9]*)(?:e(?P<exponent>[+-][0-9]+))?$"
    )
    part = {name: pc.struct_field(parts, name) for name in ("sign", "whole", "fraction", "exponent")}
    mantissa = values(pc.binary_join_element_wise(part["whole"], part["fraction"], "").cast(BIGINT))
    power = _exponent(part["exponent"]) - values(pc.utf8_length(part["fraction"]))
    drop = np.clip(-power - digits, 0, 18)
    kept = (mantissa + _TEN**drop // 2) // _TEN**drop
    shown = pc.binary_join_element_wise(
        part["sign"], pa.array(kept).cast(STRING), pa.array(power + drop).cast(STRING), "e"
    )
    shown = pc.replace_substring_regex(shown, "^(-?)e", "\\1")
    answer = values(shown.cast(DOUBLE)) + 0.0
    return column(np.where(np.isfinite(numbers), answer, numbers), present(array), array.type)


def _exponent(text: pa.Array) -> Values:
    return values(pc.utf8_ltrim(pc.if_else(pc.equal(text, ""), "0", text), "+").cast(BIGINT))


def square_root(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate sqrt; of a negative number NaN."""
    return _applied(node, scope, np.sqrt)


def exponential(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate exp."""
    return _applied(node, scope, np.exp)


def _applied(node: exp.Expr, scope: Scope, function: Callable[[Values], Values]) -> pa.Array:
    array = _double(node, scope.value(node.this))
    with np.errstate(all="ignore"):
        return column(function(values(array)), present(array), DOUBLE)


def natural_log(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate ln; NULL at and below zero."""
    array = _double(node, scope.value(node.this))
    return _logarithm(array, np.log)


def based_log(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate log(base, x) and log2."""
    base, array = _double(node, scope.value(node.this)), _double(node, scope.value(node.expression))
    below = _logarithm(base, np.log)
    above = _logarithm(array, np.log)
    with np.errstate(all="ignore"):
        return column(values(above) / values(below), present(above) & present(below), DOUBLE)


def _log10(node: exp.Expr, scope: Scope) -> pa.Array:
    return _logarithm(_double(node, scope.value(node.expressions[0])), np.log10)


def _logarithm(array: pa.Array, function: Callable[[Values], Values]) -> pa.Array:
    numbers = values(array)
    outside = numbers <= 0
    with np.errstate(all="ignore"):
        return column(function(np.where(outside, 1.0, numbers)), present(array) & ~outside, DOUBLE)


def power(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate power; unlike C, Java has NaN for 1**NaN and for (-1)**Infinity."""
    base, exponent = _double(node, scope.value(node.this)), _double(node, scope.value(node.expression))
    below, above = values(base), values(exponent)
    with np.errstate(all="ignore"):
        answer = np.power(below, above)
    odd = np.isnan(above) | ((np.abs(below) == 1) & np.isinf(above))
    return column(np.where(odd, np.nan, answer), present(base) & present(exponent), DOUBLE)


def is_nan(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate isnan, which is false for NULL."""
    array = _numeric(node, scope.value(node.this))
    array = array if family(array.type) == "float" else cast(array, DOUBLE)
    return flags(np.isnan(values(array)) & present(array), np.ones(scope.rows, dtype=np.bool_))


_SHIFTED = {"integer", "decimal", "float", "string", "null"}


def _shift(shift: Callable[[Values, Values], Values]) -> Handler:
    """Build << or >>: the count is taken modulo the width, as in Java."""

    def evaluate(node: exp.Expr, scope: Scope) -> pa.Array:
        array, count = scope.value(node.this), scope.value(node.expression)
        if not {family(array.type), family(count.type)} <= _SHIFTED:
            raise refused(node, array, count)
        array = array if array.type == BIGINT else cast(array, INT)
        numbers = values(array)
        counts = (values(cast(count, INT)) & (array.type.bit_width - 1)).astype(numbers.dtype)
        return column(shift(numbers, counts), present(array) & present(count), array.type)

    return evaluate


HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.Abs: absolute,
    exp.Sign: sign,
    exp.Floor: _rounding(upwards=False),
    exp.Ceil: _rounding(upwards=True),
    exp.Round: rounded,
    exp.Sqrt: square_root,
    exp.Exp: exponential,
    exp.Ln: natural_log,
    exp.Log: based_log,
    exp.Pow: power,
    exp.IsNan: is_nan,
    exp.BitwiseLeftShift: _shift(np.left_shift),
    exp.BitwiseRightShift: _shift(np.right_shift),
}
NAMED: dict[str, Handler] = {"log10": _log10}
