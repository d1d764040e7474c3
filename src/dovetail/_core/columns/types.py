"""Which Arrow types Spark would see, and what Spark calls them.

Every column that enters the core is made canonical once, so that the rooms behind the border know sixteen types and not
sixty. Arrow holds what Spark cannot (unsigned integers, large strings, seconds and nanoseconds); those become the Spark
type that holds every one of their values.

Nanoseconds are the one exception: no Spark type holds them, and `timestamp('ns')` stays as it is, so that no two
different instants become equal. Only of a whole table it can be seen that all are whole microseconds
(`table.Columns.whole`).
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from dovetail._core.columns.long_texts import in_one_array
from dovetail.errors import UsageError

MAX_PRECISION = 38
"""The most digits that a decimal of Spark's has."""
WORD_DIGITS = 18
"""The most digits of a decimal whose unscaled value fits 64 bits, whatever the value."""
MILLIS_PER_DAY = 86_400_000
_FINER = {"s": 1_000_000, "ms": 1000}
"""How many microseconds a tick has."""

NULL = pa.null()
BOOLEAN = pa.bool_()
INT = pa.int32()
BIGINT = pa.int64()
DOUBLE = pa.float64()
STRING = pa.string()
BINARY = pa.binary()
DATE = pa.date32()
TIMESTAMP = pa.timestamp("us", tz="UTC")
TIMESTAMP_NTZ = pa.timestamp("us")
DAY_TIME = pa.duration("us")
# Arrow has no year-month interval that pyarrow can build; the months of this type stand for it, the rest is zero.
YEAR_MONTH = pa.month_day_nano_interval()

_PLAIN = {
    pa.large_string(): STRING,
    pa.string_view(): STRING,
    pa.large_binary(): BINARY,
    pa.binary_view(): BINARY,
    pa.uint8(): pa.int16(),
    pa.uint16(): INT,
    pa.uint32(): BIGINT,
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.date64(): DATE,
}

_UNITS = (
    (pa.types.is_fixed_size_binary, BINARY),
    (pa.types.is_time, pa.time64("us")),
    (pa.types.is_duration, DAY_TIME),
)

_NAMES = {
    NULL: "VOID",
    BOOLEAN: "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    INT: "INT",
    BIGINT: "BIGINT",
    pa.float32(): "FLOAT",
    DOUBLE: "DOUBLE",
    STRING: "STRING",
    BINARY: "BINARY",
    DATE: "DATE",
    pa.time64("us"): "TIME(6)",
    DAY_TIME: "INTERVAL DAY TO SECOND",
    YEAR_MONTH: "INTERVAL YEAR TO MONTH",
}


def canonical(arrow_type: pa.DataType) -> pa.DataType:
    """Return the Arrow type as Spark sees it.

    Parameters
    ----------
    arrow_type
        Any Arrow type. Structs, lists and maps stay as they are; so do decimals of more than 38 digits.

    Examples
    --------
    >>> import pyarrow as pa
    >>> canonical(pa.uint16()), canonical(pa.timestamp("s", tz="Europe/Berlin"))
    (DataType(int32), TimestampType(timestamp[us, tz=UTC]))
    """
    if pa.types.is_dictionary(arrow_type):
        return canonical(arrow_type.value_type)
    if pa.types.is_timestamp(arrow_type):
        return pa.timestamp("ns" if arrow_type.unit == "ns" else "us", tz="UTC" if arrow_type.tz else None)
    if pa.types.is_decimal(arrow_type):
        return _canonical_decimal(arrow_type)
    for belongs, target in _UNITS:
        if belongs(arrow_type):
            return target
    return _PLAIN.get(arrow_type, arrow_type) if _has_hash(arrow_type) else arrow_type


def canonicalise(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return one array of the canonical type with the same values.

    Parameters
    ----------
    array
        An array or a chunked array of any type.

    Notes
    -----
    Timestamps of nanoseconds stay such (with zone 'UTC' if they had any zone). Times and durations finer than a
    microsecond are refused, and so is a moment so far away that Spark has no value for it.

    Examples
    --------
    >>> import pyarrow as pa
    >>> canonicalise(pa.chunked_array([pa.array([1], pa.uint8()), pa.array([2], pa.uint8())])).type
    DataType(int16)
    """
    whole = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if pa.types.is_dictionary(whole.type):
        with in_one_array():
            return canonicalise(whole.dictionary_decode())
    target = canonical(whole.type)
    if whole.type == target:
        return whole
    _refuse_far(whole, target)
    if (pa.types.is_time64(whole.type) or pa.types.is_duration(whole.type)) and whole.type.unit == "ns":
        _refuse_fine(whole, target)
    with in_one_array():
        return whole.cast(target, safe=False)


def sql_name(arrow_type: pa.DataType) -> str:
    """Return Spark's name of a canonical type, for messages."""
    if pa.types.is_decimal(arrow_type):
        return f"DECIMAL({arrow_type.precision},{arrow_type.scale})"
    if pa.types.is_timestamp(arrow_type):
        return "TIMESTAMP" if arrow_type.tz else "TIMESTAMP_NTZ"
    if pa.types.is_struct(arrow_type):
        fields = ", ".join(f"{field.name}: {sql_name(field.type)}" for field in arrow_type)
        return f"STRUCT<{fields}>"
    if pa.types.is_list(arrow_type) or pa.types.is_large_list(arrow_type):
        return f"ARRAY<{sql_name(arrow_type.value_type)}>"
    if pa.types.is_map(arrow_type):
        return f"MAP<{sql_name(arrow_type.key_type)}, {sql_name(arrow_type.item_type)}>"
    return _NAMES.get(arrow_type, str(arrow_type).upper()) if _has_hash(arrow_type) else str(arrow_type)


def _has_hash(arrow_type: pa.DataType) -> bool:
    """Say whether the type can be looked up; extension types of a user's own may not."""
    return type(arrow_type).__hash__ is not None


def family(arrow_type: pa.DataType) -> str:
    """Return the kind of a canonical type: 'integer', 'float', 'decimal', 'string', 'date', 'stamp' and so on."""
    for name, belongs in _FAMILIES:
        if belongs(arrow_type):
            return name
    return "other"


def is_number(arrow_type: pa.DataType) -> bool:
    """Say whether the type is an integer, a float or a decimal."""
    return family(arrow_type) in {"integer", "float", "decimal"}


def is_moment(arrow_type: pa.DataType) -> bool:
    """Say whether the type is a date or a timestamp with or without zone."""
    return family(arrow_type) in {"date", "stamp"}


def is_interval(arrow_type: pa.DataType) -> bool:
    """Say whether the type is one of the two ANSI intervals."""
    return family(arrow_type) in {"day_time", "year_month"}


def _canonical_decimal(arrow_type: pa.DataType) -> pa.DataType:
    scale = max(arrow_type.scale, 0)
    precision = arrow_type.precision - min(arrow_type.scale, 0)
    return pa.decimal128(precision, scale) if precision <= MAX_PRECISION else arrow_type


def is_of_nanoseconds(arrow_type: pa.DataType) -> bool:
    """Say whether the type is a timestamp finer than Spark's."""
    return bool(pa.types.is_timestamp(arrow_type)) and arrow_type.unit == "ns"


def in_microseconds(array: pa.Array) -> bool:
    """Say whether all timestamps of nanoseconds are whole microseconds."""
    ticks = array.cast(BIGINT)
    return not pc.any(pc.not_equal(ticks, pc.multiply(pc.divide(ticks, 1000), 1000))).as_py()


def _refuse_fine(array: pa.Array, target: pa.DataType) -> None:
    """Refuse nanoseconds that the canonical type would cut off."""
    if not in_microseconds(array):
        raise UsageError.fine_time(str(array.type), sql_name(target))


def _refuse_far(array: pa.Array, target: pa.DataType) -> None:
    """Refuse moments whose number in the canonical type is out of its range."""
    if pa.types.is_date64(array.type):
        limit = MILLIS_PER_DAY << 31
    elif pa.types.is_timestamp(array.type):
        limit = (1 << 63) // _FINER.get(array.type.unit, 1)
    else:
        return
    ends = [end.as_py() for end in pc.min_max(array.cast(BIGINT)).values()]
    for value in ends:
        if value is not None and not -limit <= value < limit:
            raise UsageError.far_moment(value, str(array.type), sql_name(target))


_FAMILIES = (
    ("null", pa.types.is_null),
    ("boolean", pa.types.is_boolean),
    ("integer", pa.types.is_signed_integer),
    ("float", pa.types.is_floating),
    ("decimal", pa.types.is_decimal),
    ("string", pa.types.is_string),
    ("binary", pa.types.is_binary),
    ("date", pa.types.is_date32),
    ("stamp", pa.types.is_timestamp),
    ("time", pa.types.is_time64),
    ("day_time", pa.types.is_duration),
    ("year_month", pa.types.is_interval),
    ("struct", pa.types.is_struct),
    ("list", lambda arrow_type: pa.types.is_list(arrow_type) or pa.types.is_large_list(arrow_type)),
    ("map", pa.types.is_map),
)
