"""A window join of two tables by the engine: their rows in the order of time, the watermark at the last one taken."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._core.columns.table import Columns
from dovetail._core.condition.parse import column_expression
from dovetail._core.kernels.sort import sort_with_order
from dovetail._core.plan.online import read_choices
from dovetail._core.plan.query import OutputColumn
from dovetail._core.plan.timed_plan import window_plan
from dovetail._hosts.arrow import window
from dovetail._hosts.arrow.evaluate import timed_columns
from dovetail._hosts.arrow.join import output_schema, workers
from dovetail._hosts.online.definition import Definition
from dovetail._hosts.online.engine import BASE, PROBE, Engine
from dovetail._hosts.online.reading import Given

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dovetail._core.plan.plan import Plan
    from dovetail._core.plan.timed import WindowJoin
    from dovetail._hosts.arrow.frames import Frame

ROW = "dovetail row"
"""Where each base row stands, so that results can be put in the order of the base."""
BATCH = 1 << 16
"""About so many rows of both tables are taken at a time."""
_CHOICES = {"lateness": 0, "keep": None, "index": True, "schedule": True, "incremental": True, "sync": "never"}
_SCHEDULE = {"delta": 0.02, "decay": 0.5, "period": 10_000}


def run(asked: WindowJoin, left: Frame, right: Frame) -> Any:
    """Fold the right frame around each row of the left one; the result is of the left one's kind."""
    base, probe = window.opened(asked, left, right)
    schema = output_schema(asked.query, base, probe)
    return left.restore(schema, _rows(asked, (left.table, right.table), (base, probe), schema))


def explain(asked: WindowJoin, left: Frame, right: Frame) -> Plan:
    """Say that the engine will fold them."""
    base, _ = window.opened(asked, left, right)
    reason = f"asked for: rows in the order of time, by {workers(asked.query)} joiners of the online engine"
    return window_plan(asked, "arrow", asked.algorithm, reason, results=base.rows, exact=True)


def _rows(
    asked: WindowJoin, tables: tuple[pa.Table, pa.Table], columns: tuple[Columns, Columns], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """The results of base rows that have a time, and of those that have none: nothing is near them."""
    timed = [own.values[0].is_valid() for own in timed_columns(asked.query.condition, *columns)]
    base = tables[0].append_column(ROW, pa.array(np.arange(tables[0].num_rows)))
    results = list(_by_engine(asked, base.filter(timed[0]), tables[1].filter(timed[1])))
    untimed = base.filter(pc.invert(timed[0]))
    bare = Columns.whole(asked.query.inputs.left.name, untimed.drop_columns([ROW]))
    others = pa.Table.from_batches(window.rows(asked, bare, columns[1], schema))
    found = [own.drop_columns([ROW]) for own in results] + [others]
    order = np.concatenate([*(own.column(ROW).to_numpy() for own in results), untimed.column(ROW).to_numpy()])
    rows = pa.concat_tables([own.cast(schema) for own in found]).take(pa.array(np.argsort(order)))
    yield from rows.to_batches()


def _by_engine(asked: WindowJoin, base: pa.Table, probe: pa.Table) -> Iterator[pa.Table]:
    """The results of base rows, beside their numbers, as the watermark passes them."""
    query = asked.query
    number = OutputColumn(ROW, column_expression(query.inputs.left.name, ROW))
    given = {"algorithm": asked.algorithm, "joiners": workers(query), **_CHOICES, **_SCHEDULE}
    choices = read_choices(query.inputs.left, given)
    numbered = replace(asked, query=replace(query, output=(*query.output, number)))
    engine = Engine(Definition(numbered, choices, base.schema, probe.schema), choices)
    sides = [_Side.of(engine, side, table) for side, table in ((BASE, base), (PROBE, probe))]
    ends = np.sort(np.concatenate([own.at for own in sides]))[BATCH::BATCH]
    for bases, probes in zip(*(own.cut(ends) for own in sides), strict=True):
        read, stored = engine.base_rows(bases), engine.probe_rows(probes)
        engine.insert(stored)
        yield _whole(engine, engine.push(read))
    yield _whole(engine, engine.close())


def _whole(engine: Engine, found: pa.RecordBatch) -> pa.Table:
    """Results, unless some row has none: as the batch join does, the first reason is told instead."""
    for error in engine.failed:
        raise error
    return pa.Table.from_batches([found])


class _Side(NamedTuple):
    """A table in the order of time, and the keys of these times."""

    table: pa.Table
    at: NDArray[np.int64]

    @classmethod
    def of(cls, engine: Engine, side: int, table: pa.Table) -> _Side:
        definition = engine.definition
        times = [definition.timed(side, Given(definition, side, own)).at for own in table.combine_chunks().to_batches()]
        at, order = sort_with_order(np.concatenate([np.empty(0, np.int64), *times]))
        return cls(table.take(pa.array(order)), at)

    def cut(self, ends: NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
        """The rows up to each of some times, and those behind the last."""
        edges = [0, *np.searchsorted(self.at, ends, "right"), self.at.size]
        for first, last in pairwise(edges):
            batches = self.table.slice(first, last - first).combine_chunks().to_batches()
            yield batches[0] if batches else pa.RecordBatch.from_pylist([], self.table.schema)
