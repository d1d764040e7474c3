"""Equality joins by workers of one process, against the naive reference, whatever their number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail._core.plan.knobs import OUTER
from dovetail.testing import assert_same_rows, naive_join
from tests.amount import one_in
from tests.outer.keyed import keyed
from tests.strategies import cases

if TYPE_CHECKING:
    from tests.strategies import Case

LEFT = pa.table({"k": [1, 2, 2, None, 5, 2], "v": ["a", "b", "b", "c", "d", "e"]})
RIGHT = pa.table({"k": [2, 2, 7, None, 1], "w": [10, 20, 30, 40, 50]})
HOWS = ["inner", "left", "right", "full", "semi", "anti"]


@pytest.mark.parametrize("algorithm", OUTER)
@settings(max_examples=one_in(8))
@given(case=cases("equality").filter(keyed), workers=st.sampled_from([1, 2, 3, 7]))
def test_any_number_of_workers_gives_the_naive_join(algorithm: str, case: Case, workers: int) -> None:
    found = dv.join(case.left, case.right, on=case.on, how=case.how, algorithm=algorithm, partitions=workers)
    assert_same_rows(found, case.naive())


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("algorithm", OUTER)
def test_rows_that_repeat_and_keys_that_are_null_are_kept_as_they_are(algorithm: str, how: str) -> None:
    found = dv.join(LEFT, RIGHT, on="l.k = r.k AND l.v <> 'd'", how=how, algorithm=algorithm, partitions=3)
    assert_same_rows(found, naive_join(LEFT, RIGHT, "l.k = r.k AND l.v <> 'd'", how))


@pytest.mark.parametrize("how", ["left", "full", "anti"])
def test_comparisons_beside_the_key_are_tested_pair_by_pair(how: str) -> None:
    on = "l.k = r.k AND l.k * 10 < r.w"
    found = dv.join(LEFT, RIGHT, on=on, how=how, algorithm="ring", partitions=2)
    assert_same_rows(found, naive_join(LEFT, RIGHT, on, how))


@pytest.mark.parametrize("algorithm", OUTER)
def test_one_key_with_half_of_all_rows_on_both_sides(algorithm: str) -> None:
    rng = np.random.default_rng(3)
    left = pa.table({"k": np.where(rng.random(400) < 0.5, 0, rng.integers(0, 300, 400)), "v": np.arange(400)})
    right = pa.table({"k": np.where(rng.random(900) < 0.5, 0, rng.integers(0, 300, 900)), "w": np.arange(900)})
    found = dv.join(left, right, on="l.k = r.k", how="full", algorithm=algorithm, partitions=4)
    assert_same_rows(found, dv.join(left, right, on="l.k = r.k", how="full"))


def test_the_plan_counts_what_moves() -> None:
    plan = dv.explain(LEFT, RIGHT, on="l.k = r.k", how="left", algorithm="ring", partitions=4)
    assert (plan.algorithm, plan.cells, plan.rows_moved) == ("ring", 4, 5 * 3)
    assert "r travels; 4 workers in this process pass about 15 rows to each other" in plan.reason
    plan = dv.explain(LEFT, RIGHT, on="l.k = r.k", how="left", algorithm="redistribute", partitions=4)
    assert plan.rows_moved == 11 * 3 // 4
