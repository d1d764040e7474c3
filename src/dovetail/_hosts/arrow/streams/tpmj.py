"""The temporal progressive merge join: windows larger than memory, with runs sorted by value on disk.

Meaning      as `dv.temporal_join`; results leave in the order of (`valid_start`, `valid_end`).
Needs        each input's rows by start, within the lateness; a condition that gives all rows one order of values.
How          rows are collected until memory is full, sorted by value and written: a group of runs, one per input.
             The *flank* is the group that holds all rows so far that are still valid. It takes up the next groups in a
             merge that also joins, and reports what starts before the instant that all inputs had passed:

                 flank -inf..e1 --> flank e1..e2 --> flank e2..e3 --> ... root ..inf
                        g1 g2            g3 g4            g5

             What ends by e is not written on. Groups that wait for the flank are merged by sorting alone. A group that
             was just written is in memory still: while the flank is small, its rows are joined in the order of time,
             and the results need no sorting.
Edges        the intervals of the flank's merges are disjoint, so that no result comes twice; the last one has no end.
State        the lists, the runs; of a merge, a batch of each run and the rows that reach on in the order of values.
Worst case   rows that stay valid are read and written once for every merge of the flank.
Source       second document, section 5.3, figure 1; section 6 for more than two inputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.columns.dictionaries import one_batch
from dovetail._core.columns.validity import instants
from dovetail._core.emit.outbox import Results
from dovetail._hosts.arrow.streams.arrivals import ENDED, Waiting
from dovetail._hosts.arrow.streams.external import External, Group
from dovetail._hosts.arrow.streams.rows_on_disk import SINCE, UNTIL, KeyedRows, check_order, in_order
from dovetail._hosts.arrow.streams.sorted_results import SortedResults
from dovetail._hosts.arrow.streams.temporal import TemporalOperator, Timed
from dovetail._hosts.arrow.streams.value_join import ValueJoin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dovetail._core.sweep.runs.files import RunDirectory, RunFile
    from dovetail._core.sweep.runs.strategy import Strategy
    from dovetail._core.sweep.stream_join import Combined
    from dovetail._hosts.arrow.streams.temporal import Streams

    Lists = list[list[pa.RecordBatch]]

SHARE = 4
"""Of memory, the rows that are valid at once take a fourth at most, where a group is joined in the order of time."""
SPELL = 1 << 17
"""So many rows are joined at once then."""


class TpmjOperator(Timed):
    """The running join; `busy` tells an adaptive strategy that there is no time for small merges."""

    def __init__(self, told: Streams, memory: int, directory: RunDirectory, strategy: Strategy) -> None:
        super().__init__(told)
        check_order(told.linked)
        self.busy = False
        inputs = [KeyedRows(told.linked, i, schema) for i, schema in enumerate(told.schemas)]
        self.external = External(told.linked, inputs, memory, directory, strategy)
        self.groups: list[Group] = []
        self.flank: Group | None = None
        self.reported: int | None = None
        self.fresh: Lists = []

    @property
    def memory_used(self) -> int:
        """About how many bytes of rows wait in memory to be written."""
        return self.external.size

    def hold(self, number: int, name: str, batch: pa.RecordBatch) -> None:
        """Collect the rows of a batch that can have partners."""
        rows = self.in_time(number, name, batch)
        keyed = self.external.inputs[number].keyed(rows.batch, rows.start, rows.end)
        if keyed.num_rows:
            self.external.add(number, keyed)

    def advance(self) -> Iterator[pa.RecordBatch]:
        """Write the rows if memory is full, or none will come; yield results of merges that are due by now."""
        last = self.frontier == ENDED
        if last or self.external.size >= self.external.memory:
            self.write()
        yield from self.merge(last=last)

    def close(self) -> None:
        """Give up all runs, whoever holds the operator still: an error that was raised in it does."""
        self.external.directory.clear()

    def write(self) -> None:
        """Write the lists as a group of runs."""
        external = self.external
        if external.size or self.frontier == ENDED:
            runs = external.written(external.sorted(external.lists))
            self.groups.append(Group(runs, self.frontier))
            self.fresh = external.lists
            external.forget()

    def merge(self, *, last: bool = False) -> Iterator[pa.RecordBatch]:
        """Merge as the strategy says: groups into the flank, which yields results; others by sorting alone."""
        strategy, fresh = self.external.strategy, self.fresh
        self.fresh = []
        while self.groups:
            taken = strategy.flank(len(self.groups), busy=self.busy, last=last)
            if not taken:
                return
            if len(self.groups) == 1 and fresh and self._flank_size <= self.external.memory // SHARE:
                yield from self._in_memory(fresh)
            elif last and len(self.groups) > taken:
                self._sort_merge()
            else:
                yield from self._flank(taken)

    def _sort_merge(self) -> None:
        """Make one of the waiting groups, as many as all buffers together hold: inputs are merged one by one."""
        most = self.external.strategy.fan_in * len(self.external.inputs)
        taken, self.groups = self.groups[:most], self.groups[most:]
        made: list[RunFile] = []
        for _ in self.external.merged(taken, None, lambda batch: batch, made):
            raise AssertionError
        self._remove(taken)
        self.groups.insert(0, Group(tuple(made), taken[-1].reached))

    def _flank(self, taken: int) -> Iterator[pa.RecordBatch]:
        """Merge the flank with the next groups; report what starts before the instant that they reached."""
        groups = ([] if self.flank is None else [self.flank]) + self.groups[:taken]
        until = self.groups[taken - 1].reached
        schema = pa.schema(list(self.told.schema)[:-2])
        results = SortedResults(schema, self.external.directory, self.external.memory)
        made: list[RunFile] = []
        join = ValueJoin(self.told.linked, self.external.inputs, apart=False)
        for combined in self.external.merged(groups, join, lambda batch: _lasting(batch, until), made):
            self._report(join, combined, until, results)
        self._remove(groups)
        self.flank, self.groups, self.reported = Group(tuple(made), until), self.groups[taken:], until
        for found in results.read():
            ends = [instants(own, self.told.axis) for own in (found.start, found.end)]
            yield pa.RecordBatch.from_arrays([*found.columns, *ends], schema=self.schema)

    @property
    def _flank_size(self) -> int:
        """How many bytes the rows take that were valid beyond the last merge."""
        return 0 if self.flank is None else sum(run.size for run in self.flank.runs)

    def _in_memory(self, lists: Lists) -> Iterator[pa.RecordBatch]:
        """Merge a small flank with the group whose rows are in memory still, and join these in the order of time."""
        join, external, until = TemporalOperator(self.told), self.external, self.groups[0].reached
        lasting: Lists = []
        for number, (name, rows) in enumerate(zip(self.told.asked.names, lists, strict=True)):
            old = [] if self.flank is None else list(external.directory.read(self.flank.runs[number]))
            lasting.append([_lasting(batch, until) for batch in (*old, *rows)])
            met, new = self._met(number, old)
            join.remember(number, met)
            for part in (new, *(self._waiting(number, batch) for batch in rows)):
                join.arrivals[name].wait(part)
        runs = external.written(external.sorted(lasting))
        self._remove(self.groups + ([] if self.flank is None else [self.flank]))
        self.flank, self.groups, self.reported = Group(runs, until), [], until
        for edge in (*join.spells(SPELL, until), until):
            yield from join.up_to(edge)

    def _met(self, number: int, old: list[pa.RecordBatch]) -> tuple[Waiting, Waiting]:
        """Of the flank's rows those that started before the last merge, and have met; and those that have not."""
        batch = one_batch(old) if old else self.external.inputs[number].nothing
        rows = self._waiting(number, in_order(batch, SINCE))
        cut = 0 if self.reported is None else int(np.searchsorted(rows.start, self.reported))
        return rows.cut(0, cut), rows.cut(cut, rows.start.size)

    def _waiting(self, number: int, batch: pa.RecordBatch) -> Waiting:
        """Rows of a run as rows that arrive."""
        since, until = (batch.column(name).to_numpy().copy() for name in (SINCE, UNTIL))
        return Waiting(since, until, batch.select(self.external.inputs[number].schema.names))

    def _remove(self, groups: list[Group]) -> None:
        self.external.directory.remove(run for group in groups for run in group.runs)

    def _report(self, join: ValueJoin, combined: Combined, until: int, results: SortedResults) -> None:
        """Collect the combinations that start in the interval of this merge."""
        hidden = [[join.hidden(i, name, rows) for i, rows in enumerate(combined.numbers)] for name in (SINCE, UNTIL)]
        start, end = np.maximum.reduce(hidden[0]), np.minimum.reduce(hidden[1])
        due = np.ones(start.size, np.bool_) if until == ENDED else start < until
        if self.reported is not None:
            due &= start >= self.reported
        some = np.flatnonzero(due)
        columns = self.shown(join.stores, [rows[some] for rows in combined.numbers])
        results.add(Results(start[some], end[some], (), tuple(columns)))


def _lasting(batch: pa.RecordBatch, until: int) -> pa.RecordBatch:
    """The rows that are still valid after an instant."""
    if until == ENDED:
        return batch.slice(0, 0)
    ends = batch.column(UNTIL).to_numpy(zero_copy_only=False)
    return batch if (ends > until).all() else batch.take(pa.array(np.flatnonzero(ends > until)))
