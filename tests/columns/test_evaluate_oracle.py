"""Every expression, evaluated by Spark and by us on the same edge values: equal values, equal types, equal refusals.

The expressions stand in `expressions/*.sql`, one to a line; `{a;b} + {c;d}` stands for all four combinations.
"""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
import sqlglot
from pyspark.errors import PySparkException

from dovetail._core.columns.evaluate import evaluate
from dovetail._core.condition.dialect import AsWritten
from dovetail.errors import UnsupportedError, UsageError
from tests.columns.edges import TABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession
    from sqlglot import exp

BATCH = 50


def expressions(*names: str) -> list[str]:
    """The expressions of some files, choices multiplied out."""
    found: list[str] = []
    for name in names:
        text = Path(__file__).parent.joinpath("expressions", f"{name}.sql").read_text(encoding="utf-8")
        for line in text.splitlines():
            pieces = [piece.split(";") for piece in re.split(r"[{}]", line)]
            found += ["".join(choice) for choice in itertools.product(*pieces)]
    return list(dict.fromkeys(found))


ACCEPTED = expressions("comparisons", "logic", "literals", "arithmetic", "casts", "strings", "times")
CLOSE = expressions("close")
REFUSED = expressions("refused_types")
FAILING = expressions("failing")
UNSUPPORTED = expressions("unsupported")


@pytest.fixture(scope="module")
def edges(spark: SparkSession) -> Iterator[SparkSession]:
    # Spark computes a part that two expressions share before it looks at either's guard; alone, a guard guards.
    spark.conf.set("spark.sql.subexpressionElimination.enabled", "false")
    frame = spark.createDataFrame(TABLE)  # which takes every timestamp for one with a zone
    frame.withColumn("nz", frame.nz.cast("timestamp_ntz")).coalesce(1).createOrReplaceTempView("edges")
    yield spark
    spark.conf.unset("spark.sql.subexpressionElimination.enabled")


@pytest.fixture(scope="module")
def answers(edges: SparkSession) -> dict[str, pa.Array]:
    """Spark's answer to every expression that it accepts, fifty to a job."""
    found: dict[str, pa.Array] = {}
    asked = [*ACCEPTED, *CLOSE]
    for start in range(0, len(asked), BATCH):
        batch = asked[start : start + BATCH]
        table = edges.sql(select(*batch)).toArrow()
        found |= {text: table.column(number).combine_chunks() for number, text in enumerate(batch)}
    return found


def select(*texts: str) -> str:
    listed = ", ".join(f"{text} AS c{number}" for number, text in enumerate(texts))
    return f"SELECT {listed} FROM edges"  # noqa: S608 -- our own text


def ours(text: str, table: pa.Table = TABLE) -> pa.Array:
    node = sqlglot.parse_one(text, read=AsWritten)
    return evaluate(node, lambda column: lookup(table, column), table.num_rows)


def lookup(table: pa.Table, column: exp.Column) -> pa.Array:
    """Find `column`, or `struct.field`, which parses as a column of a table."""
    array = table.column(column.parts[0].name).combine_chunks()
    for part in column.parts[1:]:
        fields = [field.name.lower() for field in array.type] if pa.types.is_struct(array.type) else []
        if part.name.lower() not in fields:
            raise UsageError.no_field(part.name, fields)
        array = pc.struct_field(array, fields.index(part.name.lower()))
    return array


def shown(array: pa.Array) -> list[Any]:
    """The values, such that -0.0 differs from 0.0, NaN equals NaN, and no date is too early for Python."""
    if pa.types.is_floating(array.type):
        return [None if one is None else repr(one) for one in array.to_pylist()]
    if pa.types.is_temporal(array.type):
        array = array.view(pa.int32() if pa.types.is_date32(array.type) else pa.int64())
    if pa.types.is_string(array.type):
        array = array.cast(pa.binary())
    return list(array.to_pylist())


def near(one: float | None, other: float | None) -> bool:
    if one is None or other is None or math.isnan(one) or math.isnan(other):
        return repr(one) == repr(other)
    return one == other or abs(one - other) <= 2 * math.ulp(other)


@pytest.mark.parametrize("text", ACCEPTED)
def test_expression_has_sparks_value_and_type(text: str, answers: dict[str, pa.Array]) -> None:
    got, want = ours(text), answers[text]
    assert got.type == want.type
    assert shown(got) == shown(want)


@pytest.mark.parametrize("text", CLOSE)
def test_transcendental_function_is_within_two_units_of_the_last_place(text: str, answers: dict[str, pa.Array]) -> None:
    got, want = ours(text), answers[text]
    assert got.type == want.type
    assert all(near(one, other) for one, other in zip(got.to_pylist(), want.to_pylist(), strict=True))


@pytest.mark.parametrize("text", [*ACCEPTED, *CLOSE])
def test_type_is_known_without_any_row(text: str, answers: dict[str, pa.Array]) -> None:
    got = ours(text, TABLE.slice(0, 0))
    assert (got.type, len(got)) == (answers[text].type, 0)


@pytest.mark.parametrize("text", REFUSED)
def test_types_that_spark_refuses_are_refused_without_any_row(text: str, edges: SparkSession) -> None:
    with pytest.raises(PySparkException):
        edges.sql(select(text))
    with pytest.raises(UsageError, match=r"^[^\n]+$"):
        ours(text, TABLE.slice(0, 0))


@pytest.mark.parametrize("text", FAILING)
def test_values_that_spark_refuses_are_refused_where_there_are_rows(text: str, edges: SparkSession) -> None:
    with pytest.raises(PySparkException):
        edges.sql(select(text)).collect()
    assert len(ours(text, TABLE.slice(0, 0))) == 0
    with pytest.raises(UsageError, match=r"^[^\n]+$"):
        ours(text)


@pytest.mark.parametrize("text", UNSUPPORTED)
def test_what_is_not_evaluated_is_named_before_there_is_any_row(text: str) -> None:
    with pytest.raises(UnsupportedError, match=r"^[^\n]+$"):
        ours(text, TABLE.slice(0, 0))
