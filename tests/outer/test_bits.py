"""Which rows of a small side have a partner: by bits of their own, or by bits of their keys."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

import dovetail as dv
from dovetail.testing import assert_same_rows
from tests.spark_answers import assert_sparks_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEAST, GREATEST = -(1 << 63), (1 << 63) - 1
NEAR: dict[str, list[int | None]] = {
    "least": [LEAST, LEAST + 1, LEAST + 64, None, LEAST],
    "greatest": [GREATEST, GREATEST - 63, GREATEST - 64, None],
    "around zero": [-65, -64, -1, 0, 1, 63, 64, None],
    "far apart": [LEAST, 0, GREATEST, None],
    "none": [None, None],
}


@pytest.mark.parametrize("algorithm", ["der", "replicate"])
def test_columns_may_be_called_word_and_bits(spark: SparkSession, algorithm: str) -> None:
    small = spark.createDataFrame([(1, "a"), (2, "b")], "word int, bits string")
    large = spark.createDataFrame([(2, "x"), (3, "y")], "word int, bits string")
    found = dv.join(s=small, t=large, on="s.word = t.word", how="full", algorithm=algorithm)
    assert_same_rows(found, [(1, "a", None, None), (2, "b", 2, "x"), (None, None, 3, "y")])


def test_a_frame_may_be_joined_with_itself(spark: SparkSession) -> None:
    one = spark.createDataFrame([(1, 2), (2, 5), (None, 1)], "k int, next int")
    hows = ("left", "right", "full", "semi", "anti")
    assert_sparks_rows(spark, [partial(dv.join, s=one, t=one, on="s.next = t.k", how=how) for how in hows], "der")


@pytest.mark.parametrize("name", NEAR)
def test_keys_that_lie_close_mark_themselves(spark: SparkSession, name: str) -> None:
    keys = NEAR[name]
    small = spark.createDataFrame([(key, i) for i, key in enumerate(keys)], "k bigint, v int")
    others = [*keys[::2], LEAST + 2, -2, 2, GREATEST - 1]
    large = spark.createDataFrame([(key, i) for i, key in enumerate(others)], "k bigint, w int")
    hows = ("left", "full", "semi", "anti")
    assert_sparks_rows(spark, [partial(dv.join, s=small, t=large, on="s.k = t.k", how=how) for how in hows], "der")
