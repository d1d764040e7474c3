"""The naive references against Spark: every expression, every kind of join, every aggregate."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from dovetail.testing import assert_same_rows, naive_aggregate
from dovetail.testing._interpreter import parse, read
from dovetail.testing._sides import side_of
from dovetail.testing._values import to_python
from tests.amount import one_in
from tests.spark_answers import quick, spark_answers, spark_frame
from tests.strategies import HOWS, KINDS, sample

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

D, T = Decimal, dt.datetime
EDGES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "i8": (pa.int8(), [0, 1, -3, None, 5]),
    "i16": (pa.int16(), [1, -2, 3, 5, None]),
    "i32": (pa.int32(), [7, 0, None, -4, 2]),
    "i64": (pa.int64(), [2**53 + 1, -3, 0, None, 10]),
    "f": (pa.float32(), [0.0, -0.0, 1.5, math.nan, None]),
    "d": (pa.float64(), [-0.0, 2.0**53, math.nan, 0.1, None]),
    "a": (pa.decimal128(10, 2), [D(0), D("1.50"), D("-2.25"), None, D("0.01")]),
    "b": (pa.decimal128(12, 4), [D("1.5"), D("0.0001"), None, D(-3), D("2.3333")]),
    "c": (pa.decimal128(38, 10), [D("1.0000000001"), D("1.5"), D(0), D("-7.7"), None]),
    "e": (pa.decimal128(38, 0), [D(1), None, D(2), D(-2), D(0)]),
    "s": (pa.string(), ["", "a", "\U0001f600", "\uffff", None]),
    "y": (pa.binary(), [b"", b"\xff", b"\0", None, b"\x80"]),
    "t": (pa.bool_(), [True, False, None, True, False]),
    "n": (pa.date32(), [dt.date(1970, 1, 1), dt.date(2020, 2, 29), None, dt.date(1582, 10, 10), dt.date(9999, 1, 1)]),
    "z": (pa.timestamp("us", "UTC"), [T(1970, 1, 1), T(2020, 2, 29, 12, 30, 0, 1), T(2, 1, 1), None, T(9999, 1, 1)]),
    "m": (pa.timestamp("us"), [T(2020, 2, 29), T(1970, 1, 1), None, T(2, 1, 1), T(1969, 12, 31, 23, 59, 59, 999999)]),
}
LEFT = pa.table({name: pa.array(values, arrow) for name, (arrow, values) in EDGES.items()})
RIGHT = pa.table({name: pa.array(values[2:] + values[:2], arrow) for name, (arrow, values) in EDGES.items()})

NUMBERS = ["i8", "i16", "i32", "i64", "f", "d", "a", "b", "c", "e"]
MOMENTS = ["n", "z", "m"]
COMPARABLE = [*product(NUMBERS, NUMBERS), *product(MOMENTS, MOMENTS), ("s", "s"), ("y", "y"), ("t", "t")]
LITERALS = ["1", "-3", "2L", "1Y", "100S", "0.5", "0.00001", "2BD", "1.25D", "0.5F", "1e0", "123456789012"]
INTERVALS = [
    "INTERVAL 1 DAY",
    "INTERVAL '2' DAYS",
    "INTERVAL 1 WEEK",
    "INTERVAL '-90' SECOND",
    "INTERVAL 1.5 SECONDS",
    "INTERVAL 3 MICROSECONDS",
    "INTERVAL 1 DAY 2 HOURS",
    "INTERVAL '3 hours'",
]
TEMPLATES: dict[str, tuple[str, list[tuple[str, ...]]]] = {
    "comparisons": ("l.{0} {1} r.{2}", [(a, s, b) for a, b in COMPARABLE for s in ("=", "<", "<=>")]),
    "choices": (
        "{0}",
        [
            (text.format(a, b),)
            for a, b in COMPARABLE
            for text in (
                "least(l.{0}, r.{1}, l.{0})",
                "greatest(l.{0}, r.{1})",
                "coalesce(l.{0}, r.{1})",
                "CASE WHEN l.t THEN l.{0} ELSE r.{1} END",
                "CASE l.{0} WHEN r.{1} THEN 1 WHEN l.{1} THEN 2.5 END",
                "l.{0} IN (r.{1}, l.{1})",
                "l.{0} NOT BETWEEN r.{1} AND l.{1}",
            )
        ],
    ),
    "sums": ("l.{0} {1} r.{2}", [(a, s, b) for a, b in product(NUMBERS, NUMBERS) for s in "+-"]),
    "products": ("l.{0} * r.{1}", [(a, b) for a, b in product(NUMBERS, NUMBERS) if (a, b) != ("i64", "i64")]),
    "quotients": (
        "CASE WHEN r.{2} <> 0 THEN l.{0} {1} r.{2} END",
        [(a, s, b) for a, b in product(NUMBERS, NUMBERS) for s in "/%"],
    ),
    "literals": ("l.{0} {1} {2}", [(a, s, b) for a, b in product(NUMBERS, LITERALS) for s in ("+", "%", "/", "<")]),
    "rounding": ("{0}(l.{1})", list(product(["-", "abs", "floor", "ceil"], NUMBERS))),
    "moments": ("l.{0} {1} {2}", list(product(MOMENTS, "+-", INTERVALS))),
    "distances": ("{1}(l.{0} - r.{2}) < INTERVAL 60 DAYS", list(product(MOMENTS, ["abs", "-", ""], MOMENTS))),
    "others": (
        "{0}",
        [
            (text,)
            for text in (
                "l.n + 1",
                "1 + l.n",
                "l.n - l.i8",
                "l.n >= '2020-01-01'",
                "l.z < DATE '2020-03-01'",
                "l.m = TIMESTAMP '1970-01-01 00:00:00'",
                "l.t AND r.t",
                "l.t OR NOT r.t",
                "NULL AND l.t",
                "l.t IS NOT TRUE",
                "(l.i8, l.s) = (r.i8, r.s)",
                "(l.d, l.s) < (r.d, r.s)",
                "l.i8 NOT IN (1, NULL)",
                "l.y = X'ff'",
                "CAST(l.i64 AS DOUBLE) = l.i64",
                "CAST(l.z AS DATE)",
                "CAST(l.a AS DECIMAL(5,1))",
                "l.a + l.b * 2 - l.i32 / 4",
                "coalesce(NULL, l.i32, 1.5)",
                "INTERVAL 1 DAY = INTERVAL 24 HOURS",
                "-9223372036854775808",
                "99999999999999999999",
                "0.050",
            )
        ],
    ),
}


@pytest.mark.parametrize("group", TEMPLATES)
def test_an_expression_has_sparks_type_and_value(spark: SparkSession, group: str) -> None:
    template, choices = TEMPLATES[group]
    expressions = [template.format(*choice) for choice in choices]
    got = [_naive_values(sql) for sql in expressions]
    want = _spark_values(spark, expressions)
    wrong = [sql for sql, one, other in zip(expressions, got, want, strict=True) if not _same(one, other)]
    assert wrong == []


def _same(one: tuple[str, list[Any]], other: tuple[str, list[Any]]) -> bool:
    try:
        assert_same_rows(list(enumerate(one[1])), list(enumerate(other[1])))
    except AssertionError:
        return False
    return one[0] == other[0]


def _naive_values(sql: str) -> tuple[str, list[Any]]:
    """The type of an expression, and its value for every pair of rows."""
    sides = side_of("l", LEFT), side_of("r", RIGHT)
    term = read(parse(sql), sides)
    pairs = product(sides[0].values, sides[1].values)
    return str(term.kind), [to_python(term.value(pair), term.kind) for pair in pairs]


def _spark_values(spark: SparkSession, expressions: list[str]) -> list[tuple[str, list[Any]]]:
    for name, table in (("l", LEFT), ("r", RIGHT)):
        numbered = table.append_column("row", pa.array(range(len(table)), pa.int32()))
        spark_frame(spark, numbered).createOrReplaceTempView(name)
    with quick(spark):
        batches = [expressions[at : at + 60] for at in range(0, len(expressions), 60)]
        return [answer for batch in batches for answer in _spark_batch(spark, batch)]


def _spark_batch(spark: SparkSession, expressions: list[str]) -> list[tuple[str, list[Any]]]:
    columns = ", ".join(f"({sql}) AS `{at}`" for at, sql in enumerate(expressions))
    frame = spark.sql(f"SELECT {columns}, l.row AS i, r.row AS j FROM l CROSS JOIN r")  # noqa: S608 -- our own
    values = frame.toArrow().sort_by([("i", "ascending"), ("j", "ascending")])
    return [
        (_plain_type(frame.schema[at].dataType.simpleString()), values.column(at).to_pylist())
        for at in range(len(expressions))
    ]


def _plain_type(name: str) -> str:
    """Spark's name of a type; we do not tell finer intervals apart."""
    return "interval day to second" if name.startswith("interval") and name != "interval day" else name


@pytest.mark.parametrize("kind", KINDS)
def test_a_naive_join_is_sparks_join(spark: SparkSession, kind: str) -> None:
    drawn = sample(kind, one_in(4, 48))
    assert {case.how for case in drawn} == set(HOWS)
    wrong = []
    for case, want in zip(drawn, spark_answers(spark, drawn), strict=True):
        try:
            assert_same_rows(case.naive(), want)
        except AssertionError as error:
            wrong.append(f"{case.how} join on {case.on}: {error}")
    assert wrong == []


AGGREGATES = {
    "count(*)": "count(r.row)",
    "count(r.x)": "count(r.x)",
    "min(r.x)": "min(r.x)",
    "max(r.x)": "max(r.x)",
    "sum(r.w)": "sum(r.w)",
    "avg(r.w)": "avg(r.w)",
    "first(r.w)": "min_by(r.w, struct(coalesce(r.x, l.x), r.w))",
    "last(r.w)": "max_by(r.w, struct(coalesce(r.x, l.x), r.w))",
    "first(r.x)": "min_by(r.x, struct(coalesce(r.x, l.x), r.x))",
    "last(r.x)": "max_by(r.x, struct(coalesce(r.x, l.x), r.x))",
}


def test_a_naive_aggregate_is_sparks_aggregate(spark: SparkSession) -> None:
    on = "l.k <=> r.k AND l.x >= r.x"
    select = ", ".join(AGGREGATES.values())
    for case in sample("one_inequality", 40):
        for name, table in (("l", case.left), ("r", case.right)):
            numbered = table.append_column("row", pa.array(range(len(table)), pa.int32()))
            spark_frame(spark, numbered).createOrReplaceTempView(name)
        with quick(spark):
            want = spark.sql(f"SELECT {select} FROM l LEFT JOIN r ON {on} GROUP BY l.row").toArrow()  # noqa: S608 -- ours
        got = naive_aggregate(case.left, case.right, on, {sql: sql for sql in AGGREGATES})
        assert_same_rows([row[case.left.num_columns :] for row in got], want)
