"""What `auto` takes for equality joins on Spark, and what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import dovetail as dv
from dovetail._core.plan.outer import Sized, chosen_outer
from dovetail.errors import UsageError
from dovetail.testing import assert_same_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MB = 1 << 20


def _chosen(how: str, left: float, right: float, hot: float = 0.0) -> str | None:
    found = chosen_outer(how, Sized("l", left), Sized("r", right), hot=lambda: hot)  # type: ignore[arg-type]
    return None if found is None else found.algorithm


@pytest.mark.parametrize(
    ("how", "left", "right", "algorithm"),
    [
        ("left", MB, 500 * MB, "der"),
        ("full", MB, 500 * MB, "der"),
        ("anti", MB, 500 * MB, "der"),
        ("right", 500 * MB, MB, "der"),
        ("left", 500 * MB, MB, None),  # Spark broadcasts a side that is not kept by itself
        ("semi", 500 * MB, MB, None),
        ("right", MB, 500 * MB, None),
        ("left", MB, 8 * MB, None),  # too little to be worth while
        ("left", 60 * MB, 100 * MB, None),
        ("left", 100 * MB, 900 * MB, None),
        ("left", 100 * MB, 2000 * MB, "spark"),
        ("left", float("inf"), float("inf"), None),
    ],
)
def test_a_small_side_whose_rows_are_kept_travels(how: str, left: float, right: float, algorithm: str | None) -> None:
    assert _chosen(how, left, right) == algorithm


def test_a_hot_key_speaks_for_a_ring() -> None:
    found = chosen_outer("left", Sized("l", 100 * MB), Sized("r", 900 * MB), hot=lambda: 0.5)
    assert found is not None
    assert "algorithm='ring' would leave r, about 900 MB, where it is; one key has 50% of the rows of r" in found.reason


def test_auto_joins_by_bits_and_says_so(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail._core.plan.outer.WORTH_BYTES", 0)
    small = spark.range(1990, 2010).selectExpr("id AS k", "CAST(id AS STRING) AS v")
    large = spark.range(0, 20_000, 1, 2).selectExpr("id % 1999 AS k", "id AS w")
    plan = dv.explain(s=small, t=large, on="s.k = t.k", how="left")
    assert plan.algorithm == "der"
    assert "whose rows are kept, travels to every task; t, about" in plan.reason
    found = dv.join(s=small, t=large, on="s.k = t.k", how="left", select="s.k, s.v, t.w")
    assert "Exchange hashpartitioning(k" not in found._jdf.queryExecution().toString()
    unmatched = found.filter("w IS NULL")
    assert_same_rows([tuple(row) for row in unmatched.select("k").collect()], [(k,) for k in range(1999, 2010)])
    assert found.count() == 11 + large.filter("k >= 1990").count()


def test_what_cannot_be_is_refused(spark: SparkSession) -> None:
    one = spark.range(3)
    with pytest.raises(UsageError, match=r"algorithm 'ring' takes an equality between the sides"):
        dv.join(one, one, on="l.id < r.id", algorithm="ring")
    with pytest.raises(UsageError, match=r"algorithm 'der' cannot be had with agg"):
        dv.join(one, one, on="l.id = r.id", algorithm="der", agg={"n": "count(*)"}, per="l")
    with pytest.raises(UsageError, match=r"a ring of 64 tasks .*, but 2 can run; .* Hint: partitions=2"):
        dv.join(one, one, on="l.id = r.id", algorithm="ring", partitions=64)


@pytest.mark.parametrize("algorithm", ["der", "replicate"])
def test_a_side_too_large_to_travel_is_counted_and_not_brought(spark: SparkSession, algorithm: str) -> None:
    many = spark.range(0, 1 << 24, 1, 4)  # of which no task has too many
    with pytest.raises(UsageError, match=rf"algorithm '{algorithm}' brings 'l' to every task, but .* than 64 MB. Hint"):
        dv.join(many, many, on="l.id = r.id", how="left", algorithm=algorithm)


def test_connect_knows_how_many_tasks_can_run(connect: SparkSession) -> None:
    one = connect.range(3)
    with pytest.raises(UsageError, match=r"a ring of 3 tasks .*, but 2 can run; .* Hint: partitions=2"):
        dv.join(one, one, on="l.id = r.id", algorithm="ring", partitions=3)
