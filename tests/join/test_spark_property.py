"""Every kind of join, every type and edge value, against Spark's own answer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import dovetail as dv
from dovetail.testing import assert_same_rows
from tests.amount import EXAMPLES, one_in
from tests.spark_answers import spark_answers, spark_frame
from tests.strategies import KINDS, sample

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession

    from tests.strategies import Case

PLACEMENTS: list[dict[str, Any]] = [
    {},
    {"algorithm": "broadcast"},
    {"algorithm": "range", "partitions": 1},
    {"algorithm": "range", "partitions": 3},
    {"algorithm": "range", "partitions": 17},
]


@pytest.mark.parametrize("kind", KINDS)
def test_the_arrow_host_gives_sparks_answer(spark: SparkSession, kind: str) -> None:
    drawn = sample(kind, EXAMPLES, seed=1)
    for case, want in zip(drawn, spark_answers(spark, drawn), strict=True):
        assert_same_rows(dv.join(case.left, case.right, on=case.on, how=case.how), want)


@pytest.mark.parametrize("kind", KINDS)
def test_the_spark_host_gives_sparks_answer_on_any_number_of_cells(spark: SparkSession, kind: str) -> None:
    drawn = sample(kind, one_in(20), seed=2)
    placed = [(case, PLACEMENTS[i % len(PLACEMENTS)]) for i, case in enumerate(drawn)]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda own: _joined(spark, *own), placed))
    for got, want, (case, placement) in zip(found, spark_answers(spark, drawn), placed, strict=True):
        print(f"{case.how} join on {case.on} with {placement}")  # noqa: T201 -- shown if the next line fails
        assert_same_rows(got, want)


@pytest.mark.parametrize("kind", KINDS)
def test_connect_gives_the_same_rows(
    connect_mode: Callable[[], AbstractContextManager[SparkSession]], kind: str
) -> None:
    drawn = sample(kind, 3, seed=3)
    with connect_mode() as session:
        found = [_joined(session, case, PLACEMENTS[i]) for i, case in zip((0, 1, 3), drawn, strict=True)]
    for got, case in zip(found, drawn, strict=True):
        assert_same_rows(got, case.naive())


def _joined(spark: SparkSession, case: Case, placement: dict[str, Any]) -> Any:
    left, right = spark_frame(spark, case.left), spark_frame(spark, case.right)
    return dv.join(left, right, on=case.on, how=case.how, **placement).toArrow()
