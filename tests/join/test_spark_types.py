"""Columns of Spark's other types: compared as Spark does, carried along, or said to stay where they are."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812

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
    "any": "parse_json(concat('{\"v\":', id, '}'))",
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
