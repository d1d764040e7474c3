"""The plan of a join of two DataFrames: each side is read once for its statistics, as the join would."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail._core.condition.parse import told
from dovetail._core.condition.residual import by_keys
from dovetail._core.plan.choose import choose_shape
from dovetail._core.plan.knobs import FAMILY
from dovetail._core.plan.matrix import matrix_of
from dovetail._core.plan.plan import Plan
from dovetail._core.plan.shape import Kind, Shape, kind_of
from dovetail._core.plan.uses import uses
from dovetail._hosts.spark.frames import cores_of
from dovetail._hosts.spark.join import Branches, SparksOwn, ways
from dovetail._hosts.spark.loads import Loads
from dovetail._hosts.spark.marks import Marked
from dovetail._hosts.spark.outer import OuterJoin
from dovetail._hosts.spark.place import plan_cells
from dovetail._hosts.spark.ring import refuse_residuals_of_ring
from dovetail._hosts.spark.sampled import sample_with_spans, sampled_windows
from dovetail._hosts.spark.statistics import read_statistics
from dovetail._hosts.spark.unfold import Unfolding

if TYPE_CHECKING:
    from typing import Any

    import pyarrow as pa

    from dovetail._core.plan.choose import Sample
    from dovetail._core.plan.matrix import Matrix, Members
    from dovetail._core.plan.outer import Outer
    from dovetail._core.plan.query import Query
    from dovetail._hosts.spark.branch import Branch
    from dovetail._hosts.spark.frames import SparkFrame
    from dovetail._hosts.spark.sides import Sides


def run(query: Query, left: SparkFrame, right: SparkFrame) -> Plan:
    """Say how two DataFrames will be joined."""
    match next(ways(query, left, right)):
        case OuterJoin() as way:
            return _of_outer(way.query, way.known.sides, way.outer)
        case Unfolding() as way:
            return _unfolded(way)
        case Branches() as way:
            return _of_branches(way)
        case SparksOwn() as way:
            return _sparks_own(way.query, way.sides, way.reason or _why_sparks(way.sides))


def _of_branches(way: Branches) -> Plan:
    """The plan of the first, and what comes with it."""
    first, *others = way.each
    marks = f"; which of its rows have {'a' if way.query.how == 'semi' else 'no'} partner is told by bits"
    unmatched = "; the other side's unmatched rows come from an anti join"
    if isinstance(first, Marked):
        return _of_branch(way.query, first.branch, marks)
    by_marks = any(isinstance(own, Marked) for own in others)
    return _of_branch(way.query, first, marks if by_marks else unmatched if others else "")


def _of_outer(query: Query, sides: Sides, outer: Outer) -> Plan:
    """An equality join that keeps a small side: what it takes depends on the sizes alone."""
    if outer.algorithm == "ring":
        refuse_residuals_of_ring(sides)
    shape = choose_shape(sides.condition)
    kind = kind_of(sides.condition, shape).value
    return _plan(query, kind, outer.algorithm, outer.reason, uses(sides.condition, shape))


def _unfolded(own: Unfolding) -> Plan:
    """Slices found in the driver, of which all is known."""
    condition, shape = own.sides.condition, own.cell.shape()
    left, right = (table.num_rows for table in own.tables)
    moved = (left + right) * cores_of(own.sides.left.frame)
    facts = {"results": own.results, "exact": True, "products": left * right, "rows_moved": moved}
    matrix = matrix_of(condition, own.cell.sample())
    return _plan(
        own.query, own.cell.kind(shape).value, "unfold", own.reason, uses(condition, shape), matrix=matrix, **facts
    )


def _why_sparks(sides: Sides) -> str | None:
    """Why nothing but Spark's own join will do, if that is so."""
    if sides.only_sparks:
        return f"only Spark can tell values apart in {told(sides.only_sparks[0])}: its own join goes by that equality"
    if sides.cannot_leave is None or not sides.condition.comparisons:
        return None
    column, kind = sides.cannot_leave
    return f"column {column} is {kind}, which cannot leave Spark: its own join compares every pair"


def _sparks_own(query: Query, sides: Sides, chosen: str | None = None) -> Plan:
    """Spark's own join: a hash or sort-merge join by keys, or a nested loop, whose cost is counted.

    `chosen` says why the plan chose it, if neither the caller nor the condition did.
    """
    condition = sides.condition
    shape = choose_shape(condition)
    kind = Kind.EQUALITY if sides.only_sparks and not shape.used else kind_of(condition, shape)
    known: dict[str, Any] = {}
    if kind is Kind.NESTED_LOOP:
        rows = [own.fitting for own in read_statistics(sides)]
        known["products"] = rows[0] * rows[1]
        reason = (
            "no equality and no order that we know between the sides: Spark's nested loop must test every pair, "
            f"{known['products']:,} of them; the cost grows with the product of both sides"
        )
    elif chosen is not None:
        reason = chosen
    elif kind is Kind.EQUALITY:
        reason = "equality alone: Spark's own join is the best plan"
    else:
        reason = "Spark's own join was asked for; without an equality it compares every pair"
    parts = uses(by_keys(query.condition), Shape("right")) if sides.only_sparks else uses(condition, shape)
    return _plan(query, kind.value, "spark", reason, parts, **known)


def _of_branch(query: Query, branch: Branch, beside: str) -> Plan:
    """One join of rows that are placed, from samples up; `beside` tells of what comes with it."""
    condition = branch.sides.condition
    statistics = branch.known.statistics
    sample, anchors = sample_with_spans(condition, *statistics)
    ops = tuple(comparison.op for comparison in condition.comparisons)
    rows = statistics[0].fitting, statistics[1].fitting
    members, known = _placed(branch, sample, anchors, rows)
    if ops and not condition.residuals:
        known["results"] = round(sample.share(ops) * rows[0] * rows[1])
    if branch.decision.algorithm in FAMILY:
        known |= _partitioned(branch, sample)
    shape = choose_shape(condition, sample)
    return _plan(
        query,
        kind_of(condition, shape).value,
        branch.decision.algorithm,
        branch.decision.reason + beside,
        uses(condition, shape),
        matrix=_matrix(query, branch, sample, members),
        **known,
    )


def _placed(
    branch: Branch, sample: Sample, anchors: pa.Table, rows: tuple[int, int]
) -> tuple[Members | None, dict[str, Any]]:
    """Which sampled rows each cell gets, if rows go to cells; and what moves and meets there."""
    ops, number = tuple(own.op for own in branch.sides.condition.comparisons), branch.decision.cells
    known: dict[str, Any] = {"products": rows[0] * rows[1], "rows_moved": rows[1] * number, "cells": number}
    theta = branch.theta() if branch.dealt else None
    if theta is not None:
        members = theta.members(sample)
        loads = Loads.of(members, sample, ops, rows)
        return members, known | {"rows_moved": loads.moved if loads else 0}
    if branch.decision.algorithm == "broadcast":
        return None, known
    cells = plan_cells(branch.sides, sample, anchors, number, branch.query.aggregates)
    members = cells.members(sample, ops)
    loads = Loads.of(cells.members(sample, ops, covering=cells.covering), sample, ops, rows)
    return members, _known(loads) if loads else {"cells": cells.number, "products": 0, "rows_moved": sum(rows)}


def _known(loads: Loads) -> dict[str, Any]:
    return {
        "cells": loads.cells,
        "products": loads.products,
        "rows_moved": loads.moved,
        "load_in": loads.load_in,
        "load_out": loads.load_out,
    }


def _partitioned(branch: Branch, sample: Sample) -> dict[str, Any]:
    """What a partitioned theta-join costs, from the samples up: exact if they hold all rows that can match."""
    left, right = branch.known.statistics
    windows = sampled_windows(branch.sides.condition, branch.knobs, left.sample, right.sample)
    rows, sizes = (left.fitting, right.fitting), (sample.left[0].size, sample.right[0].size)
    scale = (rows[0] / max(1, sizes[0])) * (rows[1] / max(1, sizes[1]))
    load_in, load_out = windows.loads(branch.decision.cells)
    known: dict[str, Any] = {"products": round(windows.products * scale), "cells": windows.cells}
    known |= {"load_in": load_in, "load_out": load_out}
    if branch.sides.condition.residuals:
        return known
    return {**known, "results": round(windows.results * scale), "exact": sizes == rows}


def _matrix(query: Query, branch: Branch, sample: Sample, members: Members | None) -> Matrix | None:
    """The matrix with the caller's left side on the left, whichever side is the anchor."""
    condition = branch.sides.condition
    if not condition.comparisons:
        return None
    if branch.sides.left.name == query.inputs.left.name:
        return matrix_of(condition, sample, members)
    return matrix_of(condition.flip(), sample.flip(), None if members is None else members.flip())


def _plan(
    query: Query, kind: str, algorithm: str, reason: str, parts: tuple[tuple[str, str], ...], **known: Any
) -> Plan:
    return Plan(
        host="spark",
        kind=kind,
        how=query.how,
        algorithm=algorithm,
        condition=told(query.condition.sql),
        uses=parts,
        reason=reason,
        folds=query.per is not None,
        **known,
    )
