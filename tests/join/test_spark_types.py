"""Columns of Spark's other types: compared as Spark does, carried along, or said to stay where they are."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.ml.linalg import Vectors, VectorUDT
from pyspark.sql import functions as F

import dovetail as dv
from dovetail.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

COLUMNS = {
    "id": "id",
    "n": "id % 7",
    "text": "collate(concat(IF(id % 2 = 0, 'A', 'a'), id % 5), 'UTF8_LCASE')",
    "list": "array(id, id % 3)",
    "dict": "map('a', id % 4, 'b', NULL)",
    "nested": "struct(id % 4 AS x, named_struct('y', id % 3, 'z z', array(id)) AS z)",
    "any": "IF(id % 4 = 0, NULL, parse_json(concat('{\"v\":', id, '}')))",
    "span": "make_dt_interval(0, id % 6)",
    "nothing": "NULL",
}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("l.n < r.n AND l.id < 8", {"how": "left"}),
    ("l.n < r.n AND l.id < 8", {"how": "full", "partitions": 3}),
    ("l.text = r.text AND l.n > r.n", {}),
    ("l.text < r.text AND l.id < 5", {"how": "right"}),
    ("collate(CAST(l.n AS STRING), 'UTF8_LCASE') = r.text", {"how": "anti"}),
    ("l.nested.x <= r.nested.z.y AND l.id < 9", {"how": "semi"}),
    ("l.nested = r.nested", {"how": "full", "algorithm": "der"}),
    ("l.list = r.list AND l.n <= r.n", {"how": "left", "algorithm": "replicate"}),
    ("l.n = r.n AND array_contains(l.list, r.id)", {"how": "full"}),
    ("l.n = r.n", {"how": "full", "algorithm": "ring"}),
    ("l.span < r.span AND l.id < 6", {}),
    ("l.dict['a'] > r.dict['a'] AND l.id < 9", {}),
    ("l.nothing < r.id", {"how": "left"}),
]


def _sides(spark: SparkSession, **more: str) -> tuple[DataFrame, DataFrame]:
    columns = [f"{text} AS {name}" for name, text in {**COLUMNS, **more}.items()]
    return spark.range(30).selectExpr(*columns), spark.range(5, 35).selectExpr(*columns)


def _rows(frame: DataFrame) -> list[str]:
    """Every row as a text: not every type comes to Python."""
    told = frame.selectExpr("to_json(struct(*), map('ignoreNullFields', 'false')) AS row").collect()
    return sorted(row.row for row in told)


@pytest.mark.parametrize(("on", "call"), CALLS, ids=[f"{on} {call}" for on, call in CALLS])
def test_columns_of_every_type_reach_the_result(spark: SparkSession, on: str, call: dict[str, Any]) -> None:
    left, right = _sides(spark)
    found = dv.join(left, right, on=on, **call)
    want = left.alias("l").join(right.alias("r"), F.expr(on), call.get("how", "inner")).toDF(*found.columns)
    assert _rows(found) == _rows(want)


def test_a_column_that_cannot_leave_spark_is_joined_there(spark: SparkSession) -> None:
    left, right = _sides(spark, months="array(make_ym_interval(0, CAST(id AS INT)))")
    on = "l.n < r.n AND l.id < 4"
    plan = dv.explain(left, right, on=on)
    assert plan.algorithm == "spark"
    assert "column l.months is array<interval year to month>, which cannot leave Spark" in plan.reason
    found = dv.join(left, right, on=on, how="full")
    assert _rows(found) == _rows(left.alias("l").join(right.alias("r"), F.expr(on), "full").toDF(*found.columns))
    assert dv.explain(left, right, on=on, select="l.id, r.n").algorithm == "broadcast"
    assert dv.join(left, right, on="l.id = r.id", how="full", algorithm="redistribute").count() == 35


@pytest.mark.parametrize("odd", ["array(TIME'10:00:00')", "named_struct('f', id, 'f', id + 1)"])
def test_times_of_day_and_fields_that_share_a_name_stay_in_spark(spark: SparkSession, odd: str) -> None:
    left, right = spark.range(4).selectExpr("id", f"{odd} odd"), spark.range(2, 6).selectExpr("id", f"{odd} odd")
    for on, rows in (("l.id < r.id", 13), ("l.id = r.id", 6)):
        assert len(dv.join(left, right, on=on, how="full").collect()) == rows
    with pytest.raises(UnsupportedError, match=r"column '[lr]\.odd' is .*, which cannot pass from Spark to Python\."):
        dv.asof_join(left, right, on="id")


def test_where_spark_has_no_join_of_its_own_such_a_column_is_refused(spark: SparkSession) -> None:
    left, right = _sides(spark, months="make_ym_interval(0, CAST(id AS INT))")
    message = r"column '[lr]\.months' is interval year to month, which cannot pass from Spark to Python\. Hint: leave"
    refused: list[Callable[[], object]] = [
        partial(dv.asof_join, left, right, on="id"),
        partial(dv.window_join, left, right, on="id", preceding=3, agg={"rows": "count(*)"}),
        partial(dv.join, left, right, on="l.n < r.n", agg={"rows": "count(*)"}, per="l"),
        partial(dv.join, left, right, on="l.n < r.n", algorithm="prefap"),
        partial(dv.join, left, right, on="l.n = r.n", how="full", algorithm="ring"),
        partial(dv.join, left, right, on="l.n = r.n", how="full", algorithm="der"),
    ]
    for call in refused:
        with pytest.raises(UnsupportedError, match=message):
            call()
    assert dv.window_join(left.drop("months"), right, on="id", preceding=3, agg={"rows": "count(*)"}).count() == 30


@pytest.mark.parametrize("algorithm", ["auto", "broadcast", "range"])
def test_structs_that_are_null_though_their_fields_never_are(spark: SparkSession, algorithm: str) -> None:
    rows = spark.sql("SELECT * FROM VALUES (1, named_struct('a', 3)), (2, NULL) AS t(i, s)")
    found = dv.join(rows, rows, on="l.i <= r.i", how="left", algorithm=algorithm)
    want = rows.alias("l").join(rows.alias("r"), F.expr("l.i <= r.i"), "left").toDF("i", "s", "r_i", "r_s")
    assert _rows(found) == _rows(want)


@pytest.mark.parametrize(("on", "algorithm"), [("l.id <= r.id", "auto"), ("l.id = r.id", "replicate")])
@pytest.mark.parametrize("value", ["ST_GeomFromWKB(X'0101000000000000000000F03F0000000000000040')", "vector(id)"])
def test_values_that_are_none_stay_none_whatever_arrow_makes_of_the_others(
    spark: SparkSession, value: str, on: str, algorithm: str
) -> None:
    spark.udf.register("vector", lambda number: Vectors.dense([number]), VectorUDT())
    left = spark.range(4).selectExpr("id", f"IF(id % 2 = 0, NULL, {value}) AS v")
    right = spark.range(2, 5).selectExpr("id", f"array({value}, NULL) AS v").localCheckpoint()
    found = dv.join(left, right, on=on, how="full", algorithm=algorithm)
    want = left.alias("l").join(right.alias("r"), F.expr(on), "full").toDF(*found.columns)
    told = [
        sorted(map(str, frame.selectExpr("id", "v IS NULL", "r_id", "r_v[0] IS NULL").collect()))
        for frame in (found, want)
    ]
    assert told[0] == told[1]


@pytest.mark.parametrize("how", ["inner", "semi", "full"])
@pytest.mark.parametrize("algorithm", ["auto", "range"])
def test_texts_that_are_no_utf8_are_compared_by_their_bytes(spark: SparkSession, how: str, algorithm: str) -> None:
    texts = (
        "SELECT id, CAST(unhex(x) AS STRING) AS s FROM VALUES (1, '61'), (2, 'FF'), (3, 'C328'), (4, '62') AS t(id, x)"
    )
    rows = spark.sql(texts)
    found = dv.join(rows, rows, on="l.s < r.s", how=how, select="l.id", algorithm=algorithm)
    want = rows.alias("l").join(rows.alias("r"), F.expr("l.s < r.s"), how).select("l.id")
    assert _rows(found) == _rows(want)


def test_moments_far_beyond_the_calendar_are_compared(spark: SparkSession) -> None:
    far = spark.sql(
        "SELECT TIMESTAMP_NTZ'1970-01-01' + make_dt_interval(days) AS t FROM VALUES (13880000), (17530000) AS d(days)"
    )
    assert dv.join(far, far, on="l.t < r.t", algorithm="broadcast").count() == 1
    assert dv.join(far, far, on="l.t < r.t", algorithm="range").count() == 1
