"""What Arrow holds and Spark does not: how it becomes what Spark sees."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from sqlglot import exp

from dovetail._core.columns.table import Columns
from dovetail._core.columns.types import TIMESTAMP, TIMESTAMP_NTZ, canonical, canonicalise, sql_name
from dovetail.errors import UnsupportedError, UsageError

CANONICAL = [
    (pa.large_string(), pa.string()),
    (pa.string_view(), pa.string()),
    (pa.large_binary(), pa.binary()),
    (pa.binary(4), pa.binary()),
    (pa.binary_view(), pa.binary()),
    (pa.dictionary(pa.int8(), pa.large_string()), pa.string()),
    (pa.uint8(), pa.int16()),
    (pa.uint16(), pa.int32()),
    (pa.uint32(), pa.int64()),
    (pa.uint64(), pa.decimal128(20, 0)),
    (pa.float16(), pa.float32()),
    (pa.timestamp("s", "Europe/Berlin"), TIMESTAMP),
    (pa.timestamp("ms"), TIMESTAMP_NTZ),
    (pa.timestamp("ns", "Asia/Tokyo"), pa.timestamp("ns", "UTC")),
    (pa.date64(), pa.date32()),
    (pa.decimal256(38, 5), pa.decimal128(38, 5)),
    (pa.decimal256(50, 5), pa.decimal256(50, 5)),
    (pa.decimal128(5, -2), pa.decimal128(7, 0)),
    (pa.time32("s"), pa.time64("us")),
    (pa.duration("ns"), pa.duration("us")),
    (pa.null(), pa.null()),
    (pa.list_(pa.uint8()), pa.list_(pa.uint8())),
]


@pytest.mark.parametrize(("arrow", "spark"), CANONICAL)
def test_canonical_type_is_the_one_spark_sees(arrow: pa.DataType, spark: pa.DataType) -> None:
    assert canonical(arrow) == spark
    assert canonical(spark) == spark


@pytest.mark.parametrize(("arrow", "spark"), CANONICAL)
def test_arrays_are_cast_to_it_even_without_rows(arrow: pa.DataType, spark: pa.DataType) -> None:
    empty = pa.array([], arrow)
    assert canonicalise(empty).type == spark
    assert canonicalise(pa.chunked_array([empty, empty])).type == spark


@pytest.mark.parametrize(
    ("array", "values"),
    [
        (pa.array([0, 2**64 - 1, None], pa.uint64()), [Decimal(0), Decimal(2**64 - 1), None]),
        (pa.array(["a", None, "b"]).dictionary_encode(), ["a", None, "b"]),
        (pa.array([b"ab", None], pa.binary(2)), [b"ab", None]),
        (pa.array([1.5, None], pa.float16()), [1.5, None]),
        (pa.array([Decimal("1.5"), None], pa.decimal256(40, 1)), [Decimal("1.5"), None]),
    ],
)
def test_values_stay(array: pa.Array, values: list[object]) -> None:
    assert canonicalise(array).to_pylist() == values


@pytest.mark.parametrize(
    ("ticks", "told", "kind"),
    [([1000, None, -2000], [1, None, -2], TIMESTAMP), ([1001, None], [1001, None], pa.timestamp("ns", "UTC"))],
)
def test_nanoseconds_of_a_whole_table_are_microseconds_if_no_digit_is_lost(
    ticks: list[int | None], told: list[int | None], kind: pa.DataType
) -> None:
    columns = Columns.whole("l", pa.table({"t": pa.array(ticks, pa.timestamp("ns", "Asia/Tokyo"))}))
    node = exp.column("t", "l")
    assert columns.column(node).type == kind
    assert columns.column(node).cast(pa.int64()).to_pylist() == told
    assert columns.none().column(node).type == kind
    assert columns.take(np.array([1]), [("l", "t")]).beside(Columns({}, 1)).column(node).type == kind


def test_nanoseconds_of_rows_that_others_may_follow_stay() -> None:
    columns = Columns.of("l", pa.table({"t": pa.array([1000], pa.timestamp("ns"))}))
    assert columns.column(exp.column("t", "l")).type == pa.timestamp("ns")


@pytest.mark.parametrize(
    "far",
    [
        pa.array([None, 10**13], pa.timestamp("s")),
        pa.array([-(2**62)], pa.timestamp("ms", "UTC")),
        pa.array([2**31 * 86_400_000], pa.date64()),
    ],
)
def test_moments_that_spark_has_no_value_for_are_refused(far: pa.Array) -> None:
    with pytest.raises(UsageError, match=r"of Arrow's type .* lies beyond what (DATE|TIMESTAMP)\w* can hold. Hint"):
        canonicalise(far)
    canonicalise(far.slice(0, 0))


def test_chunks_are_put_together() -> None:
    assert canonicalise(pa.chunked_array([[1], [2, None]])).to_pylist() == [1, 2, None]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (pa.int64(), "BIGINT"),
        (pa.decimal128(10, 2), "DECIMAL(10,2)"),
        (TIMESTAMP, "TIMESTAMP"),
        (TIMESTAMP_NTZ, "TIMESTAMP_NTZ"),
        (pa.duration("us"), "INTERVAL DAY TO SECOND"),
        (pa.struct([("a", pa.int32()), ("b", pa.list_(pa.string()))]), "STRUCT<a: INT, b: ARRAY<STRING>>"),
        (pa.map_(pa.string(), pa.float64()), "MAP<STRING, DOUBLE>"),
        (pa.null(), "VOID"),
    ],
)
def test_messages_use_sparks_names(kind: pa.DataType, name: str) -> None:
    assert sql_name(kind) == name


def test_texts_that_no_array_of_ours_can_hold_are_refused_in_one_line() -> None:
    size = 3 << 30  # of bytes that nobody touches, and so take no memory
    buffers = [None, pa.py_buffer(np.array([0, size])), pa.py_buffer(np.zeros(size, np.uint8))]
    long = pa.Array.from_buffers(pa.large_string(), 1, buffers)
    with pytest.raises(UnsupportedError, match=r"^the texts of a column .* more than 2 GB; .*Hint: [^\n]+$"):
        canonicalise(long)
