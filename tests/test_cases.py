"""Other engines' own tests: the shared cases on both hosts, some tens of them to a test."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.case_adapters import KINDS, folder, load, on_arrow, on_spark
from tests.spark_answers import quick

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from pyspark.sql import SparkSession

    from tests.case_adapters import SharedCase

if not folder().is_dir():
    pytest.skip(f"the shared cases are not in {folder()}; DOVETAIL_CASES may say where", allow_module_level=True)

GROUP = 30
AT_ONCE = 3


def _groups() -> dict[str, list[SharedCase]]:
    """The cases by kind, cut into groups."""
    found: dict[str, list[SharedCase]] = {}
    for kind in KINDS:
        cases = load((kind,))
        found |= {f"{kind}-{at // GROUP + 1}": cases[at : at + GROUP] for at in range(0, len(cases), GROUP)}
    return found


GROUPS = _groups()
# One group of as-of joins tells most; all of them take Spark a minute or two.
BY_TIME = [
    pytest.param(group, marks=[] if group == "asof-1" else pytest.mark.slow)
    for group in GROUPS
    if group.startswith("asof")
]


def _failure(answer: Callable[[SharedCase], pa.Table], case: SharedCase) -> str | None:
    """Why a case fails, in a few lines; None if it passes."""
    try:
        case.check(answer(case))
    except Exception as error:  # noqa: BLE001 -- whatever happens is that case's failure, not its group's
        return f"{case.id}: {case.how} join on {case.on}\n  {type(error).__name__}: {str(error)[:1000]}"
    return None


def test_no_case_is_left_out() -> None:
    assert sum(map(len, GROUPS.values())) >= 649


def test_a_wrong_answer_is_told() -> None:
    case = next(case for case in GROUPS["theta-1"] if len(case.expected) > 1)
    assert _failure(on_arrow, case) is None
    assert "1 missing" in str(_failure(lambda case: on_arrow(case).slice(1), case))


@pytest.mark.parametrize("group", GROUPS)
def test_the_arrow_host_answers_as_other_engines_do(group: str) -> None:
    failures = [failure for case in GROUPS[group] if (failure := _failure(on_arrow, case))]
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("group", BY_TIME)
def test_the_spark_host_finds_nearest_rows_as_other_engines_do(group: str, spark: SparkSession) -> None:
    with quick(spark), ThreadPoolExecutor(AT_ONCE) as pool:
        answer = partial(on_spark, spark=spark, partitions=1)
        failures = list(filter(None, pool.map(partial(_failure, answer), GROUPS[group])))
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("group", [group for group in GROUPS if not group.startswith("asof")])
def test_the_spark_host_answers_as_other_engines_do(group: str, spark: SparkSession) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        failures = list(filter(None, pool.map(partial(_failure, partial(on_spark, spark=spark)), GROUPS[group])))
    assert not failures, "\n".join(failures)
