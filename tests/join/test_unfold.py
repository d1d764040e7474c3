"""Joins that Spark unfolds from slices: the same rows as any other plan's, of every kind and type."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import dovetail as dv
from dovetail.testing import assert_same_rows
from tests.spark_answers import spark_answers, spark_frame
from tests.strategies import Case, sample

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession

SLICED = ["one_inequality", "point_in_interval", "band"]
DRAWN, ASKED = 150, 8


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unfold however few pairs there are."""
    monkeypatch.setattr("dovetail._hosts.spark.known.FEW_PAIRS", 0)
    monkeypatch.setattr("dovetail._hosts.spark.unfold.LONG_SLICE", 0)


def _inner(kind: str, seed: int) -> list[Case]:
    """Joins that have pairs, and no part that is tested pair by pair."""
    found = []
    for own in sample(kind, DRAWN, seed=seed):
        plan = dv.explain(own.left, own.right, on=own.on)
        if plan.results and "test pair by pair" not in dict(plan.uses):
            found.append(Case(own.kind, own.left, own.right, own.on, "inner"))
    return found[:ASKED]


def _joined(spark: SparkSession, case: Case) -> tuple[str, Any]:
    left, right = spark_frame(spark, case.left), spark_frame(spark, case.right)
    algorithm = dv.explain(left, right, on=case.on).algorithm
    return algorithm, dv.join(left, right, on=case.on).toArrow()


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("kind", SLICED)
def test_unfolded_rows_are_sparks_own(spark: SparkSession, kind: str) -> None:
    drawn = _inner(kind, seed=11)
    assert len(drawn) == ASKED
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda case: _joined(spark, case), drawn))
    assert [algorithm for algorithm, _ in found].count("unfold") > ASKED / 2
    for (algorithm, got), want, case in zip(found, spark_answers(spark, drawn), drawn, strict=True):
        print(f"{case.on} by {algorithm}")  # noqa: T201 -- shown if the next line fails
        assert_same_rows(got, want)


@pytest.mark.usefixtures("always")
def test_connect_unfolds_alike(connect_mode: Callable[[], AbstractContextManager[SparkSession]]) -> None:
    drawn = _inner("one_inequality", seed=12)[:4]
    with connect_mode() as session:
        found = [_joined(session, case) for case in drawn]
    assert "unfold" in [algorithm for algorithm, _ in found]
    for (_, got), case in zip(found, drawn, strict=True):
        assert_same_rows(got, case.naive())


def _table(spark: SparkSession, side: str, size: int, seed: int) -> Any:
    keys = np.random.default_rng(seed).permutation(size)
    return spark_frame(spark, pa.table({"id": np.arange(size), "key": keys, "name": [f"{side}{key}" for key in keys]}))


def test_many_pairs_of_small_sides_are_unfolded_and_explain_says_so(spark: SparkSession) -> None:
    left, right = _table(spark, "l", 4_000, 1), _table(spark, "r", 4_000, 2)
    plan = dv.explain(left, right, on="l.key > r.key")
    assert (plan.algorithm, plan.results, plan.exact) == ("unfold", 4_000 * 3_999 // 2, True)
    assert "4,000 and 4,000 rows that can match" in plan.reason
    assert "Spark unfolds them by counting" in plan.reason
    joined = dv.join(left, right, on="l.key > r.key", select="l.key - r.key AS apart, l.name, r.name AS other")
    assert joined.columns == ["apart", "name", "other"]
    count, apart = joined.selectExpr("count(1)", "sum(apart)").head() or (0, 0)
    assert count == plan.results
    assert apart == sum(gap * (4_000 - gap) for gap in range(1, 4_000))
    near = joined.where("apart = 3999").collect()
    assert [tuple(row) for row in near] == [(3999, "l3999", "r0")]


def test_overlaps_are_unfolded_from_both_sides(spark: SparkSession) -> None:
    dice = np.random.default_rng(5)
    starts, lengths = dice.integers(0, 1_000, (2, 3_500)), dice.integers(1, 200, (2, 3_500))
    keys = dice.integers(0, 2, (2, 3_500))
    left, right = (
        spark_frame(spark, pa.table({"k": keys[i], "s": starts[i], "e": starts[i] + lengths[i]})) for i in (0, 1)
    )
    overlap = "l.k = r.k AND l.s < r.e AND r.s < l.e"
    assert dv.explain(left, right, on=overlap).algorithm == "unfold"
    (s, t), (e, u) = starts, starts + lengths
    meet = (keys[0][:, None] == keys[1]) & (s[:, None] < u) & (t < e[:, None])
    found = dv.join(left, right, on=overlap).selectExpr("count(1)", "sum(s)", "sum(r_e)").head()
    assert tuple(found or ()) == (meet.sum(), (meet.sum(1) * s).sum(), (meet.sum(0) * u).sum())


def test_a_few_rows_with_long_slices_are_unfolded_whatever_the_size_of_the_other_side(spark: SparkSession) -> None:
    few, many = _table(spark, "l", 200, 6), _table(spark, "r", 60_000, 7).withColumn("key", F.expr("key % 10 - 10"))
    assert dv.explain(few, many, on="l.key > r.key").algorithm == "unfold"
    assert dv.join(few, many, on="l.key > r.key").count() == 200 * 60_000


def test_conditions_that_slices_do_not_tell_are_not_brought_for_nothing(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dovetail._hosts.spark.known.bring_both", None)
    left, right = _table(spark, "l", 4_000, 8), _table(spark, "r", 4_000, 9)
    assert dv.explain(left, right, on="l.key > r.key AND l.id > r.id").algorithm == "broadcast"
    assert dv.explain(left, right, on="l.key > r.key AND l.name <> r.name").algorithm == "broadcast"


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("bits", [8, 16, 32, 33, 34, 64])
@pytest.mark.parametrize("sign", [0, -1])
def test_integers_of_any_width_are_shown_as_they_are(spark: SparkSession, bits: int, sign: int) -> None:
    most, least = (1 << bits - 1) - 1, sign * (1 << bits - 1)
    kind = {8: pa.int8(), 16: pa.int16(), 32: pa.int32()}.get(bits, pa.int64())
    table = pa.table({"key": range(5), "n": pa.array([least, least + 1, 0, 1, most], kind)})
    frames = [spark_frame(spark, table) for _ in "lr"]
    assert dv.explain(*frames, on="l.key >= r.key").algorithm == "unfold"
    found = dv.join(*frames, on="l.key >= r.key", select="l.n, r.n AS other").toArrow()
    numbers = table["n"].to_pylist()
    pairs = [(ours, theirs) for i, ours in enumerate(numbers) for theirs in numbers[: i + 1]]
    want = pa.table(
        {name: pa.array(own, kind) for name, own in zip(("n", "other"), zip(*pairs, strict=True), strict=True)}
    )
    assert_same_rows(found, want)


@pytest.mark.usefixtures("always")
def test_times_pass_through_arrays_unchanged_in_any_zone(spark: SparkSession) -> None:
    times = [None, *(datetime(2024, 3, 31, hour, 30, tzinfo=UTC) for hour in range(4))]
    table = pa.table({"key": range(5), "at": pa.array(times, pa.timestamp("us", "UTC"))})
    wall = table.append_column("wall", table["at"].cast(pa.timestamp("us")))
    frames = [spark_frame(spark, wall) for _ in "lr"]
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        assert dv.explain(*frames, on="l.key > r.key").algorithm == "unfold"
        found = dv.join(*frames, on="l.key > r.key", select="l.at, l.wall, r.at AS r_at").toArrow()
        want = frames[0].alias("l").join(frames[1].alias("r"), F.expr("l.key > r.key"))
        assert_same_rows(found, want.selectExpr("l.at", "l.wall", "r.at AS r_at").toArrow())
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_few_pairs_are_not(spark: SparkSession) -> None:
    left, right = _table(spark, "l", 4_000, 3), _table(spark, "r", 4_000, 4)
    sparse = "l.key BETWEEN r.key AND r.key + 3"
    assert dv.explain(left, right, on=sparse).algorithm == "broadcast"
    assert dv.join(left, right, on=sparse).count() == 4 * 4_000 - 6


@pytest.mark.usefixtures("always")
def test_braces_in_the_call_stay_what_they_are(spark: SparkSession) -> None:
    left, right = (spark_frame(spark, pa.table({"a {0}": [1, 2], "n": ["x", None]})) for _ in "lr")
    on, select = "l.`a {0}` > r.`a {0}`", "concat(l.`a {0}`, '{r}') AS `{both}`, r.n"
    assert dv.explain(left, right, on=on).algorithm == "unfold"
    assert dv.join(left, right, on=on, select=select).toArrow().to_pylist() == [{"{both}": "2{r}", "n": "x"}]
