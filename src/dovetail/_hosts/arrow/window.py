"""A window join of two tables in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail._core.columns.table import Columns
from dovetail._core.emit.window import WindowCell
from dovetail._core.plan.timed import offset_columns
from dovetail._core.plan.timed_plan import IN_PROCESS, window_plan
from dovetail._hosts.arrow.evaluate import timed_columns
from dovetail._hosts.arrow.join import arguments_of, output_schema, threads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dovetail._core.plan.plan import Plan
    from dovetail._core.plan.timed import WindowJoin
    from dovetail._hosts.arrow.frames import Frame


def run(asked: WindowJoin, left: Frame, right: Frame) -> Any:
    """Fold the right frame around each row of the left one; the result is of the left one's kind."""
    base, probe = opened(asked, left, right)
    schema = output_schema(asked.query, base, probe)
    return left.restore(schema, rows(asked, base, probe, schema))


def explain(asked: WindowJoin, left: Frame, right: Frame) -> Plan:
    """Say how the right frame will be folded."""
    base, _ = opened(asked, left, right)
    return window_plan(asked, "arrow", "fold", IN_PROCESS, results=base.rows, exact=True)


def opened(asked: WindowJoin, left: Frame, right: Frame) -> tuple[Columns, Columns]:
    """Both tables as columns, once it is known that the call can be carried out."""
    base = Columns.whole(asked.query.inputs.left.name, left.table)
    probe = Columns.whole(asked.query.inputs.right.name, right.table)
    _cell(asked, base.none(), probe.none()).check()
    return base, probe


def _cell(asked: WindowJoin, base: Columns, probe: Columns) -> WindowCell:
    """Both tables as one cell."""
    offsets = {column.sql: base.evaluate(column) for column in offset_columns(asked)}
    sides = timed_columns(asked.query.condition, base, probe)
    return WindowCell(asked, *sides, offsets, arguments_of(asked.query, probe), threads())


def rows(asked: WindowJoin, base: Columns, probe: Columns, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Each base row with its folds."""
    columns = [*base.raw.values(), *_cell(asked, base, probe).columns()]
    yield pa.RecordBatch.from_arrays(columns, schema=schema)
