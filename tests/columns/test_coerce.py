"""Which types Spark compares with which, and in which type: the whole matrix, asked of a real Spark."""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
import sqlglot
from pyspark.errors import PySparkException

from dovetail._core.columns.cast import cast
from dovetail._core.columns.coerce import common_type, comparison_type
from dovetail._core.columns.evaluate import evaluate
from dovetail._core.columns.types import DAY_TIME, TIMESTAMP, TIMESTAMP_NTZ, YEAR_MONTH, sql_name
from dovetail._core.condition.dialect import AsWritten

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FLAT = [
    pa.int8(),
    pa.int16(),
    pa.int32(),
    pa.int64(),
    pa.float32(),
    pa.float64(),
    pa.decimal128(5, 5),
    pa.decimal128(10, 2),
    pa.decimal128(38, 18),
    pa.decimal128(38, 0),
    pa.bool_(),
    pa.date32(),
    TIMESTAMP,
    TIMESTAMP_NTZ,
    pa.binary(),
    pa.string(),
    DAY_TIME,
]
NESTED = [
    YEAR_MONTH,
    pa.struct([("a", pa.int32())]),
    pa.struct([("A", pa.int64())]),
    pa.struct([("b", pa.int64())]),
    pa.struct([("a", pa.string())]),
    pa.struct([("a", pa.decimal128(5, 2))]),
    pa.struct([("a", pa.decimal128(12, 2))]),
    pa.struct([("a", pa.float64())]),
    pa.struct([("a", pa.int32()), ("b", pa.int32())]),
    pa.list_(pa.int32()),
    pa.list_(pa.int64()),
    pa.list_(pa.string()),
    pa.map_(pa.string(), pa.int32()),
]
TYPES = [*FLAT, *NESTED]
PAIRS = list(itertools.combinations_with_replacement(range(len(TYPES)), 2))


@pytest.fixture(scope="module")
def columns(spark: SparkSession) -> SparkSession:
    """A view with one column c0, c1, ... of each type."""
    listed = ", ".join(f"CAST(NULL AS {sql_name(kind)}) AS c{place}" for place, kind in enumerate(TYPES))
    spark.sql(f"SELECT {listed}").createOrReplaceTempView("every_type")
    return spark


def accepts(spark: SparkSession, text: str) -> bool:
    try:
        spark.sql(f"SELECT {text} FROM every_type")  # noqa: S608 -- our own text
    except PySparkException:
        return False
    return True


def test_spark_compares_exactly_the_pairs_that_have_a_comparison_type(columns: SparkSession) -> None:
    spark = {(one, other) for one, other in PAIRS if accepts(columns, f"c{one} = c{other}")}
    ours = {(one, other) for one, other in PAIRS if comparison_type(TYPES[one], TYPES[other]) is not None}
    assert {name_of(pair) for pair in ours ^ spark} == set()


def test_comparison_type_does_not_depend_on_the_side() -> None:
    for one, other in itertools.product(FLAT, repeat=2):
        assert comparison_type(one, other) == comparison_type(other, one)


def name_of(pair: tuple[int, int]) -> str:
    return " = ".join(sql_name(TYPES[place]) for place in pair)


def test_flat_types_meet_in_the_type_of_sparks_coalesce(columns: SparkSession) -> None:
    pairs = [
        (one, other)
        for one, other in itertools.product(range(len(FLAT)), repeat=2)
        if comparison_type(FLAT[one], FLAT[other]) is not None
    ]
    listed = ", ".join(f"coalesce(c{one}, c{other}) AS r{place}" for place, (one, other) in enumerate(pairs))
    schema = columns.sql(f"SELECT {listed} FROM every_type").toArrow().schema  # noqa: S608 -- our own text
    for place, (one, other) in enumerate(pairs):
        assert comparison_type(FLAT[one], FLAT[other]) == schema.field(place).type, name_of((one, other))
        assert common_type([FLAT[one], FLAT[other]]) == schema.field(place).type, name_of((one, other))


TELLING = {
    "i": pa.array([2**53 + 1, 2**63 - 1, 16777217, 0], pa.int64()),
    "f": pa.array([16777216.0, float("nan"), -0.0, 0.1], pa.float32()),
    "g": pa.array([2.0**53, 2.0**63, 0.1, float("nan")], pa.float64()),
    "d": pa.array([Decimal("0.10"), Decimal("99999999.99"), Decimal(0), Decimal("-0.50")], pa.decimal128(10, 2)),
    "w": pa.array([Decimal("1.4"), Decimal("0.5"), Decimal("-0.4"), Decimal("0.1")], pa.decimal128(38, 18)),
    "n": pa.array([Decimal(1), Decimal(2**53 + 1), Decimal(0), Decimal(2**63 - 1)], pa.decimal128(38, 0)),
}


def test_numbers_whose_common_type_rounds_compare_as_in_spark(spark: SparkSession) -> None:
    left, right = (pa.table(TELLING).rename_columns([f"{side}{name}" for name in TELLING]) for side in "lr")
    rows = list(itertools.product(range(left.num_rows), repeat=2))
    table = pa.table(
        {
            **{name: left.column(name).take([one for one, _ in rows]) for name in left.column_names},
            **{name: right.column(name).take([other for _, other in rows]) for name in right.column_names},
        }
    )
    texts = [f"l{one} {sign} r{other}" for one in TELLING for other in TELLING for sign in ("=", "<")]
    frame = spark.createDataFrame(table).coalesce(1)
    want = frame.selectExpr(*texts).toArrow()
    for place, text in enumerate(texts):
        node = sqlglot.parse_one(text, read=AsWritten)
        got = evaluate(node, lambda column: table.column(column.name).combine_chunks(), table.num_rows)
        assert got.to_pylist() == want.column(place).to_pylist(), text


def test_decimals_that_need_more_than_38_digits_lose_fraction_before_they_compare() -> None:
    """Spark rounds here; an exact comparison would not be Spark's answer."""
    met = comparison_type(pa.decimal128(38, 18), pa.decimal128(38, 0))
    assert met == pa.decimal128(38, 0)
    assert cast(pa.array([Decimal("1.4")], pa.decimal128(38, 18)), met).to_pylist() == [Decimal(1)]


def test_null_meets_every_type() -> None:
    assert all(comparison_type(pa.null(), kind) == kind for kind in FLAT)


def test_nanoseconds_meet_other_moments_in_nanoseconds() -> None:
    fine = pa.timestamp("ns", "UTC")
    assert comparison_type(fine, TIMESTAMP) == fine
    assert comparison_type(pa.date32(), pa.timestamp("ns")) == pa.timestamp("ns")
    assert comparison_type(pa.timestamp("ns"), TIMESTAMP) == fine


def test_common_type_goes_from_left_to_right() -> None:
    kinds = [pa.int32(), pa.decimal128(2, 1), pa.string()]
    assert common_type(kinds) == pa.float64()
    assert common_type(reversed(kinds)) == pa.float64()
    assert common_type([kinds[0], kinds[2], kinds[1]]) == pa.decimal128(21, 1)


def test_least_and_greatest_do_not_read_strings() -> None:
    assert common_type([pa.int32(), pa.string()], promote_strings=False) is None
