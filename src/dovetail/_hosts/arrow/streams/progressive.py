"""The progressive merge join: finite streams of unknown length, first results early, memory bounded, runs on disk.

Meaning      the rows of an inner join, each once, in no order that means anything.
Needs        a condition that gives the rows of both inputs one order of values.
How          rows are collected until their share of memory is full, sorted, joined with each other (first results now)
             and written as a group of runs. A merge reads several groups in the order of values, joins rows of
             different groups, and writes them on as one group. Rows of one group have met.
Edges        when the inputs have ended, groups are merged until one is left: then all rows have met.
State        the lists, the runs; of a merge, a batch of each run and the rows that reach on in the order of values.
Worst case   one inequality: half of all rows reach on to the end, and must fit memory.
Source       second document, sections 3.2 and 4.2.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.columns.table import Columns
from dovetail._hosts.arrow.join import shown
from dovetail._hosts.arrow.plain import no_rows
from dovetail._hosts.arrow.streams.external import External, Group
from dovetail._hosts.arrow.streams.rows_on_disk import KeyedRows, check_order
from dovetail._hosts.arrow.streams.value_join import ValueJoin
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dovetail._core.plan.query import Query
    from dovetail._core.sweep.runs.files import RunDirectory, RunFile
    from dovetail._core.sweep.runs.strategy import Strategy
    from dovetail._core.sweep.stream_join import Combined
    from dovetail._hosts.arrow.streams.linked import Linked

    Lists = list[list[pa.RecordBatch]]

SHARE = 8
"""Of memory, a list takes up an eighth: another one is being sorted, with its copy, and a merge goes on."""
MERGE_SHARE = 16
"""Of memory, the batches of a merge take up so little: put together, sorted and joined, they are many times that."""


class ProgressiveOperator:
    """The running join, step by step: `on_batch` collects, `sort` writes a group, `merge` makes one of several."""

    def __init__(
        self,
        query: Query,
        linked: Linked,
        schemas: Sequence[pa.Schema],
        memory: int,
        directory: RunDirectory,
        strategy: Strategy,
    ) -> None:
        check_order(linked)
        self.query = query
        self.linked = linked
        inputs = [KeyedRows(linked, i, schema) for i, schema in enumerate(schemas)]
        self.external = External(linked, inputs, memory, directory, strategy, MERGE_SHARE)
        self.groups: list[Group] = []
        self._turn = Lock()
        nothing = Columns({}, 0)
        for name, schema in zip(linked.names, schemas, strict=True):
            nothing = nothing.beside(Columns.of(name, pa.Table.from_batches([no_rows(schema)])))
        self.schema = pa.schema([pa.field(column.name, shown(nothing, column).type) for column in query.output])

    def on_batch(self, name: str, batch: pa.RecordBatch) -> bool:
        """Collect rows of an input; say whether it is time to sort."""
        number = self.linked.names.index(name)
        always = np.zeros(batch.num_rows, np.int64)
        keyed = self.external.inputs[number].keyed(batch, always, always + 1)
        if keyed.num_rows:
            self.external.add(number, keyed)
        return SHARE * self.external.size >= self.external.memory

    def take_lists(self) -> Lists:
        """The collected rows; new lists take what arrives from now on."""
        found = self.external.lists
        self.external.forget()
        return found

    def sort(self, lists: Lists) -> Iterator[pa.RecordBatch]:
        """Sort lists, write them as a group, join them with each other; what cannot be written is collected again."""
        if not any(lists):
            return
        rows = self.external.sorted(lists)
        try:
            runs = self.external.written(rows)
        except UsageError:
            self.external.take_back(lists)
            raise
        with self._turn:
            self.groups.append(Group(runs))
        join = ValueJoin(self.linked, self.external.inputs, apart=False)
        for combined in self.external.joined(rows, join):
            yield self._rows(join, combined)

    def due(self, *, busy: bool = False, last: bool = False) -> list[Group]:
        """The groups that the strategy would merge now."""
        with self._turn:
            groups = list(self.groups)
        return [groups[i] for i in self.external.strategy.choose([own.rows for own in groups], busy=busy, last=last)]

    def merge(self, groups: Sequence[Group]) -> Iterator[pa.RecordBatch]:
        """Make one group of several; yield what rows of different groups make together."""
        join = ValueJoin(self.linked, self.external.inputs, apart=True)
        made: list[RunFile] = []
        for combined in self.external.merged(groups, join, lambda batch: batch, made):
            yield self._rows(join, combined)
        self.external.directory.remove(run for group in groups for run in group.runs)
        with self._turn:
            self.groups = [group for group in self.groups if group not in groups] + [Group(tuple(made))]

    def _rows(self, join: ValueJoin, combined: Combined) -> pa.RecordBatch:
        raw: dict[tuple[str, str], pa.Array] = {}
        for number, name in enumerate(self.linked.names):
            own = self.query.read_by_output(name)
            arrays = join.stores[number].take(own, combined.numbers[number])
            raw |= {(name, column): array for column, array in zip(own, arrays, strict=True)}
        columns = Columns(raw, combined.start.size)
        return pa.RecordBatch.from_arrays([shown(columns, own) for own in self.query.output], schema=self.schema)
