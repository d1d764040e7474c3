"""A join of three and more tables: two-way joins one after the other, some rows at a time; or folds along a tree."""

from __future__ import annotations

import sys
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from dovetail._core.columns.axis import MOST
from dovetail._core.columns.table import Columns, settled_schema
from dovetail._core.columns.types import is_of_nanoseconds
from dovetail._core.condition.inputs import Input, Inputs, ManyInputs
from dovetail._core.plan.aggregates import Aggregate
from dovetail._core.plan.cascade import SAMPLED_ROWS, cascade, connected_pairs, greedy_order
from dovetail._core.plan.choose import evenly_spaced
from dovetail._core.plan.fold_tree import fold_tree
from dovetail._core.plan.many import read_many
from dovetail._core.plan.many_plan import many_plan
from dovetail._core.plan.query import read_query, selected
from dovetail._hosts.arrow import join as two
from dovetail._hosts.arrow.frames import Frame, open_frames
from dovetail._hosts.ring.wire import chunks
from dovetail.errors import UnsupportedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dovetail._core.plan.cascade import Step
    from dovetail._core.plan.fold_tree import FoldTree
    from dovetail._core.plan.many import ManyQuery
    from dovetail._core.plan.plan import Plan
    from dovetail._core.plan.query import OutputColumn

    Tables = dict[str, pa.Table]

CHUNK_ROWS = 1 << 20
"""How many joined rows the next step takes at a time, at least."""


def run(frames: dict[str, Any], **call: Any) -> Any:
    """Join three and more frames; the result is of the kind of the first, or of the one named by `per`."""
    opened, query, tables = _open(frames, call)
    if query.per is not None:
        tree = fold_tree(query)
        _folded(tree, _none(tables))
        found = _folded(tree, tables)
        return opened[query.per].restore(found.schema, iter(found.to_batches()))
    schema = _finer(_schema(cascade(query, query.names), query, _none(tables)), query, tables)
    steps = cascade(query, _order(query, tables)[0])
    batches = (batch.cast(schema) for table in _joined(steps, query, tables) for batch in table.to_batches())
    return opened[query.names[0]].restore(schema, batches)


def explain(frames: dict[str, Any], **call: Any) -> Plan:
    """Say in which order the tables will be joined, and why."""
    _, query, tables = _open(frames, call)
    rows = {name: table.num_rows for name, table in tables.items()}
    if query.per is not None:
        _folded(fold_tree(query), _none(tables))
        return many_plan("arrow", query, query.names, rows, {})
    _schema(cascade(query, query.names), query, _none(tables))
    order, shares = _order(query, tables)
    return many_plan("arrow", query, order, rows, shares, _results(query, tables))


def _results(query: ManyQuery, tables: Tables) -> int | None:
    """The exact number of results if the conditions form a tree: counted without pairs, while counts fit 64 bits."""
    counting = replace(query, per=query.names[0], output=(), aggregates=(Aggregate("n", "count", None),))
    try:
        counts = _folded(fold_tree(counting), tables).column("n")
    except UnsupportedError:
        return None
    except UsageError:
        if prod(table.num_rows for table in tables.values()) <= MOST:
            raise
        return None
    return int(pc.sum(counts.cast(pa.decimal128(19, 0))).as_py() or 0)


def _open(frames: dict[str, Any], call: dict[str, Any]) -> tuple[dict[str, Frame], ManyQuery, Tables]:
    opened = open_frames(frames)
    inputs = [Input(name, tuple(frame.table.column_names)) for name, frame in opened.items()]
    kinds = {(name, own.name): str(own.type) for name, frame in opened.items() for own in frame.table.schema}
    query = read_many(inputs, kinds, **call)
    return opened, query, {name: two.windowed(frame.table, call.get("window")) for name, frame in opened.items()}


def _none(tables: Tables) -> Tables:
    """The same tables without rows: enough to find out whether everything can be evaluated."""
    return {name: table.slice(0, 0) for name, table in tables.items()}


def _two(names: tuple[str, str], tables: tuple[pa.Table, pa.Table], **call: Any) -> pa.RecordBatchReader:
    """A join of two tables whose rows are found as they are taken."""
    left, right = (Input(name, tuple(table.column_names)) for name, table in zip(names, tables, strict=True))
    ours, theirs = (Frame(table, pa.RecordBatchReader.from_batches) for table in tables)
    reader: pa.RecordBatchReader = two.run(read_query(Inputs(left, right), **call), ours, theirs)
    return reader


def _step(step: Step, query: ManyQuery, left: pa.Table, right: pa.Table) -> pa.RecordBatchReader:
    return _two((step.left, step.right), (left, right), on=step.on, select=step.select, **query.knobs.as_call())


def _schema(steps: list[Step], query: ManyQuery, tables: Tables) -> pa.Schema:
    """The columns that the steps lead to."""
    table = tables[steps[0].left]
    for step in steps:
        table = _step(step, query, table, tables[step.right]).read_all()
    return table.schema


def _finer(schema: pa.Schema, query: ManyQuery, tables: Tables) -> pa.Schema:
    """The columns with nanoseconds where they read some that count: without rows, all seem whole microseconds."""
    kinds = {(name, own.name): own.type for name, table in tables.items() for own in settled_schema(table)}
    fine = {key for key, kind in kinds.items() if is_of_nanoseconds(kind)}

    def finer(field: pa.Field, column: OutputColumn) -> pa.Field:
        read = {(own.table, own.name) for own in column.shows.node.find_all(exp.Column)}
        moment = pa.types.is_timestamp(field.type) and read & fine
        return field.with_type(pa.timestamp("ns", field.type.tz)) if moment else field

    return pa.schema([finer(*own) for own in zip(schema, query.output, strict=True)])


def _joined(steps: list[Step], query: ManyQuery, tables: Tables) -> Iterator[pa.Table]:
    """The rows of the last step; no step holds more than some of the rows of the one before."""
    found: Iterator[pa.Table] = iter([tables[steps[0].left]])
    for step in steps:
        found = _each(step, query, found, tables[step.right])
    return found


def _each(step: Step, query: ManyQuery, left: Iterator[pa.Table], right: pa.Table) -> Iterator[pa.Table]:
    for table in left:
        yield from chunks(_step(step, query, table, right), max(CHUNK_ROWS, 2 * right.num_rows), sys.maxsize)


def _order(query: ManyQuery, tables: Tables) -> tuple[list[str], Mapping[frozenset[str], float]]:
    """The order of the steps, and the share of pairs that each condition keeps, judged by samples."""
    samples = {name: _sample(table) for name, table in tables.items()}
    shares = {pair: _share(pair, on, samples) for pair, on in connected_pairs(query).items()}
    rows = {name: table.num_rows for name, table in tables.items()}
    return query.names if query.order == "given" else greedy_order(query, rows, shares), shares


def _sample(table: pa.Table) -> pa.Table:
    """Evenly spaced rows."""
    return table.take(pa.array(evenly_spaced(table.num_rows, SAMPLED_ROWS)))


def _share(pair: frozenset[str], on: str, samples: Tables) -> float:
    first, second = (name for name in samples if name in pair)
    tables = samples[first], samples[second]
    found = sum(batch.num_rows for batch in _two((first, second), tables, on=on))
    return float(found / max(1, len(tables[0]) * len(tables[1])))


def _folded(tree: FoldTree, tables: Tables) -> pa.Table:
    """Fold every input into its parent, then show what is kept."""
    tables = dict(tables)
    for fold in tree.folds:
        both = tables[fold.parent], tables[fold.child]
        names = fold.parent, fold.child
        found = _two(names, both, on=fold.on, select=fold.select, agg=fold.agg, per=fold.parent)
        tables[fold.parent] = found.read_all()
    kept = tables[tree.kept]
    own = ManyInputs((Input(tree.kept, tuple(kept.column_names)),))
    columns = Columns.whole(tree.kept, kept)
    output = selected(", ".join(tree.output), own, own.each)
    return pa.table({column.name: two.shown(columns, column) for column in output})
