"""Spark's types and values as Arrow's, and back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    CalendarIntervalType,
    CharType,
    DayTimeIntervalType,
    GeographyType,
    GeometryType,
    MapType,
    StructField,
    StructType,
    TimeType,
    UserDefinedType,
    VarcharType,
    VariantType,
    YearMonthIntervalType,
)

from dovetail._core.columns.order_keys import order_keys
from dovetail._core.columns.types import sql_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Column
    from pyspark.sql.types import DataType

_ARROW: dict[str, pa.DataType] = {
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
}
_STAYING = (CalendarIntervalType, CharType, TimeType, VarcharType, YearMonthIntervalType)
_SEALED = (GeographyType, GeometryType, UserDefinedType, VariantType)
_WIDTHS = {"string": 32, "binary": 32}
_WIDE = 64
MICROS = 1_000_000
_EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"


def arrow_type(kind: DataType) -> pa.DataType | None:
    """The Arrow type of a Spark type that has an order we know; None for any other."""
    name = kind.simpleString()
    if isinstance(kind, DayTimeIntervalType):
        return pa.duration("us")
    decimal = re.fullmatch(r"decimal\((\d+),(\d+)\)", name)
    if decimal:
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    return _ARROW.get(name)


def parts(kind: DataType) -> Iterator[DataType]:
    """A type, and all that it is made of: its fields', elements' and keys'."""
    yield kind
    if isinstance(kind, StructType):
        inner = [field.dataType for field in kind.fields]
    elif isinstance(kind, MapType):
        inner = [kind.keyType, kind.valueType]
    else:
        inner = [kind.elementType] if isinstance(kind, ArrayType) else []
    for own in inner:
        yield from parts(own)


def leaves(kind: DataType) -> Iterator[DataType]:
    """The types of the values that a value is made of, or its own."""
    return (own for own in parts(kind) if not isinstance(own, (ArrayType, MapType, StructType)))


def can_leave(kind: DataType) -> bool:
    """Whether values of a type can pass from Spark to Python, and NULLs of it be made: Spark 4.3 casts none to TIME."""
    return not any(isinstance(own, _STAYING) or _repeats_names(own) for own in parts(kind))


def _repeats_names(kind: DataType) -> bool:
    """Whether it is a struct two fields of which share a name, which Arrow cannot tell apart."""
    return isinstance(kind, StructType) and len(set(kind.names)) < len(kind.names)


def is_sealed(kind: DataType) -> bool:
    """Whether values of a type are structs to Arrow, or have such in them, though they are none to Spark."""
    return any(isinstance(own, _SEALED) for own in parts(kind))


def can_hash(kind: DataType) -> bool:
    """Whether Spark can hash values of a type."""
    if isinstance(kind, StructType):
        return all(can_hash(field.dataType) for field in kind)
    return can_hash(kind.elementType) if isinstance(kind, ArrayType) else not isinstance(kind, (MapType, VariantType))


def spark_type(kind: pa.DataType) -> str:
    """Spark's name for an Arrow type, whatever the session takes TIMESTAMP for."""
    return sql_name(kind).replace("TIMESTAMP", "TIMESTAMP_LTZ") if getattr(kind, "tz", None) else sql_name(kind)


def width(kind: DataType) -> int:
    """About how many bytes a value takes, for estimates of size."""
    arrow = arrow_type(kind)
    if arrow is None or pa.types.is_null(arrow):
        return _WIDE
    return _WIDTHS.get(kind.simpleString()) or max(1, arrow.bit_width // 8)


def row_width(schema: StructType) -> int:
    """About how many bytes a row takes on its way, likewise."""
    return sum(width(field.dataType) for field in schema.fields)


def literal(value: pa.Scalar) -> Column:
    """An Arrow value as a Spark literal of the same type, exactly."""
    return F.expr(literal_text(value))


def literal_text(value: pa.Scalar) -> str:
    """An Arrow value as Spark SQL of the same type, exactly.

    Dates and timestamps go by their numbers: Spark's reach beyond Python's, which would also pass through a time zone.
    Strings go by their bytes, which need no quoting.
    """
    kind = spark_type(value.type)
    if pa.types.is_date(value.type):
        return f"date_from_unix_date({_number(value)})"
    if pa.types.is_timestamp(value.type):
        return _moment_text(_number(value), zoned=value.type.tz is not None)
    if pa.types.is_string(value.type) or pa.types.is_binary(value.type):
        return f"CAST(X'{value.as_buffer().to_pybytes().hex()}' AS {kind})"  # what is no UTF-8 is a string, too
    if pa.types.is_duration(value.type):
        return _length_text(_number(value))
    return f"CAST('{value.as_py()}' AS {kind})"


def _moment_text(micros: int, *, zoned: bool) -> str:
    return f"timestamp_micros({micros}L)" if zoned else f"({_EPOCH} + {_length_text(micros)})"


def _length_text(micros: int) -> str:
    return f"(INTERVAL '1' MICROSECOND * {micros}L)"


def micros_text(moment: str, kind: pa.DataType) -> str:
    """The microseconds of a timestamp since 1970 as Spark SQL, by no clock but its own."""
    if kind.tz is not None:
        return f"unix_micros({moment})"
    return f"(CAST(CAST({moment} - {_EPOCH} AS INTERVAL SECOND) AS DECIMAL(24, 6)) * {MICROS})"


def _number(value: pa.Scalar) -> int:
    return int(order_keys([pa.array([value], value.type)])[0][0])


def nullable(kind: DataType) -> DataType:
    """A type in which everything may be NULL, however deep."""
    if isinstance(kind, StructType):
        return StructType([StructField(own.name, nullable(own.dataType), nullable=True) for own in kind])
    if isinstance(kind, ArrayType):
        return ArrayType(nullable(kind.elementType), containsNull=True)
    if isinstance(kind, MapType):
        return MapType(nullable(kind.keyType), nullable(kind.valueType), valueContainsNull=True)
    return kind


def schema_of(fields: list[tuple[str, DataType]]) -> StructType:
    """A struct of nullable fields."""
    return StructType([StructField(name, kind, nullable=True) for name, kind in fields])
