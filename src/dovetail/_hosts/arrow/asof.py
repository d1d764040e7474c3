"""An as-of join of two tables in this process."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail._core.columns.solve import solved
from dovetail._core.columns.table import Columns
from dovetail._core.emit.asof import AsOfCell
from dovetail._core.emit.rows import SideRows, emit
from dovetail._core.kernels.memory import numbered
from dovetail._core.plan.offset import PerRow
from dovetail._core.plan.timed_plan import IN_PROCESS, asof_plan
from dovetail._core.sweep.residual import residual_test
from dovetail._hosts.arrow.evaluate import timed_columns
from dovetail._hosts.arrow.join import output_schema, threads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlglot import exp

    from dovetail._core.plan.plan import Plan
    from dovetail._core.plan.timed import AsOf
    from dovetail._hosts.arrow.frames import Frame


def run(asked: AsOf, left: Frame, right: Frame) -> Any:
    """Join two frames; the result is of the left one's kind."""
    asked, ours, theirs = _opened(asked, left, right)
    return left.restore(output_schema(asked.query, ours, theirs), _rows(asked, ours, theirs))


def explain(asked: AsOf, left: Frame, right: Frame) -> Plan:
    """Say how two frames will be joined; the pairs are counted, no row is made."""
    asked, ours, theirs = _opened(asked, left, right)
    pairs = _cell(asked, ours, theirs).pairs(residual_test(asked.query.condition.residuals, ours, theirs))
    return asof_plan(asked, "arrow", "sweep", IN_PROCESS, results=pairs.count(), exact=True)


def _opened(asked: AsOf, left: Frame, right: Frame) -> tuple[AsOf, Columns, Columns]:
    """Both tables as columns, once it is known that the call can be carried out, and the call as their types allow it.

    Differences in `where` are solved, as in `join`: candidates that fail them are skipped instead of tested.
    """
    ours = Columns.whole(asked.query.inputs.left.name, left.table)
    theirs = Columns.whole(asked.query.inputs.right.name, right.table)
    _check(asked, ours.none(), theirs.none())
    nothing = ours.none().beside(theirs.none())
    query = solved(asked.query, lambda terms: {own.sql: nothing.evaluate(own).type for own in terms})
    return replace(asked, query=query), ours, theirs


def _check(asked: AsOf, left: Columns, right: Columns) -> None:
    """Find out over no rows whether the call can be carried out."""
    _cell(asked, left, right).check()
    for residual in asked.query.condition.residuals:
        left.beside(right).boolean(residual)


def _cell(asked: AsOf, left: Columns, right: Columns) -> AsOfCell:
    """Both tables as one cell."""
    tolerance = asked.tolerance
    own = left.evaluate(tolerance.column) if isinstance(tolerance, PerRow) else None
    ties = [_as_it_is(right, column.node) for column in asked.tie_break]  # type: ignore[arg-type]
    return AsOfCell(asked, *timed_columns(asked.query.condition, left, right), own, ties, threads())


def _as_it_is(right: Columns, column: exp.Column) -> pa.Array:
    """A column that orders ties; times as they are, be they finer or further away than Spark's."""
    raw = right.raw[column.table, column.name]
    return raw if pa.types.is_temporal(raw.type) else right.column(column)


def _rows(asked: AsOf, left: Columns, right: Columns) -> Iterator[pa.RecordBatch]:
    query = asked.query
    pairs = _cell(asked, left, right).pairs(residual_test(query.condition.residuals, left, right))
    ours, theirs = (SideRows(tuple(own.raw.values()), own.rows, numbered(own.rows)) for own in (left, right))
    schema = output_schema(query, left, right)
    for batch in emit(pairs, ours, theirs, query.how, schema.names, threads()):
        yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)
