"""The operators + - * / % div, pmod and the bit operators, with Spark's result types and ANSI errors.

Integers keep the wider type and refuse to overflow. Decimals are computed exactly and rounded half up once, to Spark's
result type. Any FLOAT or DOUBLE beside another type makes the whole a DOUBLE. `/` is never an integer division.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from dovetail._core.columns import decimals, intervals
from dovetail._core.columns.cast import cast
from dovetail._core.columns.coerce import as_decimal, number_type, string_meets
from dovetail._core.columns.lanes import column, present, values
from dovetail._core.columns.literals import negative_literal, whole_literal
from dovetail._core.columns.scope import operands, operands_from_right, overflown, refused, text_of
from dovetail._core.columns.types import BIGINT, DOUBLE, INT, NULL, family, is_interval, is_number
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dovetail._core.columns.lanes import Flags, Values
    from dovetail._core.columns.scope import Handler, Scope

    Operation = Callable[[exp.Expr, pa.Array, pa.Array], pa.Array]
    Move = Callable[[exp.Expr, pa.Array, pa.Array, Scope], pa.Array]


def _operands(
    node: exp.Expr, left: pa.Array, right: pa.Array, untyped: pa.DataType = DOUBLE
) -> tuple[pa.Array, pa.Array]:
    """Make numbers of both sides and bring them to one type; decimals keep their own precision and scale."""
    left, right = _numbers(node, left, right, untyped)
    kinds = {family(left.type), family(right.type)}
    if "decimal" in kinds and "float" not in kinds:
        return _as_decimal(node.this, left), _as_decimal(node.expression, right)
    target = number_type(left.type, right.type)
    return cast(left, target), cast(right, target)


def _numbers(node: exp.Expr, left: pa.Array, right: pa.Array, untyped: pa.DataType) -> tuple[pa.Array, pa.Array]:
    """Let a string or a NULL take the type that it meets."""
    soft = [family(side.type) in {"string", "null"} for side in (left, right)]
    if left.type == NULL and right.type == NULL:
        return cast(left, untyped), cast(right, untyped)
    if all(soft) or not all(
        is_number(side.type) for side, yields in zip((left, right), soft, strict=True) if not yields
    ):
        raise refused(node, left, right)
    return _yielding(left, right), _yielding(right, left)


def _yielding(side: pa.Array, other: pa.Array) -> pa.Array:
    if side.type == NULL:
        return cast(side, other.type)
    target = string_meets(other.type) if family(side.type) == "string" else None
    return side if target is None else cast(side, target)


def _as_decimal(node: exp.Expr, array: pa.Array) -> pa.Array:
    """Make a decimal of an integer; a literal takes only the digits that it has."""
    literal = whole_literal(node)
    if literal is not None and family(array.type) == "integer":
        return cast(array, pa.decimal128(len(str(abs(literal))), 0))
    return cast(array, as_decimal(array.type))


def _checked(node: exp.Expr, operation: Callable[..., pa.Array], *sides: pa.Array) -> pa.Array:
    try:
        return operation(*sides)
    except pa.ArrowInvalid as error:
        raise overflown(node, sides[0].type) from error


def _decimal(node: exp.Expr, numbers: Values, there: Flags, scale: int, target: pa.DataType) -> pa.Array:
    """Round exact unscaled results to the target's scale and refuse what does not fit its precision."""
    result = decimals.rebuilt(decimals.shifted(numbers, target.scale - scale, 0), there, target)
    if result.null_count > int((~there).sum()):
        raise overflown(node, target)
    return result


def _aligned(left: pa.Array, right: pa.Array, spare: int = 1) -> tuple[Values, Values, int]:
    """Return both sides' unscaled integers on one scale, with room for a sum."""
    scale = max(left.type.scale, right.type.scale)
    digits = max(left.type.precision - left.type.scale, right.type.precision - right.type.scale) + scale + spare
    sides = [
        decimals.shifted(decimals.wide(decimals.unscaled(side), digits), scale - side.type.scale, side.type.precision)
        for side in (left, right)
    ]
    return sides[0], sides[1], scale


def _there(left: pa.Array, right: pa.Array) -> Flags:
    return np.asarray(present(left) & present(right))


def add(node: exp.Expr, left: pa.Array, right: pa.Array) -> pa.Array:
    """Evaluate + of numbers."""
    left, right = _operands(node, left, right)
    if family(left.type) != "decimal":
        return _checked(node, pc.add_checked, left, right)
    one, other, scale = _aligned(left, right)
    return _decimal(node, one + other, _there(left, right), scale, decimals.sum_type(left.type, right.type))


def subtract(node: exp.Expr, left: pa.Array, right: pa.Array) -> pa.Array:
    """Evaluate - of numbers."""
    left, right = _operands(node, left, right)
    if family(left.type) != "decimal":
        return _checked(node, pc.subtract_checked, left, right)
    one, other, scale = _aligned(left, right)
    return _decimal(node, one - other, _there(left, right), scale, decimals.sum_type(left.type, right.type))


def multiply(node: exp.Expr, left: pa.Array, right: pa.Array) -> pa.Array:
    """Evaluate *."""
    if is_interval(left.type) or is_interval(right.type):
        return intervals.times(node, left, right)
    left, right = _operands(node, left, right)
    if family(left.type) != "decimal":
        return _checked(node, pc.multiply_checked, left, right)
    digits = left.type.precision + right.type.precision
    product = decimals.wide(decimals.unscaled(left), digits) * decimals.wide(decimals.unscaled(right), digits)
    target = decimals.product_type(left.type, right.type)
    return _decimal(node, product, _there(left, right), left.type.scale + right.type.scale, target)


def divide(node: exp.Expr, left: pa.Array, right: pa.Array) -> pa.Array:
    """Evaluate /: a DOUBLE, or a DECIMAL if there is one and the dividend has a type; nothing is divided by zero."""
    if is_interval(left.type):
        return intervals.divided(node, left, right)
    untyped = left.type == NULL
    left, right = _operands(node, left, right)
    if family(left.type) == "decimal" and not untyped:
        return _decimal_quotient(node, left, right)
    left, right = cast(left, DOUBLE), cast(right, DOUBLE)
    below = _divisors(node, values(right), _there(left, right))
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return column(values(left) / below, _there(left, right), DOUBLE)


def _divisors(node: exp.Expr, below: Values, there: Flags) -> Values:
    """Refuse a zero beside a value, and put a one where the result is NULL anyway."""
    if np.any(there & (below == 0)):
        raise UsageError.division_by_zero(text_of(node))
    return np.where(there, below, np.ones(1, dtype=below.dtype))


def _decimal_quotient(node: exp.Expr, left: pa.Array, right: pa.Array) -> pa.Array:
    target = decimals.quotient_type(left.type, right.type)
    below = _divisors(node, decimals.unscaled(right), _there(left, right)).astype(object)
    shift = target.scale - left.type.scale + right.type.scale
    above = decimals.unscaled(left).astype(object)
    above, below = (above * 10**shift, below) if shift >= 0 else (above, below * 10**-shift)
    magnitude = (2 * np.abs(above) + np.abs(below)) // (2 * np.abs(below))
    return _decimal(node, decimals.signed_like(above * below, magnitude), _there(left, right), target.scale, target)


def whole_quotient(node: exp.Expr, left: pa.Array, right: pa.Array) -> pa.Array:
    """Evaluate div: a BIGINT, cut towards zero."""
    if is_interval(left.type) and left.type == right.type:
        left, right = (pa.array(values(side), BIGINT, mask=~present(side)) for side in (left, right))
    left, right = _operands(node, left, right, BIGINT)
    if family(left.type) == "float":
        raise refused(node, left, right)
    if family(left.type) == "decimal":
        return _decimal_whole_quotient(node, left, right)
    left, right = cast(left, BIGINT), cast(right, BIGINT)
    _divisors(node, values(right), _there(left, right))
    return _checked(node, pc.divide_checked, left, right)


def _decimal_whole_quotient(node: exp.Expr, left: pa.Array, right: pa.Array) -> pa.Array:
    one, other, _ = _aligned(left, right)
    other = _divisors(node, other, _there(left, right))
    quotient = decimals.signed_like(one, np.abs(one) // np.abs(other)) * np.sign(other)
    # Beyond 64 bits Spark keeps the low ones.
    wrapped = (quotient.astype(object) + 2**63) % 2**64 - 2**63
    return column(wrapped.astype(np.int64), _there(left, right), BIGINT)


def remainder(node: exp.Expr, left: pa.Array, right: pa.Array) -> pa.Array:
    """Evaluate %: the remainder has the sign of the dividend."""
    left, right = _operands(node, left, right)
    there = _there(left, right)
    if family(left.type) != "decimal":
        below = _divisors(node, values(right), there)
        return column(_remainder(values(left), below), there, left.type)
    one, other, scale = _aligned(left, right)
    other = _divisors(node, other, there)
    return _decimal(node, _remainder(one, other), there, scale, decimals.remainder_type(left.type, right.type))


def _remainder(above: Values, below: Values) -> Values:
    if above.dtype == object:
        return decimals.signed_like(above, np.abs(above) % np.abs(below))
    with np.errstate(invalid="ignore"):
        return np.fmod(above, below)


def positive_remainder(node: exp.Expr, left: pa.Array, right: pa.Array) -> pa.Array:
    """Evaluate pmod: the remainder, moved once by the divisor if it is negative."""
    left, right = _operands(node, left, right)
    there = _there(left, right)
    is_decimal = family(left.type) == "decimal"
    above, below, scale = _aligned(left, right) if is_decimal else (values(left), values(right), 0)
    below = _divisors(node, below, there)
    # Bytes and shorts are widened first: Java adds them as 32-bit integers.
    room = np.int32 if above.dtype.kind == "i" and above.dtype.itemsize < 4 else above.dtype  # noqa: PLR2004
    above, below = above.astype(room), below.astype(room)
    first = _remainder(above, below)
    moved = np.where(first < 0, _remainder(first + below, below), first)
    if is_decimal:
        return _decimal(node, moved, there, scale, decimals.remainder_type(left.type, right.type))
    return column(moved, there, left.type)


def negate(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate a minus before an expression."""
    literal = negative_literal(node, scope)
    if literal is not None:
        return literal
    array = scope.value(node.this)
    if is_interval(array.type):
        return intervals.negated(node, array)
    if family(array.type) in {"string", "null"}:
        array = cast(array, DOUBLE)
    if not is_number(array.type):
        raise refused(node, array)
    if family(array.type) == "decimal":
        return _decimal(node, decimals.negated(array), present(array), array.type.scale, array.type)
    return _checked(node, pc.negate_checked, array)


def _bitwise(name: str) -> Operation:
    def operate(node: exp.Expr, left: pa.Array, right: pa.Array) -> pa.Array:
        left, right = _operands(node, left, right, INT)
        if family(left.type) != "integer":
            raise refused(node, left, right)
        return pc.call_function(name, [left, right])

    return operate


def bitwise_not(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate ~."""
    array = scope.value(node.this)
    array = cast(array, INT) if array.type == NULL else array
    if family(array.type) != "integer":
        raise refused(node, array)
    return pc.bit_wise_not(array)


def _binary(operation: Operation) -> Handler:
    return lambda node, scope: operation(node, *operands(node, scope))


def _moving(move: Move, operation: Operation) -> Handler:
    """Build + or -, which also move moments."""

    def evaluate(node: exp.Expr, scope: Scope) -> pa.Array:
        left, right = operands(node, scope)
        if intervals.involved(left, right):
            return move(node, left, right, scope)
        return operation(node, left, right)

    return evaluate


def _division(operation: Operation) -> Handler:
    return lambda node, scope: operation(node, *operands_from_right(node, scope))


def _pmod(node: exp.Expr, scope: Scope) -> pa.Array:
    left, right = (side.copy() for side in node.expressions)
    return _division(positive_remainder)(exp.Mod(this=left, expression=right), scope)


HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.Add: _moving(intervals.plus, add),
    exp.Sub: _moving(intervals.minus, subtract),
    exp.Mul: _binary(multiply),
    exp.Div: _division(divide),
    exp.IntDiv: _division(whole_quotient),
    exp.Mod: _division(remainder),
    exp.Neg: negate,
    exp.Negative: negate,
    exp.BitwiseAnd: _binary(_bitwise("bit_wise_and")),
    exp.BitwiseOr: _binary(_bitwise("bit_wise_or")),
    exp.BitwiseXor: _binary(_bitwise("bit_wise_xor")),
    exp.BitwiseNot: bitwise_not,
    exp.Interval: intervals.interval,
}
NAMED: dict[str, Handler] = {"pmod": _pmod, "positive": lambda node, scope: scope.value(node.expressions[0])}
