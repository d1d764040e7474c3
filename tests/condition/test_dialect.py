"""What a text means survives our reading it: Spark answers what was written and what we have read alike."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

import dovetail as dv
from dovetail._core.condition.dialect import AsWritten
from dovetail._core.condition.parse import parse_list
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

EXAMPLE = re.compile(r"> SELECT (.*?);\n", re.DOTALL)
NOT_TWICE_ALIKE = re.compile(
    r"rand|uuid|aes_encrypt|shuffle|current|now\(|local|input_file|monotonic|unix_timestamp\(\)|user|curdate|uniform"
)
NO_EXPRESSION = re.compile(r" FROM (?!'|\w+ '|\(?SELECT)|\bFROM VALUES|\bFROM \w+[;)]|OVER \(", re.IGNORECASE)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("date_trunc(u, t)", "DATE_TRUNC(u, t)"),
        ("date_trunc(lower('HOUR'), t)", "DATE_TRUNC(LOWER('HOUR'), t)"),
        ("date_trunc('hour', t)", "DATE_TRUNC('HOUR', t)"),
        ("trunc(d, u)", "TRUNC(d, u)"),
        ("trunc(d, 'month')", "TRUNC(d, 'MONTH')"),
        ("log10(x)", "LOG10(x)"),
        ("log(10, x)", "LOG(10, x)"),
        ("unix_date(d)", "UNIX_DATE(d)"),
        ("array_size(a)", "ARRAY_SIZE(a)"),
        ("named_struct('a b', x)", "NAMED_STRUCT('a b', x)"),
        ("named_struct('a', x)", "STRUCT(x AS a)"),
        ("collate(s, 'UNICODE')", "COLLATE(s, 'UNICODE')"),
        ("s COLLATE UNICODE", "s COLLATE UNICODE"),
        ("time_trunc('HOUR', t)", "TIME_TRUNC('HOUR', t)"),
        ("time_diff('HOUR', t, u)", "TIME_DIFF('HOUR', t, u)"),
        ("instr(s, 'b', 1, 2)", "INSTR(s, 'b', 1, 2)"),
        ("to_char(x, '99')", "TO_CHAR(x, '99')"),
        ("parse_json(s)", "PARSE_JSON(s)"),
        ("TIME'06:30'", "TIME'06:30'"),
        ("CAST(t AS TIME(3))", "CAST(t AS TIME(3))"),
        ("to_date(s)", "TO_DATE(s)"),
        ("to_date(s, 'yyyy-MM-dd')", "TO_DATE(s, 'yyyy-MM-dd')"),
        ("to_timestamp(s, 'd/M/y')", "TO_TIMESTAMP(s, 'd/M/y')"),
        ("unix_timestamp(s, 'y')", "UNIX_TIMESTAMP(s, 'y')"),
        ("from_unixtime(n, 'y')", "FROM_UNIXTIME(n, 'y')"),
        ("date_format(t, 'yyy-MM')", "DATE_FORMAT(t, 'yyy-MM')"),
        ("-128Y", "-128Y"),
        ("p * 5L", "p * 5L"),
        ("1.5bd", "1.5BD"),
        ("CAST(5 AS BIGINT)", "CAST(5 AS BIGINT)"),
        ("2 * INTERVAL 1 DAY 2 HOURS", "2 * (INTERVAL '1' DAY + INTERVAL '2' HOURS)"),
        ("rlike(s, 'a') = b", "(s RLIKE 'a') = b"),
    ],
)
def test_arguments_stay_what_they_are(text: str, read: str) -> None:
    (node,) = parse_list(text)
    assert node.sql(dialect=AsWritten) == read


def test_operators_bind_as_they_do_in_spark(spark: SparkSession) -> None:
    one = pa.table({"a": [9]})
    for text in (
        "6 | 1 & 4",
        "6 & 3 << 1",
        "5 ^ 3 & 1 | 8",
        "16 >> 1 & 8",
        "1 + 1 << 2 - 1",
        "1 || 9 + 1",
        "2 - 1 || '0' - 1",
    ):
        want = _answer(spark, text)
        assert want == _answer(spark, _read(text)), text
        got = dv.join(one, one, on="TRUE", select=f"{text} AS x").column("x").to_pylist()
        assert [(value,) for value in got] == want, text
    assert _answer(spark, "-8 >>> 28 | 1") == _answer(spark, _read("-8 >>> 28 | 1")) == [(15,)]


@pytest.mark.parametrize(
    "text",
    [
        "-128Y",
        "-9223372036854775808L",
        "1e-3BD",
        "CAST(1.123456789012345678 AS DECIMAL(38,18)) * 5L",
        "CAST(1.123456789012345678 AS DECIMAL(38,18)) * CAST(5 AS BIGINT)",
        "2 * INTERVAL 1 DAY 2 HOURS",
        "-INTERVAL 1 DAY 2 HOURS",
        "date_format(DATE'0005-01-02', 'y M')",
        "to_date('20-1-5', 'y-M-d')",
        "to_date('2020-1-5', 'yyyy-MM-dd')",
        "like('ab', 'a_') = TRUE",
        "regexp_like('ab', 'b') = TRUE",
    ],
)
def test_literals_formats_and_calls_mean_the_same_once_read(text: str, spark: SparkSession) -> None:
    assert _answer(spark, _read(text)) == _answer(spark, text)


@pytest.mark.slow
def test_every_example_of_sparks_own_documentation_means_the_same(spark: SparkSession) -> None:
    wrong = {}
    for text in _examples(spark):
        want = _answer(spark, text)
        if want is None:
            continue
        found = _answer(spark, _read(text))
        if repr(found) != repr(want):
            wrong[text] = _read(text)
    assert wrong == {}


def _examples(spark: SparkSession) -> Iterator[str]:
    """The expressions that Spark shows for its functions, each once."""
    seen = set()
    for (name,) in spark.sql("SHOW SYSTEM FUNCTIONS").collect():
        told = "\n".join(row[0] for row in spark.sql(f"DESCRIBE FUNCTION EXTENDED `{name}`").collect())
        seen |= {text for text in EXAMPLE.findall(told) if not NOT_TWICE_ALIKE.search(text)}
    yield from sorted(text for text in seen if not NO_EXPRESSION.search(text))


def _read(text: str) -> str:
    """What Spark is given of a text; nothing if we refuse it, which is no wrong answer."""
    try:
        return ", ".join(node.sql(dialect=AsWritten) for node in parse_list(text))
    except UsageError:
        return text


def _answer(spark: SparkSession, text: str) -> list[tuple[object, ...]] | None:
    try:
        return [tuple(row) for row in spark.sql(f"SELECT {text}").collect()]
    except PySparkException:
        return None
