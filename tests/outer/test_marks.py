"""Small sides whose rows are kept beside large ones, by any condition: every row's partners told by bits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import dovetail as dv
from dovetail._core.condition.inputs import Input, Inputs
from dovetail._core.condition.split import read_condition
from dovetail._hosts.ring.projection import Projection
from dovetail._hosts.spark.small import Planned
from dovetail._hosts.spark.task import CellTask, marking_task
from dovetail._hosts.spark.wire import narrowed, pack
from dovetail.testing import assert_same_rows
from tests.amount import one_in
from tests.spark_answers import spark_answers, spark_frame
from tests.strategies import KINDS, sample

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dovetail._hosts.spark.sides import Sides
    from tests.strategies import Case

DRAWN = one_in(60)
BY_ORDER = [kind for kind in KINDS if kind not in ("equality", "nested_loop")]
KEPT = {"l": ("left", "full", "semi", "anti"), "r": ("right", "full")}


@pytest.fixture
def small_side(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Let Spark take one side, `small_side["name"]`, to be small and the other to be large, whatever they are."""
    chosen = {"name": "l"}

    def planned(sides: Sides) -> tuple[Planned, ...]:
        sizes = (0.0 if own.name == chosen["name"] else float("inf") for own in (sides.left, sides.right))
        return tuple(Planned(size, is_scan=False) for size in sizes)

    monkeypatch.setattr("dovetail._hosts.spark.known.planned", planned)
    return chosen


@pytest.mark.parametrize("name", ["l", "r"])
@pytest.mark.parametrize("kind", BY_ORDER)
def test_a_small_side_is_kept_as_spark_keeps_it(
    spark: SparkSession, small_side: dict[str, str], kind: str, name: str
) -> None:
    small_side["name"] = name
    drawn = [case for case in sample(kind, 4 * DRAWN, seed=7) if case.how in KEPT[name]][:DRAWN]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda case: _joined(spark, case), drawn))
    for got, want, case in zip(found, spark_answers(spark, drawn), drawn, strict=True):
        print(f"{case.how} join on {case.on}")  # noqa: T201 -- shown if the next line fails
        assert_same_rows(got, want)


def _joined(spark: SparkSession, case: Case) -> Any:
    left, right = (spark_frame(spark, table).repartition(2) for table in (case.left, case.right))
    return dv.join(left, right, on=case.on, how=case.how).toArrow()


@pytest.mark.usefixtures("small_side")
@pytest.mark.parametrize(("how", "told"), [("left", "no"), ("full", "no"), ("semi", "a"), ("anti", "no")])
def test_the_plan_says_so_and_moves_no_row_of_the_large_side(spark: SparkSession, how: str, told: str) -> None:
    ranges = spark.createDataFrame([(0, 10), (10, 20), (90, 95), (None, 5)], "lo int, hi int")
    points = spark.range(0, 60, 1, 3).selectExpr("CAST(id AS INT) AS at")
    on = "r.at >= l.lo AND r.at < l.hi"
    want = ranges.alias("l").join(points.alias("r"), F.expr(on), how)
    plan = dv.explain(ranges, points, on=on, how=how)
    assert (
        f"r stays in place: {'its rows are kept' if how == 'full' else 'it is the larger one'}; l, about" in plan.reason
    )
    assert f"travels to every task; which of its rows have {told} partner is told by bits" in plan.reason
    assert dv.join(ranges, points, on=on, how=how, select="1 AS one").count() == want.count()
    found = dv.join(ranges, points, on=on, how=how)
    assert "repartitionById" not in found._jdf.queryExecution().toString()
    assert_same_rows(found.toArrow(), want.toArrow())


@pytest.mark.usefixtures("small_side")
def test_connect_keeps_a_small_side_too(connect: SparkSession) -> None:
    left, right = connect.range(5).selectExpr("id AS a"), connect.range(2, 4).selectExpr("id AS b")
    found = dv.join(left, right, on="l.a > r.b", how="full").collect()
    assert_same_rows([tuple(row) for row in found], [(0, None), (1, None), (2, None), (3, 2), (4, 2), (4, 3)])


def test_a_task_looks_for_partners_of_those_alone_that_it_has_not_seen() -> None:
    inputs = Inputs(Input("l", ("a",)), Input("r", ("b",)))
    own = Projection("l", (), ())
    task = CellTask(read_condition("l.a < r.b", inputs), "semi", own, Projection("r", (), ()))
    anchors = pa.table({"v0": np.arange(130)})
    batches = [pa.record_batch({"v0": pa.array([at])}) for at in (1, 65, 3)]
    (words,) = marking_task(task, pack(narrowed(anchors)))(iter(batches))
    assert words.to_pydict() == {"word": [0, 1], "bits": [-1, 1]}
