"""Equality joins by workers that pass rows to each other, all of them in this process: the same rows, moves counted."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import pyarrow as pa

from dovetail._core.condition.parse import columns_of
from dovetail._core.condition.residual import by_keys
from dovetail._core.emit.meeting import Meeting
from dovetail._core.plan.outer import Kept, Sized, asked_outer
from dovetail._hosts.arrow.evaluate import side_columns
from dovetail._hosts.ring.memory import dealt, run
from dovetail._hosts.ring.projection import Projection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dovetail._core.columns.table import Columns
    from dovetail._core.condition.values import Condition
    from dovetail._core.plan.outer import Outer
    from dovetail._core.plan.query import Query
    from dovetail._core.sweep.prepare import SideColumns
    from dovetail._hosts.ring.memory import Traffic


@dataclass(frozen=True)
class Dealt:
    """Both sides as the workers need them, the travelling one first, and where the result's columns come from."""

    outer: Outer
    meeting: Meeting
    tables: tuple[pa.Table, pa.Table]
    names: tuple[tuple[str, str], ...]

    def batches(self, workers: int) -> Iterator[pa.RecordBatch]:
        """The rows of all workers, with the columns of `names`."""
        return chain.from_iterable(self.run(workers)[0])

    def run(self, workers: int) -> tuple[list[list[pa.RecordBatch]], Traffic]:
        """The rows that each worker gives, and what they sent to each other."""
        return run(self.outer.algorithm, self.meeting, *(dealt(table, workers) for table in self.tables))


def deal(query: Query, left: Columns, right: Columns) -> Dealt:
    """Choose the side that travels and project both."""
    condition = by_keys(query.condition)
    names = query.inputs.left.name, query.inputs.right.name
    outer = asked_outer(query.algorithm, *(Sized(n, own.rows) for n, own in zip(names, (left, right), strict=True)))
    sides = [
        _projected(query, condition, *own)
        for own in zip(names, (left, right), side_columns(condition, left, right), strict=True)
    ]
    travelling, stored = sides if outer.travels == "left" else sides[::-1]
    turned = condition if outer.travels == "left" else condition.flip()
    meeting = Meeting(turned, travelling[0], stored[0], Kept.of(query.how, outer.travels))
    shown = tuple((own.name, name) for own, _ in (travelling, stored) for name in query.read_by_output(own.name))
    return Dealt(outer, meeting, (travelling[1], stored[1]), shown)


def _projected(
    query: Query, condition: Condition, name: str, own: Columns, keys: SideColumns
) -> tuple[Projection, pa.Table]:
    """A side's keys, filters and the columns that anything reads."""
    shown = query.read_by_output(name)
    tested = set().union(*(columns_of(part.node, name) for part in condition.residuals))
    payload = tuple(column for side, column in own.raw if side == name and (column in shown or column in tested))
    arrays = {f"k{i}": array for i, array in enumerate(keys.keys)}
    if keys.fits is not None:
        arrays["fits"] = keys.fits
    arrays |= {f"p{i}": own.raw[name, column] for i, column in enumerate(payload)}
    showing = tuple(f"p{payload.index(column)}" for column in shown)
    return Projection(name, payload, showing), pa.table(arrays)
