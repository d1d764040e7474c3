"""The plan of a join of two DataFrames: each side is read once for its statistics, as the join would."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.plan.choose import SAMPLE, choose_shape
from dovetail._core.plan.matrix import matrix_of
from dovetail._core.plan.plan import Plan
from dovetail._core.plan.shape import Kind, kind_of
from dovetail._core.plan.uses import uses
from dovetail._hosts.spark.join import Known, aggregate_types, branches, stays_with_spark
from dovetail._hosts.spark.place import plan_cells
from dovetail._hosts.spark.sampled import sample_of
from dovetail._hosts.spark.sides import project
from dovetail._hosts.spark.statistics import read_statistics

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Op
    from dovetail._core.plan.choose import Sample
    from dovetail._core.plan.matrix import Matrix, Members
    from dovetail._core.plan.query import Query
    from dovetail._hosts.spark.frames import SparkFrame
    from dovetail._hosts.spark.join import Branch
    from dovetail._hosts.spark.sides import Sides


def run(query: Query, left: SparkFrame, right: SparkFrame) -> Plan:
    """Say how two DataFrames will be joined."""
    sides = project(query, left, right)
    if stays_with_spark(query, sides):
        return _sparks_own(query, sides)
    aggregate_types(query, sides)
    parts = branches(query, Known(sides))
    return _of_branch(query, parts[0], full=len(parts) > 1)


def _sparks_own(query: Query, sides: Sides) -> Plan:
    """Spark's own join: a hash or sort-merge join by keys, or a nested loop, whose cost is counted."""
    condition = sides.condition
    shape = choose_shape(condition)
    kind = kind_of(condition, shape)
    known: dict[str, Any] = {}
    if kind is Kind.NESTED_LOOP:
        rows = [own.fitting for own in read_statistics(sides)]
        known["products"] = rows[0] * rows[1]
        reason = (
            "no equality and no order that we know between the sides: Spark's nested loop must test every pair, "
            f"{known['products']:,} of them; the cost grows with the product of both sides"
        )
    elif kind is Kind.EQUALITY:
        reason = "equality alone: Spark's own join is the best plan"
    else:
        reason = "Spark's own join was asked for; without an equality it compares every pair"
    return _plan(query, kind.value, "spark", reason, uses(condition, shape), **known)


def _of_branch(query: Query, branch: Branch, *, full: bool) -> Plan:
    condition = branch.sides.condition
    statistics = branch.known.statistics
    sample, anchors = sample_of(condition, *statistics)
    ops = tuple(comparison.op for comparison in condition.comparisons)
    rows = statistics[0].fitting, statistics[1].fitting
    known: dict[str, Any] = {
        "products": rows[0] * rows[1],
        "rows_moved": rows[1] * branch.decision.cells,
        "cells": branch.decision.cells,
    }
    if ops and not condition.residuals:
        known["results"] = round(sample.share(ops) * rows[0] * rows[1])
    members = None
    if branch.decision.algorithm == "range":
        cells = plan_cells(branch.sides, sample, anchors, branch.decision.cells)
        members = cells.members(sample, ops)
        known |= _loads(members, sample, ops, rows)
    shape = choose_shape(condition, sample)
    reason = branch.decision.reason + ("; the other side's unmatched rows come from an anti join" if full else "")
    return _plan(
        query,
        kind_of(condition, shape).value,
        branch.decision.algorithm,
        reason,
        uses(condition, shape),
        matrix=_matrix(query, branch, sample, members),
        **known,
    )


def _matrix(query: Query, branch: Branch, sample: Sample, members: Members | None) -> Matrix | None:
    """The matrix with the caller's left side on the left, whichever side is the anchor."""
    condition = branch.sides.condition
    if not condition.comparisons:
        return None
    if branch.sides.left.name == query.inputs.left.name:
        return matrix_of(condition, sample, members)
    return matrix_of(condition.flip(), sample.flip(), None if members is None else members.flip())


def _loads(members: Members, sample: Sample, ops: tuple[Op, ...], rows: tuple[int, int]) -> dict[str, Any]:
    """Products, rows moved and the balance of the cells, from the sample up to all rows."""
    sizes = members.left.shape[1], members.right.shape[1]
    if not all(sizes):
        return {"cells": members.left.shape[0], "products": 0, "rows_moved": rows[0] + rows[1]}
    anchors = members.left.sum(axis=1) * (rows[0] / sizes[0])
    others = members.right.sum(axis=1) * (rows[1] / sizes[1])
    return {
        "cells": members.left.shape[0],
        "products": round(float(anchors @ others)),
        "rows_moved": round(float(anchors.sum() + others.sum())),
        "load_in": _balance(anchors + others),
        "load_out": _balance(_results_by_cell(members, sample, ops)),
    }


def _results_by_cell(members: Members, sample: Sample, ops: tuple[Op, ...]) -> NDArray[np.float64]:
    """Sampled matches in each cell."""
    picks = [
        np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.int64))
        for n in (members.left.shape[1], members.right.shape[1])
    ]
    holds = sample.pick(*picks).holds(ops).astype(np.float32)
    per_anchor = members.right[:, picks[1]].astype(np.float32) @ holds.T
    return np.asarray((per_anchor * members.left[:, picks[0]]).sum(axis=1), np.float64)


def _balance(loads: NDArray[np.float64]) -> float:
    """The greatest over the mean."""
    return float(loads.max() / loads.mean()) if loads.size and loads.mean() > 0 else 1.0


def _plan(
    query: Query, kind: str, algorithm: str, reason: str, parts: tuple[tuple[str, str], ...], **known: Any
) -> Plan:
    return Plan(
        host="spark",
        kind=kind,
        how=query.how,
        algorithm=algorithm,
        condition=query.condition.sql.replace("`", ""),
        uses=parts,
        reason=reason,
        **known,
    )
