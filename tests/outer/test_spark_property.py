"""Equality joins by every algorithm that leaves the large side in place, against Spark's own answer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import dovetail as dv
from dovetail.testing import assert_same_rows
from tests.amount import one_in
from tests.outer.keyed import keyed
from tests.spark_answers import quick, spark_answers, spark_frame
from tests.strategies import sample

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession

    from tests.strategies import Case


@pytest.mark.parametrize("algorithm", ["der", "redistribute", "replicate"])
def test_the_rows_are_sparks_own(spark: SparkSession, algorithm: str) -> None:
    drawn = list(filter(keyed, sample("equality", one_in(30), seed=11)))
    want = spark_answers(spark, drawn)
    with quick(spark), ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda case: _joined(spark, case, algorithm), drawn))
    _compare(found, want, drawn)


def test_the_rows_of_a_ring_are_sparks_own(spark: SparkSession) -> None:
    drawn = list(filter(keyed, sample("equality", one_in(60), seed=12)))
    want = spark_answers(spark, drawn)
    with quick(spark):  # one after the other: a ring takes all slots
        found = [_joined(spark, case, "ring", partitions=1 + i % 2) for i, case in enumerate(drawn)]
    _compare(found, want, drawn)


def test_connect_gives_the_same_rows(connect_mode: Callable[[], AbstractContextManager[SparkSession]]) -> None:
    drawn = list(filter(keyed, sample("equality", 3, seed=13)))
    with connect_mode() as session:
        found = [_joined(session, case, name) for name, case in zip(("der", "replicate", "ring"), drawn, strict=False)]
    _compare(found, [case.naive() for case in drawn], drawn)


def _compare(found: list[Any], want: list[list[tuple[Any, ...]]], drawn: list[Case]) -> None:
    for got, rows, case in zip(found, want, drawn, strict=True):
        print(f"{case.how} join on {case.on}")  # noqa: T201 -- shown if the next line fails
        assert_same_rows(got, rows)


def _joined(spark: SparkSession, case: Case, algorithm: str, partitions: int | None = None) -> Any:
    left, right = spark_frame(spark, case.left), spark_frame(spark, case.right)
    return dv.join(left, right, on=case.on, how=case.how, algorithm=algorithm, partitions=partitions).toArrow()
