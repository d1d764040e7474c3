"""Whole-number keys that lie close together: pairs looked up by key, and marks beyond those of a sample."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

import dovetail as dv
from dovetail._hosts.spark import dense, outer
from dovetail._hosts.spark.dense import DenseKeys
from tests.spark_answers import assert_sparks_rows

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from pyspark.sql import DataFrame, SparkSession

HOWS = ["left", "right", "full", "semi", "anti"]
VALUES = {
    "text": "CAST(id AS STRING)",
    "bytes": "CAST(CAST(id AS STRING) AS BINARY)",
    "even": "id % 2 = 0",
    "part": "id / 3.0D",
    "single": "CAST(id / 3.0D AS FLOAT)",
    "exact": "CAST(id AS DECIMAL(38, 6)) / 7",
    "day": "date_from_unix_date(CAST(id AS INT))",
    "moment": "timestamp_micros(id)",
    "local": "CAST(timestamp_micros(id) AS TIMESTAMP_NTZ)",
    "gap {id}": "IF(id % 3 = 0, NULL, id)",
    "nothing": "CAST(NULL AS INT)",
}


def _small(spark: SparkSession, *keys: str) -> DataFrame:
    """Rows of numbers -20 to 39, about half of which the large side has; for each of the keys."""
    rows = spark.range(-20, 40)
    values = [f"{value} AS `{name}`" for name, value in VALUES.items()]
    parts = [rows.selectExpr(f"{key} AS k", *values) for key in keys]
    return parts[0] if len(parts) == 1 else parts[0].unionAll(parts[1])


def _same(small: DataFrame, large: DataFrame, how: str) -> None:
    """Either side may be the left one."""
    joins = [partial(dv.join, *both, on="l.k = r.k", how=how) for both in ((small, large), (large, small))]
    assert_sparks_rows(small.sparkSession, joins, "der")


@pytest.fixture(scope="module")
def large(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """Keys 0 to 99 but for multiples of five, several times each, NULL, and far ones, in files: they can be sampled."""
    path = str(tmp_path_factory.mktemp("dense") / "large")
    key = "CASE WHEN id % 5 = 0 THEN NULL WHEN id < 4 THEN 9223372036854775807 - id ELSE id % 100 END"
    rows = spark.range(0, 600, 1, 3).selectExpr(f"{key} AS k", "id AS `t {id}`", "repeat(sha(hex(id)), 4) AS long")
    rows.write.parquet(path)
    return spark.read.parquet(path)


@pytest.mark.parametrize(
    ("kind", "how"),
    [("tinyint", how) for how in HOWS] + [(kind, how) for kind in ("smallint", "int", "bigint") for how in HOWS[:3:2]],
)
def test_values_of_every_type_are_looked_up(spark: SparkSession, large: DataFrame, kind: str, how: str) -> None:
    _same(_small(spark, f"CAST(IF(id = 7, NULL, id) AS {kind})"), large, how)


@pytest.mark.parametrize("how", ["left", "inner"])
def test_keys_that_spark_knows_beforehand_need_not_fit_the_small_type(spark: SparkSession, how: str) -> None:
    large = spark.range(4000).selectExpr("id AS k").unionAll(spark.sql("SELECT 9223372036854775807 AS k"))
    _same(_small(spark, "CAST(id AS TINYINT)"), large, how)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("sampled", [1, 40])
def test_what_the_sample_missed_is_found_later(
    spark: SparkSession, large: DataFrame, monkeypatch: pytest.MonkeyPatch, sampled: int, how: str
) -> None:
    monkeypatch.setattr(dense, "SAMPLED", sampled)
    _same(_small(spark, "id"), large, how)


@pytest.mark.parametrize("how", HOWS)
def test_keys_that_repeat_are_joined_by_spark(spark: SparkSession, large: DataFrame, how: str) -> None:
    _same(_small(spark, "id", "id + 30"), large, how)


@pytest.mark.parametrize(
    ("module", "how"),  # known after the rows were brought, or expected before
    [(dense, how) for how in HOWS] + [(outer, how) for how in HOWS[:3:2]],
)
def test_what_is_too_much_to_be_sent_is_joined_by_spark(
    spark: SparkSession, large: DataFrame, monkeypatch: pytest.MonkeyPatch, module: ModuleType, how: str
) -> None:
    monkeypatch.setattr(module, "SENT_BYTES", 0)
    _same(_small(spark, "id"), large, how)


def test_pairs_are_looked_up_without_a_join(spark: SparkSession, large: DataFrame) -> None:
    once, twice = (
        dv.join(s=_small(spark, *keys), t=large, on="s.k = t.k", how="left", algorithm="der")
        for keys in (["id"], ["id", "id"])
    )
    assert _hash_joins(once) == _hash_joins(twice) - 1


def _hash_joins(frame: DataFrame) -> int:
    plan: str = frame.sparkSession.sql("EXPLAIN SELECT * FROM {rows}", rows=frame).collect()[0][0]
    return plan.count("BroadcastHashJoin")


def test_only_files_are_sampled(
    spark: SparkSession, large: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples: list[DenseKeys] = []
    sample = DenseKeys._sample

    def noted(keys: DenseKeys) -> object:
        samples.append(keys)
        return sample(keys)

    monkeypatch.setattr(DenseKeys, "_sample", noted)
    large.write.csv(str(tmp_path / "csv"))
    csv = spark.read.schema("k BIGINT, id BIGINT, long STRING").csv(str(tmp_path / "csv"))
    for frame, sampled in (
        (large, True),
        (large.selectExpr("k + 1 AS k", "long"), True),
        (csv, True),
        (large.where("k > 3"), False),
        (large.distinct(), False),
        (large.join(csv.select("k"), "k"), False),
        (spark.range(10_000).selectExpr("id AS k", "repeat(hex(id), 4) AS long"), False),
    ):
        samples.clear()
        dv.join(s=spark.range(3), t=frame, on="s.id = t.k", how="left", algorithm="der")
        assert bool(samples) == sampled, frame.columns
