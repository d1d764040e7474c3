"""A join of two tables in this process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dovetail._core.aggregate.functions import result_type
from dovetail._core.aggregate.run import Argument
from dovetail._core.columns.solve import solved
from dovetail._core.columns.table import Columns
from dovetail._core.emit.cell import Cell
from dovetail._core.plan.outer import MOST_WORKERS
from dovetail._core.plan.query import WINDOW
from dovetail._core.sweep.residual import residual_test
from dovetail._hosts.arrow.evaluate import side_columns
from dovetail._hosts.arrow.outer import deal
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from dovetail._core.plan.query import OutputColumn, Query
    from dovetail._hosts.arrow.frames import Frame


def run(query: Query, left: Frame, right: Frame) -> Any:
    """Join two frames; the result is of the kind of the kept side: the left one, or the one named by `per`."""
    query, ours, theirs = opened(query, left, right)
    frame = right if query.per == "right" else left
    batches = _folded(query, ours, theirs) if query.per else _joined(query, ours, theirs)
    return frame.restore(output_schema(query, ours, theirs), batches)


def opened(query: Query, left: Frame, right: Frame) -> tuple[Query, Columns, Columns]:
    """The columns of both tables, once nothing is found wrong with the call, and the call as their types allow it."""
    tables = [windowed(frame.table, query.knobs.window) for frame in (left, right)]
    ours, theirs = (Columns.whole(own.name, table) for own, table in zip(query.inputs.each, tables, strict=True))
    check(query, ours, theirs)
    nothing = ours.none().beside(theirs.none())
    return solved(query, lambda terms: {own.sql: nothing.evaluate(own).type for own in terms}), ours, theirs


def windowed(table: pa.Table, window: int | None) -> pa.Table:
    """A table with the number of every row's window, if there are windows."""
    if window is None:
        return table
    return table.append_column(WINDOW, pa.array(np.arange(table.num_rows) // window, pa.int64()))


def threads() -> int:
    """As many as this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def workers(query: Query) -> int:
    """How many workers share a join that is dealt to some."""
    number = query.cells or threads()
    if number > MOST_WORKERS:
        raise UsageError.number_of_workers("partitions", number, MOST_WORKERS)
    return number


def cell_of(query: Query, left: Columns, right: Columns) -> Cell:
    """Both sides as one cell."""
    return Cell.of(query.condition, *side_columns(query.condition, left, right), threads=threads())


def output_schema(query: Query, left: Columns, right: Columns) -> pa.Schema:
    """The result's columns and types, learned by evaluating over no rows."""
    nothing = left.none().beside(right.none())
    fields = [pa.field(column.name, shown(nothing, column).type) for column in query.output]
    for aggregate in query.aggregates:
        kind = None if aggregate.argument is None else nothing.evaluate(aggregate.argument).type
        if aggregate.where is not None:
            nothing.boolean(aggregate.where)
        fields.append(pa.field(aggregate.name, result_type(aggregate, kind)))
    return pa.schema(fields)


def check(query: Query, left: Columns, right: Columns) -> None:
    """Find out over no rows whether every part of the call can be evaluated."""
    ours, theirs = left.none(), right.none()
    side_columns(query.condition, ours, theirs)
    for residual in query.condition.residuals:
        ours.beside(theirs).boolean(residual)
    output_schema(query, ours, theirs)


def _joined(query: Query, left: Columns, right: Columns) -> Iterator[pa.RecordBatch]:
    if query.knobs.outer:
        dealt = deal(query, left, right)
        project = _projection(query, dealt.names, left, right)
        yield from map(project, dealt.batches(workers(query)))
        return
    inputs = query.inputs
    ours, theirs = query.read_by_output(inputs.left.name), query.read_by_output(inputs.right.name)
    names = [*((inputs.left.name, own) for own in ours), *((inputs.right.name, own) for own in theirs)]
    project = _projection(query, names, left, right)
    batches = cell_of(query, left, right).rows(
        query.how,
        [left.raw[inputs.left.name, own] for own in ours],
        [right.raw[inputs.right.name, own] for own in theirs],
        (left.rows, right.rows),
        residual_test(query.condition.residuals, left, right),
        query.knobs if query.knobs.partitioned else None,
    )
    for batch in batches:
        yield project(batch)


def _projection(
    query: Query, names: Sequence[tuple[str, str]], left: Columns, right: Columns
) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
    """How to get what the result shows from the columns that travelled; plain columns need no more than picking."""
    if not query.output:
        return lambda batch: batch  # rows alone, which Arrow would not count without a column
    plain, coarse = [column.plain for column in query.output], left.beside(right).coarse
    schema = output_schema(query, left, right)
    picks = [names.index((own.table, own.name)) for own in plain if own is not None]

    def pick(batch: pa.RecordBatch) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([batch.column(i) for i in picks], schema=schema)

    def show(batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = Columns(dict(zip(names, batch.columns, strict=True)), batch.num_rows, coarse)
        return pa.RecordBatch.from_arrays([shown(columns, column) for column in query.output], schema=schema)

    return pick if picks and len(picks) == len(plain) else show


def shown(columns: Columns, column: OutputColumn) -> pa.Array:
    """A plain column as it is, of the caller's own type; an expression evaluated."""
    plain = column.plain
    return columns.evaluate(column.shows) if plain is None else columns.raw[plain.table, plain.name]


def arguments_of(query: Query, folded: Columns) -> list[Argument]:
    """What each aggregate reads of the folded side."""
    return [
        Argument(
            None if own.argument is None else folded.evaluate(own.argument),
            None if own.where is None else folded.boolean(own.where),
        )
        for own in query.aggregates
    ]


def _folded(query: Query, left: Columns, right: Columns) -> Iterator[pa.RecordBatch]:
    per, other = (left, right) if query.per == "left" else (right, left)
    assert query.per is not None
    arguments = arguments_of(query, other)
    test = residual_test(query.condition.residuals, left, right)
    folded = cell_of(query, left, right).fold(query.aggregates, arguments, query.per, per.rows, test)
    kept = [shown(per, column) for column in query.output]
    yield pa.RecordBatch.from_arrays([*kept, *folded], schema=output_schema(query, left, right))
