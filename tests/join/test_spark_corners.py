"""Corners of Spark: types, names and texts that a join must neither trip over nor change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, LongType, UserDefinedType

import dovetail as dv
from dovetail.errors import UnsupportedError, UsageError
from dovetail.testing import assert_same_rows
from tests.spark_answers import changed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

NEW_YORK = {"spark.sql.session.timeZone": "America/New_York"}


class Weight(UserDefinedType):
    """A user's own type, which Spark calls `udt` as it does any other."""

    @classmethod
    def module(cls) -> str:
        return __name__

    @classmethod
    def sqlType(cls) -> DataType:  # noqa: N802 -- PySpark's name
        return DoubleType()


class Code(Weight):
    """Another one."""

    @classmethod
    def sqlType(cls) -> DataType:  # noqa: N802 -- likewise
        return LongType()


@pytest.fixture
def numbers(spark: SparkSession) -> DataFrame:
    return spark.range(4).selectExpr("id a", "id % 2 k", "timestamp_seconds(id) t")


def test_moments_with_a_zone_stay_such_where_a_session_reads_timestamps_without(spark: SparkSession) -> None:
    with changed(spark, NEW_YORK | {"spark.sql.timestampType": "TIMESTAMP_NTZ"}):
        left = spark.sql("SELECT TIMESTAMP_LTZ'2024-11-03 05:50:00Z' AS t")  # the hour that comes twice
        right = spark.sql("SELECT TIMESTAMP_LTZ'2024-11-03 06:10:00Z' AS t")
        assert dv.join(left, right, on="l.t < r.t").count() == 1
        assert dv.asof_join(right, left, on="t", how="inner").count() == 1
        most = dv.join(left, right, on="l.t < r.t", agg={"most": "max(r.t)"}, per="l")
        assert_same_rows(most.select("most"), right)
        for on in ("abs(l.t - r.t) <= INTERVAL 40 MINUTES", "abs(l.t - r.t) < INTERVAL 40 MINUTES"):
            assert_same_rows(dv.join(left, right, on=on), dv.join(left, right, on=on, algorithm="spark"))


@pytest.mark.parametrize("placement", [{}, {"algorithm": "broadcast"}, {"algorithm": "range", "partitions": 3}])
def test_intervals_have_an_order(numbers: DataFrame, placement: dict[str, Any]) -> None:
    steps = numbers.selectExpr("make_dt_interval(0, 0, 0, a) AS d", "a")
    got = dv.join(steps, steps, on="l.d < r.d", **placement)
    assert_same_rows(got, dv.join(steps, steps, on="l.a < r.a"))
    near = dv.join(numbers, numbers, on="abs(l.t - r.t) <= INTERVAL 1 SECOND", select="l.a, r.a AS b", **placement)
    assert_same_rows(near, dv.join(numbers, numbers, on="abs(l.a - r.a) <= 1", select="l.a, r.a AS b"))
    assert "band" in str(dv.explain(numbers, numbers, on="abs(l.t - r.t) <= INTERVAL 1 SECOND"))


def test_quotes_that_are_doubled_are_one(spark: SparkSession) -> None:
    one = spark.sql("""SELECT 1 AS a, "it's" AS s""")
    assert dv.join(one, one, on="l.a = r.a", select="'it''s' AS x").collect()[0]["x"] == "it's"
    folded = dv.join(one, one, on="l.a = r.a", agg={"n": "count(*) FILTER (WHERE r.s = 'it''s')"}, per="l")
    assert folded.collect()[0]["n"] == 1
    assert dv.join(one, one, on='l.a = r.a AND "say ""hi""!" = concat(\'say "hi"\', "!")').count() == 1


def test_arguments_of_lambdas_may_be_called_anything(spark: SparkSession) -> None:
    left, right = spark.sql("SELECT 1 AS a, array(10, 20) AS s"), spark.sql("SELECT 2 AS b, 7 AS x")
    got = dv.join(left, right, on="l.a < r.b", select="transform(l.s, o0 -> o0 + r.x) AS t")
    assert got.collect()[0]["t"] == [17, 27]
    assert dv.join(left, right, on="l.a < r.b AND exists(l.s, o1 -> o1 = r.x + 3)").count() == 1
    assert dv.join(left, right, on="l.a < r.b AND exists(l.s, A -> a > 15)").count() == 1


def test_structs_may_be_null_and_their_fields_be_called_anything(spark: SparkSession, numbers: DataFrame) -> None:
    odd = spark.range(4).selectExpr("id a", "if(id % 2 = 0, NULL, named_struct('f.g', id, 'h`i', 1)) z")
    assert dv.join(odd, numbers, on="l.a = r.a", how="full", algorithm="replicate").count() == 4
    assert dv.join(odd, numbers, on="l.a = r.a AND l.a = r.k", how="full", algorithm="der").count() == 6
    assert dv.join(x=odd, y=numbers, z=numbers, on="x.a < y.a AND y.a < z.a", select="x.a").count() == 4
    assert dv.join(odd, numbers, on="l.a < r.a", partitions=2).count() == 6
    assert dv.asof_join(odd, numbers, on="a").count() == 4
    with changed(spark, {"spark.sql.execution.arrow.useLargeVarTypes": "true"}):
        assert dv.join(odd.selectExpr("*", "'s' s"), numbers, on="l.a < r.a", partitions=2).count() == 6


def test_values_of_any_type_are_counted(spark: SparkSession, numbers: DataFrame) -> None:
    odd = spark.range(4).selectExpr("id a", "if(id % 2 = 0, NULL, named_struct('f', id)) z", "INTERVAL 1 MONTH m")
    agg = {"n": "count(r.z)", "some": "count(r.z) FILTER (WHERE r.a > 1)", "m": "count(r.m)"}
    got = dv.join(numbers, odd, on="l.a >= r.a", agg=agg, per="l", select="l.a")
    assert_same_rows(got, [(0, 0, 0, 1), (1, 1, 0, 2), (2, 1, 0, 3), (3, 2, 1, 4)])


def test_columns_that_cannot_leave_spark_may_stand_beside_three_inputs(spark: SparkSession, numbers: DataFrame) -> None:
    months = spark.sql("SELECT 1 AS a, INTERVAL 3 MONTHS AS z")
    assert dv.join(x=months, y=numbers, z=numbers, on="x.a < y.a AND y.a < z.a", select="y.a").count() == 1


def test_a_filter_may_be_a_bare_null(numbers: DataFrame) -> None:
    assert dv.join(numbers, numbers, on="l.a < r.a AND NULL").count() == 0
    assert dv.join(numbers, numbers, on="l.a = r.a AND NULL", how="left").count() == 4


def test_keys_far_apart_take_no_more_memory_than_others(numbers: DataFrame) -> None:
    far = numbers.selectExpr("a", "k * 1000000000000 AS k", "t")
    for keys in ("k", "t"):
        assert dv.asof_join(far, far, on="a", keys=keys, partitions=3).count() == 4
        assert (
            dv.window_join(far, far, on="a", keys=keys, preceding=2, agg={"n": "count(*)"}, partitions=3).count() == 4
        )


def test_intervals_that_are_folded_keep_their_fields(numbers: DataFrame) -> None:
    hours = numbers.selectExpr("a", "CAST(make_dt_interval(0, a) AS INTERVAL HOUR) AS h")
    got = dv.join(hours, hours, on="l.a <= r.a", agg={"most": "max(r.h)"}, per="l")
    assert got.schema["most"].dataType == hours.schema["h"].dataType


@pytest.mark.parametrize("key", ["named_struct('f', a)", "CAST(a AS STRING) COLLATE UTF8_LCASE"])
def test_equalities_that_only_spark_can_tell_are_left_to_it(numbers: DataFrame, key: str) -> None:
    frame = numbers.selectExpr("a", f"{key} AS z")
    assert dv.join(frame, frame, on="l.z = r.z AND l.a <= r.a").count() == 4
    plan = dv.explain(frame, frame, on="l.z = r.z AND l.a < r.a")
    assert "only Spark can tell values apart in l.z = r.z" in plan.reason
    assert dict(plan.uses) == {"keys": "l.z = r.z", "test pair by pair": "l.a < r.a"}
    assert dv.explain(frame, frame, on="l.z = r.z").kind == "equality only"
    folded = dv.join(frame, frame, on="l.z = r.z AND l.a <= r.a", agg={"n": "count(*)"}, per="l", select="l.a")
    assert_same_rows(folded, [(a, 1) for a in range(4)])
    with pytest.raises(UnsupportedError, match="only Spark itself can test"):
        dv.explain(frame, frame, on="l.z = r.z AND l.a <= r.a", algorithm="ring")


def test_moments_of_one_type_are_compared_in_any_zone(spark: SparkSession, numbers: DataFrame) -> None:
    with changed(spark, NEW_YORK):
        folded = dv.join(numbers, numbers, on="l.a < r.a AND l.t <> r.t", agg={"n": "count(*)"}, per="l")
        assert sorted(row["n"] for row in folded.collect()) == [0, 1, 2, 3]
        assert dv.join(numbers, numbers, on="l.a = r.a AND l.t <= r.t", how="left", algorithm="ring").count() == 4


def test_what_spark_refuses_is_named(numbers: DataFrame) -> None:
    with pytest.raises(UsageError, match=r"Spark refuses 'l.a, NO_SUCH_FUNCTION\(l.k\)': .*Hint: look up"):
        dv.join(numbers, numbers, on="l.a < r.a", select="l.a, no_such_function(l.k) AS x")


def test_windows_of_a_sorted_frame_go_by_its_order(spark: SparkSession) -> None:
    rows = spark.range(0, 60_000, 1, 4).selectExpr("(id * 7919) % 60000 x", "repeat(md5(CAST(id AS STRING)), 10) w")
    ordered = rows.cache().orderBy("x")
    assert dv.join(ordered, ordered, on="l.x = r.x AND l.w = r.w", window=1000).count() == 60_000
    assert dv.join(ordered, ordered, on="l.x <= r.x", window=100, select="l.x, r.w").count() == 600 * 100 * 101 // 2
    rows.unpersist()


def test_windows_leave_a_frame_in_the_cache(spark: SparkSession) -> None:
    kept = spark.range(50).selectExpr("id % 7 x", "id").cache()
    assert dv.join(kept, kept, on="l.x < r.x", window=10).count() > 0
    assert kept.storageLevel.useMemory
    kept.unpersist()


@pytest.mark.parametrize("how", ["inner", "left"])
def test_a_side_that_is_not_small_after_all_is_not_brought(spark: SparkSession, how: str) -> None:
    settings, most = spark.sparkContext._jsc.sc().conf(), "spark.driver.maxResultSize"
    left = spark.range(10).selectExpr("id * 9000 a", "id * 9000 + 5 b")
    right = spark.range(0, 4, 1, 4).selectExpr("explode(sequence(1, 100000)) v")  # Spark expects a few bytes
    settings.set(most, "1m")
    try:
        found = dv.join(left, right, on="l.a <= r.v AND r.v < l.b", how=how).count()
    finally:
        settings.remove(most)
    assert found == 4 * 49


def test_types_of_users_are_told_apart(spark: SparkSession) -> None:
    left, right = (spark.range(5).select("id", F.lit(None).cast(own()).alias("x")) for own in (Weight, Code))
    for how, rows in (("inner", 10), ("full", 12)):
        found = dv.join(left, right, on="l.id < r.id", how=how, partitions=2)
        assert [own.dataType for own in found.schema][1::2] == [Weight(), Code()]
        assert found.count() == rows
