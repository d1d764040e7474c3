"""Constants and column references: the leaves of an expression, and CAST between types that are written in SQL."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from dovetail._core.columns.cast import cast
from dovetail._core.columns.lanes import constant
from dovetail._core.columns.scope import overflown, refused, text_of, unsupported
from dovetail._core.columns.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    MAX_PRECISION,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    canonicalise,
)
from dovetail._core.condition.dialect import is_lettered
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from dovetail._core.columns.scope import Handler, Scope

_Type = exp.DataType.Type
_TYPES = {
    _Type.TINYINT: pa.int8(),
    _Type.SMALLINT: pa.int16(),
    _Type.INT: INT,
    _Type.BIGINT: BIGINT,
    _Type.FLOAT: pa.float32(),
    _Type.DOUBLE: DOUBLE,
    _Type.TEXT: STRING,
    _Type.VARCHAR: STRING,
    _Type.CHAR: STRING,
    _Type.BOOLEAN: BOOLEAN,
    _Type.DATE: DATE,
    _Type.TIMESTAMP: TIMESTAMP,
    _Type.TIMESTAMPTZ: TIMESTAMP,
    _Type.TIMESTAMPLTZ: TIMESTAMP,
    _Type.TIMESTAMPNTZ: TIMESTAMP_NTZ,
    _Type.BINARY: BINARY,
}
_CALLED_AS_CAST = {
    "bigint": BIGINT,
    "smallint": pa.int16(),
    "tinyint": pa.int8(),
    "binary": BINARY,
    "decimal": pa.decimal128(10, 0),
    "to_timestamp_ntz": TIMESTAMP_NTZ,
}
_WHOLE = {_Type.TINYINT, _Type.SMALLINT, _Type.BIGINT}
_INTEGERS = ((INT, 2**31), (BIGINT, 2**63))


def whole_literal(node: exp.Expr) -> int | None:
    """Return the value of an integer literal, with its sign if one stands before it; None for anything else."""
    bare = node.unnest()
    if isinstance(bare, exp.Neg) and not isinstance(bare.this, exp.Paren):
        value = whole_literal(bare.this)
        return None if value is None else -value
    if is_lettered(bare) and bare.args["to"].this in _WHOLE:
        bare = bare.this
    if isinstance(bare, exp.Literal) and not bare.is_string and bare.name.isdigit():
        return int(bare.name)
    return None


def literal(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate a string or a number as it is written."""
    if node.is_string:
        return constant(node.name, STRING, scope.rows)
    return _number(node, node.name, scope)


def negative_literal(node: exp.Expr, scope: Scope) -> pa.Array | None:
    """Evaluate a minus and a number as one literal, so that the least integer has a type; None if it is no literal."""
    inner = node.this
    if isinstance(inner, exp.Literal) and not inner.is_string:
        return _number(node, f"-{inner.name}", scope)
    if is_lettered(inner):
        target, text = sql_type(inner.args["to"]), f"-{inner.this.name}"
        if pa.types.is_floating(target):
            return constant(float(text), target, scope.rows)
        if pa.types.is_decimal(target):
            return constant(Decimal(text), target, scope.rows)
        return cast(_number(node, text, scope), target)
    return None


def _number(node: exp.Expr, text: str, scope: Scope) -> pa.Array:
    if "e" in text.lower():
        return constant(float(text), DOUBLE, scope.rows)
    if text.removeprefix("-").isdigit():
        for arrow_type, limit in _INTEGERS:
            if -limit <= int(text) < limit:
                return constant(int(text), arrow_type, scope.rows)
    value = Decimal(text)
    scale = -int(value.as_tuple().exponent)
    precision = max(len(value.as_tuple().digits), scale, 1)
    if precision > MAX_PRECISION:
        raise overflown(node, pa.decimal128(MAX_PRECISION, 0))
    return constant(value, pa.decimal128(precision, scale), scope.rows)


def raw_string(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate r'...', whose backslashes are themselves."""
    return constant(node.name, STRING, scope.rows)


def hex_string(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate X'1F'."""
    digits = node.name
    return constant(bytes.fromhex(digits.zfill(len(digits) + len(digits) % 2)), BINARY, scope.rows)


def boolean(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate TRUE or FALSE."""
    return constant(bool(node.this), BOOLEAN, scope.rows)


def null(_node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate NULL, which has no type yet."""
    return pa.nulls(scope.rows)


def column(node: exp.Expr, scope: Scope) -> pa.Array:
    """Look a column up."""
    assert isinstance(node, exp.Column)
    return scope.column(node)


def paren(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate what stands in parentheses."""
    return scope.value(node.this)


def field(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate struct.name or struct['name']; of a NULL struct every field is NULL."""
    struct = scope.value(node.this)
    name = node.expressions[0] if isinstance(node, exp.Bracket) else node.expression
    if not pa.types.is_struct(struct.type):
        what = "element of an array or map" if pa.types.is_nested(struct.type) else None
        raise unsupported(node, what) if what else refused(node, struct)
    known = [own.name for own in struct.type]
    places = [place for place, own in enumerate(known) if own.lower() == name.name.lower()]
    if len(places) != 1:
        raise UsageError.no_field(name.name, known)
    return canonicalise(pc.struct_field(struct, places))


def sql_type(node: exp.Expr) -> pa.DataType:
    """Return the Arrow type of a type that is written in SQL."""
    if isinstance(node, exp.DataType) and node.this == _Type.DECIMAL:
        return _decimal_type(node)
    if isinstance(node, exp.DataType) and node.this in _TYPES:
        return _TYPES[node.this]
    raise unsupported(node, "the type of a cast")


def _decimal_type(node: exp.DataType) -> pa.DataType:
    """A decimal type of the digits that are written, or of 10; Spark has none of more than 38."""
    sizes = [own.this.name if isinstance(own.this, exp.Literal) else "" for own in node.expressions]
    digits = [int(size) if size.isdigit() else -1 for size in sizes] or [10]
    precision, scale, *more = (*digits, 0) if len(digits) == 1 else digits
    if more or not 0 <= scale <= precision <= MAX_PRECISION or precision == 0:
        raise UsageError.no_decimal(text_of(node))
    return pa.decimal128(precision, scale)


def explicit_cast(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate CAST, TRY_CAST, `::`, typed literals and functions such as int(x), all of which parse alike."""
    # The parser calls every CAST of Spark a TryCast; only a real TRY_CAST is marked as safe.
    return cast(scope.value(node.this), sql_type(node.args["to"]), safe=bool(node.args.get("safe")))


def _named_cast(arrow_type: pa.DataType) -> Handler:
    return lambda node, scope: cast(scope.value(node.expressions[0]), arrow_type)


HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.Literal: literal,
    exp.RawString: raw_string,
    exp.HexString: hex_string,
    exp.Boolean: boolean,
    exp.Null: null,
    exp.Column: column,
    exp.Paren: paren,
    exp.Dot: field,
    exp.Bracket: field,
    exp.Cast: explicit_cast,
    exp.TryCast: explicit_cast,
}
NAMED: dict[str, Handler] = {name: _named_cast(arrow_type) for name, arrow_type in _CALLED_AS_CAST.items()}
