"""The plan tells the truth, as text, as HTML and as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

RANDOM = np.random.default_rng(7)
SIZE = 2000
POINTS = pa.table({"id": np.arange(SIZE), "at": RANDOM.integers(0, 10**6, SIZE), "k": RANDOM.integers(0, 5, SIZE)})
START = RANDOM.integers(0, 10**6, SIZE)
SPANS = pa.table(
    {"no": np.arange(SIZE), "s": START, "e": START + RANDOM.integers(0, 5000, SIZE), "k": np.arange(SIZE) % 5}
)

KINDS = [
    ("l.k = r.k", "equality only"),
    ("l.at < r.s", "one inequality"),
    ("l.at >= r.s AND l.at < r.e", "point in interval"),
    ("l.at BETWEEN r.s - 5 AND r.s + 5", "band"),
    ("l.at < r.s AND l.id < r.no", "two inequalities"),
    ("l.at < r.s AND l.id > r.no", "two inequalities"),
    ("l.k <> r.k", "nested loop"),
]


def test_a_plan_shows_as_a_tree_wherever_it_is_shown() -> None:
    plan = dv.explain(POINTS, SPANS, on="l.at < r.s")
    assert repr(plan) == str(plan)
    assert str(plan).startswith("inner join, one inequality, by sweep on arrow\n├─ condition: l.at < r.s")


@pytest.mark.parametrize(("on", "kind"), KINDS)
@pytest.mark.parametrize("key", ["", " AND l.k = r.k"])
def test_the_kind_is_seen_with_and_without_keys(on: str, kind: str, key: str) -> None:
    plan = dv.explain(POINTS, SPANS, on=on + key)
    assert plan.kind == ("equality only" if key and kind == "nested loop" else kind)
    assert plan.host == "arrow"


def test_an_overlap_is_one_only_of_intervals() -> None:
    assert dv.explain(SPANS, SPANS, on="l.s < r.e AND r.s < l.e").kind == "overlap"


def test_results_are_exact_where_the_sweep_decides() -> None:
    on = "l.at >= r.s AND l.at < r.e"
    plan = dv.explain(POINTS, SPANS, on=on)
    assert plan.exact
    assert plan.results == dv.join(POINTS, SPANS, on=on).num_rows


@pytest.mark.parametrize(("how", "told"), [("inner", "results: "), ("semi", "matching pairs: "), ("left", "pairs: ")])
def test_pairs_are_called_results_only_where_they_are(how: str, told: str) -> None:
    assert told in str(dv.explain(POINTS, SPANS, on="l.at >= r.s AND l.at < r.e", how=how))


def test_results_are_estimated_where_pairs_are_tested() -> None:
    plan = dv.explain(POINTS, SPANS, on="l.at < r.s AND l.id <> r.no")
    assert not plan.exact
    assert plan.results == pytest.approx(SIZE * SIZE / 2, rel=0.1)


def test_of_many_comparisons_the_most_selective_lead() -> None:
    on = "l.at < r.e AND l.id >= 0 AND l.at >= r.s AND l.id < r.no + 1000000"
    plan = dv.explain(POINTS, SPANS, on=on)
    assert ("slice", "l.at < r.e AND l.at >= r.s, left side sorted") in plan.uses
    assert ("threshold", "l.id < r.no + 1000000") in plan.uses
    assert ("filter", "l.id >= 0") in plan.uses


def test_a_nested_loop_is_announced_with_its_cost() -> None:
    plan = dv.explain(POINTS, SPANS, on="l.k <> r.k")
    assert plan.algorithm == "nested loop"
    assert "every pair must be tested, 4,000,000 of them" in plan.reason


def test_a_plan_prints_as_a_tree_and_as_html() -> None:
    plan = dv.explain(POINTS, SPANS, on="l.at < r.s AND l.k = r.k")
    assert str(plan).splitlines()[0] == "inner join, one inequality, by sweep on arrow"
    assert "└─ slice: l.at < r.s, right side sorted" in str(plan)
    assert "l.at &lt; r.s" in plan._repr_html_()


def test_the_matrix_is_drawn(tmp_path: Path) -> None:
    plan = dv.explain(POINTS, SPANS, on="l.at < r.s")
    plan.plot(tmp_path / "matrix.png")
    plan.plot(tmp_path / "matrix.svg")
    assert (tmp_path / "matrix.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "matrix.svg").read_text()
    assert plan.matrix is not None
    assert plan.matrix.matches.mean() == pytest.approx(0.5, abs=0.05)


def test_a_plan_without_comparison_has_nothing_to_draw(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no join matrix to draw"):
        dv.explain(POINTS, SPANS, on="l.k = r.k").plot(tmp_path / "matrix.png")


def test_a_picture_needs_a_path() -> None:
    with pytest.raises(UsageError, match=r"^path is 5; it is a path. Hint: path='a/folder/name', or a pathlib.Path.$"):
        dv.explain(POINTS, SPANS, on="l.at < r.s").plot(5)  # type: ignore[arg-type]


def test_spark_says_why_it_broadcasts_or_cuts_cells(spark: SparkSession) -> None:
    points, spans = spark.createDataFrame(POINTS), spark.createDataFrame(SPANS)
    small = dv.explain(points, spans, on="l.at >= r.s AND l.at < r.e", how="left")
    assert small.algorithm == "broadcast"
    assert "l stays in place: its rows are kept; r, about" in small.reason
    cells = dv.explain(points, spans, on="l.at >= r.s AND l.at < r.e", algorithm="range", partitions=8)
    assert cells.cells == 8
    assert cells.products is not None
    assert cells.products < SIZE * SIZE / 3
    assert cells.matrix is not None
    assert (cells.matrix.performed | ~cells.matrix.matches).all()


def test_spark_keeps_its_own_join_for_equality_and_counts_a_nested_loop(spark: SparkSession) -> None:
    points, spans = spark.createDataFrame(POINTS), spark.createDataFrame(SPANS)
    assert dv.explain(points, spans, on="l.k = r.k").reason == "equality alone: Spark's own join is the best plan"
    loop = dv.explain(points, spans, on="l.k <> r.k")
    assert loop.algorithm == "spark"
    assert "4,000,000 of them" in loop.reason


def test_a_plan_of_a_temporal_join_shows_no_hidden_column() -> None:
    table = pa.table({"s": [3], "e": [5]})
    plan = dv.explain(a=table, b=table, on="TRUE", valid=("s", "e"))
    assert plan.matrix is not None
    assert (plan.matrix.left, plan.matrix.right) == ("a.valid_start", "b.valid_end")
    assert "a.valid_start < b.valid_end" in str(plan)
    assert "dovetail" not in str(plan)
