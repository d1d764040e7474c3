"""Columns and inputs of any name, by every plan: the same rows as Spark's own join."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import dovetail as dv
from dovetail.errors import UsageError
from dovetail.testing import assert_same_rows
from tests.spark_answers import changed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = ["a`b", "a.b", "a b", "select", "ä", "{0}", "it's", 'say "hi"', "x-1", "1", "*", "%s", "a\\b"]
ANY, ALL_ROWS = "`a``b`", {"how": "full"}
PLANS: list[tuple[str, dict[str, Any]]] = [
    ("l.@ < r.@", {}),
    ("l.@ < r.@", ALL_ROWS),
    ("l.@ < r.@ AND l.@ + 2 > r.@", {"partitions": 3}),
    ("l.@ < r.@ AND soundex(l.`a.b`) = soundex(r.`a b`)", ALL_ROWS),
    ("l.@ = r.@", ALL_ROWS),
    ("l.`it's` = r.`it's`", ALL_ROWS),
    *(("l.@ = r.@", {"how": "full", "algorithm": way}) for way in ("ring", "redistribute", "replicate", "der")),
    ("l.@ = r.@", {"how": "anti", "algorithm": "replicate"}),
    ("l.@ <> r.@", {"how": "left"}),
]


def _table(shift: int) -> pa.Table:
    columns: dict[str, Any] = {name: [f"{name}{i + shift}" for i in range(6)] for name in NAMES}
    return pa.table({**columns, "a`b": [shift, 1, 2, None, 4, 4]})


@pytest.mark.parametrize(("on", "call"), PLANS, ids=[f"{on} {call}" for on, call in PLANS])
def test_odd_names_reach_the_result(spark: SparkSession, on: str, call: dict[str, Any]) -> None:
    left, right = (spark.createDataFrame(_table(shift)) for shift in (0, 3))
    how, text = call.get("how", "inner"), on.replace("@", ANY)
    found = dv.join(left, right, on=text, **call)
    ours = NAMES if how == "anti" else NAMES + [f"r_{name}" for name in NAMES]
    assert found.columns == ours
    want = left.alias("l").join(right.alias("r"), F.expr(text), how).toDF(*ours)
    assert_same_rows(found.toArrow(), want.toArrow())


@pytest.mark.parametrize("name", ["my input", "table", "a.b", "a`b", "Ä", "{0}"])
def test_inputs_may_have_odd_names_too(spark: SparkSession, name: str) -> None:
    left, right = (spark.createDataFrame(pa.table({"n": [1, 2, 3]})) for _ in "lr")
    quoted = f"`{name.replace('`', '``')}`"
    inputs: dict[str, Any] = {name: left, "other": right}
    for how, rows in (("inner", 3), ("full", 5)):
        found = dv.join(**inputs, on=f"{quoted}.n < other.n", how=how)
        assert (found.columns, found.count()) == (["n", "other_n"], rows)


@pytest.mark.parametrize("how", ["inner", "full"])
def test_the_case_of_names_counts_where_the_session_says_so(spark: SparkSession, how: str) -> None:
    with changed(spark, {"spark.sql.caseSensitive": "true"}):
        left = spark.range(6).selectExpr("id a", "5 - id A", "id t")
        right = spark.range(6).selectExpr("id A", "id * 2 a", "id T")
        for on in ("l.a < r.A", "l.A = r.a AND l.t <> r.T", "l.A BETWEEN r.A AND r.a"):
            found = dv.join(left, right, on=on, how=how)
            assert found.columns == ["a", "A", "t", "r_A", "r_a", "T"]
            want = left.alias("l").join(right.alias("r"), F.expr(on), how).toArrow()
            assert_same_rows(found.toArrow(), want)
        assert dv.asof_join(left, right, on=("A", "a"), how=how).columns == ["a", "A", "t", "r_A", "r_a", "T"]
        folded = dv.join(x=left, y=right, z=left, on="x.A < y.A AND y.a < z.A", agg={"n": "sum(z.A)"}, per="x")
        assert folded.columns == ["a", "A", "t", "n"]
        with pytest.raises(UsageError, match="column 'T' not found in 'l'"):
            dv.join(left, right, on="l.T < r.A")


def test_double_quotes_are_for_names_where_the_session_says_so(spark: SparkSession) -> None:
    left, right = (spark.range(5).selectExpr("id `a b`", "concat('n', id) s") for _ in "lr")
    on, older = """l."a b" < r."a b" AND l.s <> 'n1'""", "unix_timestamp() > 0"
    with changed(spark, {"spark.sql.ansi.doubleQuotedIdentifiers": "true"}):
        want = left.alias("l").join(right.alias("r"), F.expr(on), "full").toArrow()
        assert_same_rows(dv.join(left, right, on=on, how="full").toArrow(), want)
        assert dv.join(left, right, on=f"{on} AND {older}", select='r."a b" AS "c d"').columns == ["c d"]
        agg = {"n": """sum("a b") FILTER (WHERE "s" <> 'n1')"""}
        found = dv.window_join(left, right, on='"a b"', preceding=2, agg=agg)
        assert sorted(row["n"] for row in found.collect()) == [0, 0, 2, 5, 9]
    with changed(spark, {"spark.sql.ansi.doubleQuotedIdentifiers": "true", "spark.sql.ansi.enabled": "false"}):
        assert dv.join(left, right, on='l.`a b` = r.`a b` AND l.s = "n2"').count() == 1
