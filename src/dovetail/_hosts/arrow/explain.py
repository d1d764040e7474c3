"""The plan of a join of two tables: the keys are read and counted, no pair is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dovetail._core.condition.parse import told
from dovetail._core.emit.placed_sample import placed_sample
from dovetail._core.plan.knobs import PROGRESSIVE
from dovetail._core.plan.matrix import matrix_of
from dovetail._core.plan.plan import Plan
from dovetail._core.plan.shape import Kind
from dovetail._core.plan.uses import uses
from dovetail._core.sweep.placed_join import PlacedJoin
from dovetail._hosts.arrow.join import cell_of, opened, threads, workers
from dovetail._hosts.arrow.outer import deal
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from dovetail._core.condition.values import Side
    from dovetail._core.emit.cell import Cell
    from dovetail._core.plan.knobs import Knobs
    from dovetail._core.plan.query import Query
    from dovetail._core.plan.shape import Shape
    from dovetail._hosts.arrow.frames import Frame
    from dovetail._hosts.arrow.outer import Dealt


def run(query: Query, left: Frame, right: Frame) -> Plan:
    """Say how two tables will be joined."""
    if query.algorithm == PROGRESSIVE and query.how != "inner":
        raise UsageError.only_inner(PROGRESSIVE, query.how)
    query, ours, theirs = opened(query, left, right)
    cell = cell_of(query, ours, theirs)
    if query.knobs.outer:
        return _dealt(query, cell, deal(query, ours, theirs))
    if query.knobs.partitioned and query.per is None:
        return _placed(query, cell, query.knobs)
    shape = cell.shape(_stored(query))
    kind = cell.kind(shape)
    products = cell.left.rows.size * cell.right.rows.size
    results, exact = _results(query, cell, shape)
    known = {
        "products": products,
        "results": results,
        "exact": exact,
        "matrix": matrix_of(query.condition, cell.sample()),
    }
    return _plan(query, cell, shape, _algorithm(query, kind), _reason(query, kind, products), **known)


def _placed(query: Query, cell: Cell, knobs: Knobs) -> Plan:
    """The plan of a partitioned theta-join: every product and every result is counted."""
    join = cell.placed(knobs)
    assert isinstance(join.pairs, PlacedJoin)
    windows = join.pairs.windows
    load_in, load_out = windows.loads(threads())
    sample, members = placed_sample(cell, join)
    return _plan(
        query,
        cell,
        cell.shape(),
        knobs.algorithm,
        f"asked for: {knobs}",
        cells=windows.cells,
        products=windows.products,
        results=windows.results,
        exact=not query.condition.residuals,
        load_in=load_in,
        load_out=load_out,
        matrix=matrix_of(query.condition, sample, members),
    )


def _dealt(query: Query, cell: Cell, dealt: Dealt) -> Plan:
    """The plan of an equality join by workers: what each algorithm moves follows from the sizes."""
    number, (travelling, stored) = workers(query), (table.num_rows for table in dealt.tables)
    both = travelling + stored
    moved = both * (number - 1) // number if query.algorithm == "redistribute" else travelling * (number - 1)
    reason = f"{dealt.outer.reason}; {number} workers in this process pass about {moved:,} rows to each other"
    return _plan(query, cell, cell.shape(), query.algorithm, reason, cells=number, rows_moved=moved)


def _plan(query: Query, cell: Cell, shape: Shape, algorithm: str, reason: str, **known: Any) -> Plan:
    return Plan(
        host="arrow",
        kind=cell.kind(shape).value,
        how=query.how,
        algorithm=algorithm,
        condition=told(query.condition.sql),
        uses=uses(query.condition, shape),
        reason=reason,
        folds=query.per is not None,
        **known,
    )


def _stored(query: Query) -> Side | None:
    """The side that the join would ask to have sorted."""
    if query.per is not None:
        return "left" if query.per == "right" else "right"
    return "right" if query.how in ("semi", "anti") else None


def _results(query: Query, cell: Cell, shape: Shape) -> tuple[int | None, bool]:
    """Count exactly if the sweep alone decides; estimate from a sample if pairs would have to be tested."""
    if not shape.rest and not query.condition.residuals:
        return cell.join(None, _stored(query)).pairs.count(), True
    ops = tuple(comparison.op for comparison in query.condition.comparisons)
    if not ops:
        return None, False
    return round(cell.sample().share(ops) * cell.left.rows.size * cell.right.rows.size), False


def _algorithm(query: Query, kind: Kind) -> str:
    if query.algorithm == PROGRESSIVE:
        return PROGRESSIVE
    return "nested loop" if kind is Kind.NESTED_LOOP else "fold" if query.per else "sweep"


def _reason(query: Query, kind: Kind, products: int) -> str:
    if query.algorithm == PROGRESSIVE:
        return "asked for: rows are sorted and joined as they come, and merged again in runs on disk"
    if kind is Kind.NESTED_LOOP:
        return (
            f"no equality and no < <= > >= between the sides: every pair must be tested, {products:,} of them; "
            "the cost grows with the product of both sides"
        )
    asked = f"{query.algorithm!r} is a way of Spark's; " if query.algorithm in ("broadcast", "range", "spark") else ""
    return f"{asked}both sides fit this process: sorted once, partners found by position"
