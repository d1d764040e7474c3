"""Rows that match all of a cell go there as a digest: folds are what they would be with the rows themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail._core.aggregate.digest import Digest, digests, has_digest
from dovetail._core.columns.table import Columns
from dovetail._core.condition.inputs import Input, Inputs
from dovetail._core.emit.cell import Cell, has_sequence
from dovetail._core.placement.boxes import cut_boxes, home_boxes, reached_boxes
from dovetail._core.plan.choose import Sample
from dovetail._core.plan.query import read_query
from dovetail._core.sweep.matches import SideKeys
from dovetail._hosts.arrow.join import arguments_of, cell_of
from dovetail.testing import assert_same_rows
from tests.amount import one_in
from tests.spark_answers import spark_frame
from tests.strategies import cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dovetail._core.aggregate.run import Argument
    from dovetail._core.plan.query import Query
    from tests.strategies import Case

KINDS = ["one_inequality", "point_in_interval", "band", "overlap", "two_inequalities", "many_inequalities"]
AGG = {
    "n": "count(*)",
    "there": "count(r.x)",
    "total": "sum(r.w)",
    "mean": "avg(r.w)",
    "spread": "stddev(r.w)",
    "some": "sum(r.w) FILTER (WHERE r.w > 0)",
    "least": "min(r.x)",
    "most": "max(r.x) FILTER (WHERE r.w > 0)",
    "first": "first(r.x)",
    "last": "last(r.x) FILTER (WHERE r.w IS NULL)",
}


@pytest.mark.parametrize("kind", KINDS)
def test_folds_of_cells_with_digests_are_those_of_all_rows(kind: str) -> None:
    fewer = settings(max_examples=one_in(4))
    fewer(given(cases(kind, hows=["inner"]), st.integers(2, 9))(_check))()


def _check(case: Case, cells: int) -> None:
    inputs = Inputs(*(Input(name, tuple(own.column_names)) for name, own in (("l", case.left), ("r", case.right))))
    query = read_query(inputs, on=case.on, agg=AGG, per="l")
    assume(query.condition.comparisons and not query.condition.keys and not query.condition.residuals)
    right = Columns.of("r", case.right)
    whole = cell_of(query, Columns.of("l", case.left), right)
    if not has_digest(query.aggregates, whole.kinds[0] if has_sequence(query.condition) else None):
        query = read_query(
            inputs, on=case.on, agg={k: v for k, v in AGG.items() if k not in ("first", "last")}, per="l"
        )
    arguments = [own.pick(whole.right.rows) for own in arguments_of(query, right)]
    sides = [SideKeys(np.arange(own.rows.size), None, own.values) for own in whole.sides]
    whole = Cell(whole.condition, sides[0], sides[1], whole.kinds)
    want = whole.fold(query.aggregates, arguments, "left", sides[0].rows.size, None)
    got = _by_cells(query, whole, arguments, cells)
    names = ["row", *(own.name for own in query.aggregates)]
    rows = pa.array(sides[0].rows)
    assert_same_rows(got, pa.table([rows, *want], names=names), tolerance=1e-9)


def _by_cells(query: Query, whole: Cell, arguments: list[Argument], cells: int) -> pa.Table:
    """Fold cell by cell, of rows and of what two tasks digest."""
    ops = [own.op for own in query.condition.comparisons]
    sample = Sample(whole.left.values, whole.right.values)
    tree = cut_boxes(sample, ops, cells, covering=True).tree
    home = home_boxes(tree, whole.left.values, whole.left.values)
    reached = reached_boxes(tree, sample, ops, covering=True)
    sequence = whole.right.values[0] if has_sequence(query.condition) else np.zeros(whole.right.rows.size, np.int64)
    brought: dict[int, list[pa.Table]] = {}
    for half in (0, 1):
        covers = [own._replace(rows=own.rows[own.rows % 2 == half]) for own in reached.covers]
        if covers:
            met, table = digests(query.aggregates, arguments, sequence, covers, cells)
            for row, cell in enumerate(met.tolist()):
                brought.setdefault(cell, []).append(table.slice(row, 1))
    parts = []
    for cell in range(cells):
        ours, theirs = np.flatnonzero(home == cell), reached.rows[reached.boxes == cell]
        sides = [
            SideKeys(np.arange(rows.size), None, tuple(values[rows] for values in own.values))
            for own, rows in ((whole.left, ours), (whole.right, theirs))
        ]
        digest = Digest(pa.concat_tables(brought[cell])) if cell in brought else None
        found = Cell(whole.condition, sides[0], sides[1], whole.kinds).fold(
            query.aggregates, [own.pick(theirs) for own in arguments], "left", ours.size, None, digest
        )
        parts.append(pa.table([pa.array(ours), *found], names=["row", *(own.name for own in query.aggregates)]))
    return pa.concat_tables(parts)


@pytest.mark.parametrize(
    ("on", "copies"),
    [
        ("l.x > r.x", 1.05),
        ("l.t <= r.t", 1.05),
        ("l.s > r.s", 1.05),
        ("l.x > r.x AND l.t < r.t", 4.0),
        ("l.k = r.k AND l.x >= r.x", 1.3),
        ("r.x BETWEEN l.x AND l.e", 2.5),
    ],
)
def test_spark_sends_each_row_to_few_cells_and_folds_as_arrow_does(spark: SparkSession, on: str, copies: float) -> None:
    left, right = _rows(2_000, 1), _rows(3_000, 2)
    agg = AGG if "l.s" not in on else {name: text for name, text in AGG.items() if name not in ("first", "last")}
    call: dict[str, Any] = {"on": on, "agg": agg, "per": "l"}
    frames = spark_frame(spark, left), spark_frame(spark, right)
    got = dv.join(*frames, **call, algorithm="range", partitions=12)
    assert_same_rows(got.toArrow(), dv.join(left, right, **call), tolerance=1e-9)
    plan = dv.explain(*frames, **call, algorithm="range", partitions=12)
    assert "digest" in plan.reason
    assert plan.rows_moved is not None
    assert plan.rows_moved <= 2_000 + copies * 3_000


def _rows(size: int, seed: int) -> pa.Table:
    """Rows of which a third have one key; some values are NULL, and times tie."""
    dice = np.random.default_rng(seed)
    x = dice.integers(0, 1_000_000, size)
    return pa.table(
        {
            "id": np.arange(size),
            "k": np.where(dice.random(size) < 0.3, 0, dice.integers(1, 500, size)),
            "x": pa.array(x, mask=dice.random(size) < 0.03),
            "e": x + dice.integers(0, 50_000, size),
            "t": pa.array(dice.integers(0, 300, size), pa.timestamp("us", "UTC")),
            "s": pa.array([f"{n:07}" for n in x]),
            "w": pa.array(dice.normal(1e6, 1, size), mask=dice.random(size) < 0.1),
        }
    )
