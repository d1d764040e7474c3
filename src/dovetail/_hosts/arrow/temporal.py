"""A temporal join of tables in this process: one sweep over hidden intervals, then the unmatched stretches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dovetail._core.columns.table import settled_schema
from dovetail._core.columns.validity import instants, intervals, validity_axis
from dovetail._core.condition.inputs import Input, Inputs
from dovetail._core.emit.islands import islands
from dovetail._core.emit.stretches import Covered
from dovetail._core.kernels.sort import sort_with_order
from dovetail._core.plan.query import read_query
from dovetail._core.plan.validity import END, ROW, START, VALID_END, VALID_START
from dovetail._hosts.arrow import explain as explained
from dovetail._hosts.arrow import join as two
from dovetail._hosts.arrow import many
from dovetail._hosts.arrow.frames import Frame, open_frame, open_frames

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dovetail._core.plan.plan import Plan
    from dovetail._core.plan.validity import Temporal, Validity

BATCH = 1 << 16
"""Rows of a batch, where a table is read as a stream."""


def run(asked: Temporal, frames: dict[str, Frame]) -> Any:
    """Join frames while their rows are valid; the result is of the first one's kind."""
    tables = [frame.table for frame in frames.values()]
    if asked.algorithm != "auto":
        return _streamed(asked, frames)
    kind, sides = _sides(asked, tables)
    schema = _schema(asked, tables, kind)
    if asked.how in ("semi", "anti"):
        sides[1] = _numbered(islands(sides[1], asked.read_of(1)))
    pairs = _pairs(asked, sides)
    inner = (_shown(batch, schema, kind) for batch in pairs)
    batches = inner if asked.how == "inner" else _outer(asked, sides, pairs, schema, kind)
    return next(iter(frames.values())).restore(schema, batches)


def explain(asked: Temporal, frames: dict[str, Frame]) -> Plan:
    """Say how frames will be joined: as rows whose intervals overlap."""
    _, sides = _sides(asked, [frame.table for frame in frames.values()])
    if len(sides) > 2:  # noqa: PLR2004 -- three and more are a cascade
        plan = many.explain(dict(zip(asked.names, sides, strict=True)), on=asked.overlapping)
    else:
        query = read_query(Inputs(*asked.hidden_inputs), on=asked.overlapping)
        plan = explained.run(query, *(open_frame(*own) for own in zip(asked.names, sides, strict=True)))
    return asked.described(plan)


def _sides(asked: Temporal, tables: list[pa.Table]) -> tuple[pa.DataType, list[pa.Table]]:
    """The axis of time, and the tables with their validity on it."""
    kind = validity_axis(asked, [settled_schema(table) for table in tables])
    given = zip(asked.validity, asked.names, tables, strict=True)
    return kind, [_hidden(own, name, table, kind) for own, name, table in given]


def _streamed(asked: Temporal, frames: dict[str, Frame]) -> Any:
    """The same by an operator of streams, whose inputs are the tables by start."""
    from dovetail._hosts.arrow.streams.feed import drive  # noqa: PLC0415 -- an operator that was asked for
    from dovetail._hosts.arrow.streams.run import operator_for  # noqa: PLC0415

    tables = {name: frame.table for name, frame in frames.items()}
    operator = operator_for(asked, tuple(own.schema for own in tables.values()), disk={})
    feeds = {}
    for own, (name, table) in zip(asked.validity, tables.items(), strict=True):
        start = intervals(own, name, table, operator.told.axis).start
        feeds[name] = iter(table.take(pa.array(sort_with_order(start)[1])).to_batches(max_chunksize=BATCH))
    first = next(iter(frames.values()))
    return first.restore(operator.told.schema, drive(operator, feeds))


def frames_of(frames: dict[str, Any]) -> dict[str, Frame]:
    """The caller's frames as tables."""
    return open_frames(frames)


def inputs_of(frames: dict[str, Frame]) -> list[Input]:
    """What a condition may speak of."""
    return [Input(name, tuple(own.table.column_names)) for name, own in frames.items()]


def _hidden(own: Validity, name: str, table: pa.Table, kind: pa.DataType) -> pa.Table:
    """A table with its validity as order keys and the number of every row, of rows that are valid at all."""
    found = intervals(own, name, table, kind)
    table = table.append_column(START, pa.array(found.start)).append_column(END, pa.array(found.end))
    table = _numbered(table)
    return table if found.some.all() else table.filter(pa.array(found.some))


def _numbered(table: pa.Table) -> pa.Table:
    return table.append_column(ROW, pa.array(np.arange(table.num_rows)))


def _schema(asked: Temporal, tables: list[pa.Table], kind: pa.DataType) -> pa.Schema:
    own = dict(zip(asked.names, tables, strict=True))
    shown = [column.plain for column in asked.shown]
    fields = [
        pa.field(column.name, own[plain.table].schema.field(plain.name).type)
        for column, plain in zip(asked.shown, shown, strict=True)
        if plain is not None
    ]
    return pa.schema([*fields, pa.field(VALID_START, kind), pa.field(VALID_END, kind)])


def _pairs(asked: Temporal, sides: list[pa.Table]) -> Iterator[pa.RecordBatch]:
    """The rows of the inner join, its validity as keys; with the rows' numbers where stretches are asked for."""
    outer = asked.how != "inner"
    shown = () if asked.how in ("semi", "anti") else asked.shown
    call: dict[str, Any] = {
        "on": asked.overlapping,
        "select": asked.select_each(shown, [START, END, *([ROW] if outer else [])]),
    }
    if len(sides) > 2:  # noqa: PLR2004 -- three and more are a cascade
        readers = {
            name: pa.RecordBatchReader.from_batches(own.schema, own.to_batches())
            for name, own in zip(asked.names, sides, strict=True)
        }
        yield from many.run(readers, **call)
        return
    inputs = asked.hidden_inputs
    ours, theirs = (Frame(own, pa.RecordBatchReader.from_batches) for own in sides)
    yield from two.run(read_query(Inputs(inputs[0], inputs[1]), **call), ours, theirs)


def _shown(batch: pa.RecordBatch, schema: pa.Schema, kind: pa.DataType) -> pa.RecordBatch:
    """A batch of pairs as the caller sees it."""
    own = len(schema) - 2
    return pa.RecordBatch.from_arrays(
        [*batch.columns[:own], *(instants(key, kind) for key in _shared(batch))], schema=schema
    )


def _shared(batch: pa.RecordBatch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The time that the rows of each result share: from the last start to the first end."""
    keys = [
        [_numbers(batch, name) for name in batch.schema.names if name.startswith(f"{column} ")]
        for column in (START, END)
    ]
    return np.maximum.reduce(keys[0]), np.minimum.reduce(keys[1])


def _numbers(batch: pa.RecordBatch, name: str) -> NDArray[np.int64]:
    found: NDArray[np.int64] = batch.column(name).to_numpy(zero_copy_only=False)
    return found


def _outer(
    asked: Temporal, sides: list[pa.Table], pairs: Iterator[pa.RecordBatch], schema: pa.Schema, kind: pa.DataType
) -> Iterator[pa.RecordBatch]:
    """The pairs, if the join type shows them, then the stretches of either side that it keeps."""
    covered = [Covered() if keeps else None for keeps in _keeps(asked)]
    for batch in pairs:
        for i, own in enumerate(covered):
            if own is not None:
                own.add(_numbers(batch, f"{ROW} {i}"), *_shared(batch))
        if asked.how not in ("semi", "anti"):
            yield _shown(batch, schema, kind)
    for i, own in enumerate(covered):
        if own is not None:
            yield _stretches(i, sides[i], own, asked, schema, kind)


def _keeps(asked: Temporal) -> tuple[bool, bool]:
    return asked.how != "right", asked.how in ("right", "full")


def _stretches(
    number: int, side: pa.Table, covered: Covered, asked: Temporal, schema: pa.Schema, kind: pa.DataType
) -> pa.RecordBatch:
    """Stretches of one side's rows, the other side's columns NULL."""
    keys = [side.column(name).to_numpy() for name in (ROW, START, END)]
    found = covered.stretches() if asked.how == "semi" else covered.gaps(*keys)
    rows = side.take(pa.array(np.searchsorted(keys[0], found.rows)))
    columns = [
        rows.column(plain.name).combine_chunks()
        if plain.table == asked.names[number]
        else pa.nulls(len(rows), field.type)
        for plain, field in zip((own.plain for own in asked.shown), schema, strict=False)
        if plain is not None
    ]
    return pa.RecordBatch.from_arrays([*columns, instants(found.start, kind), instants(found.end, kind)], schema=schema)
