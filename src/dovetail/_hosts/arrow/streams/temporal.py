"""A temporal join over streams in main memory, fed batch by batch.

Meaning      as `dv.temporal_join`; results leave in the order of (`valid_start`, `valid_end`).
Needs        each input's rows by start, but for as much disorder as `lateness` allows.
How          the *frontier* of an input is how far its time has come; that of the join is the least of them.
             buffer-input    rows wait until all inputs have passed them, are then joined in the order of time, and what
                             comes of them is in order by itself
             buffer-output   rows are joined as they arrive, with all that overlaps; what comes of them waits until
                             all inputs have passed its start
             outer joins     an unmatched stretch is known at its end; whatever starts later waits for it
Edges        rows that are too late are handed over, never dropped in silence; rows of one instant are joined once.
State        rows that may still meet others, results that wait; both leave as the frontier moves.
Worst case   an input that stands still holds back all results, and the rows of all others.
Source       second document, section 5.2, for batches in place of elements.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.columns.table import Columns
from dovetail._core.columns.validity import instants, intervals
from dovetail._core.emit.coverage import Coverage
from dovetail._core.emit.outbox import Outbox, Results
from dovetail._core.emit.store import Store
from dovetail._core.kernels.threads import together
from dovetail._core.plan.validity import VALID_END, VALID_START
from dovetail._core.sweep.areas.by_key import ByKey
from dovetail._core.sweep.links import changed
from dovetail._core.sweep.stream_join import Arrived, StreamJoin
from dovetail._hosts.arrow.join import threads
from dovetail._hosts.arrow.plain import no_rows
from dovetail._hosts.arrow.streams.arrivals import ENDED, Arrivals, Waiting, checked
from dovetail._hosts.arrow.streams.remembered import StoredRows
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from dovetail._core.emit.store import Chunk
    from dovetail._core.emit.stretches import Stretches
    from dovetail._core.plan.validity import Temporal
    from dovetail._core.sweep.areas.rows import AreaRows
    from dovetail._core.sweep.stream_join import Combined
    from dovetail._hosts.arrow.streams.linked import Linked

    Keys = NDArray[np.int64]
    Late = Callable[[str, pa.RecordBatch], None]

SLAB = 1 << 12
"""Where areas are not searched by time, at least so many rows are joined at once: more would meet in vain."""


FEW = 8
"""Of the rows just taken, less than an eighth is not worth a step of its own."""


@dataclass(frozen=True)
class Streams:
    """A temporal join of streams, read: what it joins, on which axis, and how far rows may be behind."""

    asked: Temporal
    linked: Linked
    schemas: tuple[pa.Schema, ...]
    axis: pa.DataType
    lateness: int
    late: Late | None = None

    @property
    def schema(self) -> pa.Schema:
        """The columns of the result."""
        own = dict(zip(self.asked.names, self.schemas, strict=True))
        fields = [
            pa.field(column.name, own[column.plain.table].field(column.plain.name).type)
            for column in self.asked.shown
            if column.plain is not None
        ]
        return pa.schema([*fields, pa.field(VALID_START, self.axis), pa.field(VALID_END, self.axis)])


@dataclass(frozen=True, slots=True)
class State:
    """What a temporal join remembers between two batches."""

    arrivals: dict[str, Arrivals]
    chunks: list[list[Chunk]]
    areas: dict[tuple[int, int | None], AreaRows | None]
    counted: list[int]
    held: list[list[Results]]
    coverage: list[Coverage | None]


class Timed(ABC):
    """What all joins over time do with arriving rows: note how far time has come, and set aside what is too late."""

    def __init__(self, told: Streams) -> None:
        self.told = told
        self.schema = told.schema
        self.columns = [(own.plain.table, own.plain.name) for own in told.asked.shown if own.plain is not None]
        self.arrivals = {name: Arrivals(told.lateness) for name in told.asked.names}

    @property
    def late_rows(self) -> dict[str, int]:
        """How many rows of each input came too late."""
        return {name: own.late for name, own in self.arrivals.items()}

    @property
    def frontier(self) -> int:
        """The instant before which all rows of all inputs have arrived."""
        return min(own.frontier for own in self.arrivals.values())

    def on_batch(self, name: str, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take a batch of one input, at once; yield results that are certain."""
        self.take(name, batch)
        return self.advance()

    def on_end(self, name: str) -> Iterator[pa.RecordBatch]:
        """Note that an input has ended, at once; yield results that are certain."""
        self.of_input(name).ended = True
        return self.advance()

    def take(self, name: str, batch: pa.RecordBatch) -> None:
        """Take a batch of one input; one that is refused changes nothing."""
        arrivals = self.of_input(name)
        if arrivals.ended:
            raise UsageError.refused_batch(name, "the input has ended")
        number = self.told.asked.names.index(name)
        batch = checked(name, batch, self.told.schemas[number])
        before = arrivals.latest, arrivals.late
        try:
            self.hold(number, name, batch)
        except BaseException:
            arrivals.latest, arrivals.late = before
            raise

    def of_input(self, name: str) -> Arrivals:
        """What has arrived of an input."""
        if name not in self.told.asked.names:
            raise UsageError.unknown_choice("input", name, self.told.asked.names)
        return self.arrivals[name]

    @abstractmethod
    def hold(self, number: int, name: str, batch: pa.RecordBatch) -> None:
        """Keep the rows of a batch that fits its input."""

    @abstractmethod
    def advance(self) -> Iterator[pa.RecordBatch]:
        """Yield results that have become certain."""

    def due(self, _taken: int) -> bool:
        """Whether to advance, after so many rows were taken, though the next ones are at hand."""
        return True

    @abstractmethod
    def close(self) -> None:
        """Give up what is held outside of memory; no more batches come."""

    def in_time(self, number: int, name: str, batch: pa.RecordBatch) -> Waiting:
        """The rows of a batch that are valid at all and not too late."""
        found = intervals(self.told.asked.validity[number], name, batch, self.told.axis)
        rows = Waiting(found.start, found.end, batch)
        if not found.some.all():
            rows = rows.pick(np.flatnonzero(found.some))
        arrivals, latest = self.arrivals[name], self.arrivals[name].latest
        late = arrivals.too_late(rows.start)
        if not late.any():
            return rows
        if self.told.late is None:
            first = int(np.flatnonzero(late)[0])
            at, before = instants(
                np.array([rows.start[first], max(latest, int(rows.start[:first].max(initial=latest)))]), self.told.axis
            )
            raise UsageError.runs_backwards(name, at, before)
        self.told.late(name, rows.pick(np.flatnonzero(late)).batch)
        return rows.pick(np.flatnonzero(~late))

    def shown(self, stores: Sequence[Store], numbers: Sequence[Keys | None]) -> list[pa.Array]:
        """The inputs' columns of some rows; None: NULL."""
        found: dict[tuple[str, str], pa.Array] = {}
        size = next(own.size for own in numbers if own is not None)
        for i, name in enumerate(self.told.asked.names):
            own = [column for owner, column in self.columns if owner == name]
            rows = numbers[i] if i < len(numbers) else None
            arrays = (
                [pa.nulls(size, self.told.schemas[i].field(column).type) for column in own]
                if rows is None
                else stores[i].take(own, rows)
            )
            found |= {(name, column): array for column, array in zip(own, arrays, strict=True)}
        return [found[column] for column in self.columns]


class TemporalOperator(Timed):
    """The running join: `on_batch`, `on_end`, and what of the result is certain after each."""

    def __init__(self, told: Streams) -> None:
        super().__init__(told)
        names = told.asked.names
        self.stores = [Store(schema) for schema in told.schemas]
        self.join = StreamJoin(len(names), told.linked.links, StoredRows(told.linked, self.stores))
        self.arriving = told.asked.algorithm == "buffer-output"
        self.counted = [0] * len(names)
        self.threads = threads()
        self.pairs, self.stretches = Outbox(), Outbox()
        how = told.asked.how
        kept = (how not in ("inner", "right"), how in ("right", "full"))
        self.coverage = [Coverage(how == "semi") if keeps else None for keeps in kept[: len(names)]]
        self.coverage += [None] * (len(names) - 2)
        self.outer = how != "inner"

    @property
    def rows_held(self) -> int:
        """How many rows and results are in memory."""
        waiting = sum(own.size for own in self.arrivals.values())
        return waiting + self.join.size() + self.pairs.size + self.stretches.size

    def hold(self, number: int, name: str, batch: pa.RecordBatch) -> None:
        """Join the rows of a batch, or keep them until they are complete."""
        rows = self.in_time(number, name, batch)
        if self.arriving:
            self._join_at_once(number, rows)
        else:
            self.arrivals[name].wait(rows)

    def due(self, taken: int) -> bool:
        """Whether a good part of so many rows has become complete."""
        frontier = self.frontier
        return self.arriving or FEW * sum(own.complete(frontier) for own in self.arrivals.values()) >= taken

    def close(self) -> None:
        """Nothing is held outside of memory."""

    def snapshot(self) -> State:
        """Everything that the join remembers; it can be pickled, and restored into an operator of the same call."""
        return State(
            {name: replace(own, waiting=list(own.waiting)) for name, own in self.arrivals.items()},
            [list(store.chunks) for store in self.stores],
            {end: area.snapshot() for end, area in self.join.areas.items()},
            list(self.counted),
            [list(own.held) for own in (self.pairs, self.stretches)],
            [None if own is None else own.copy() for own in self.coverage],
        )

    def restore(self, state: State) -> None:
        """Remember what a snapshot holds, and nothing else."""
        if not isinstance(state, State) or state.arrivals.keys() != self.arrivals.keys():
            raise UsageError.other_snapshot(state)
        self.arrivals = {name: replace(own, waiting=list(own.waiting)) for name, own in state.arrivals.items()}
        for store, chunks in zip(self.stores, state.chunks, strict=True):
            store.chunks = list(chunks)
        for end, rows in state.areas.items():
            self.join.areas[end].restore(rows)
        self.counted = list(state.counted)
        self.pairs, self.stretches = (Outbox(list(own)) for own in state.held)
        self.coverage = [None if own is None else own.copy() for own in state.coverage]

    def advance(self) -> Iterator[pa.RecordBatch]:
        """Join what has become complete, let go what has ended, and yield what is certain."""
        yield from self.up_to(self.frontier)

    def spells(self, rows: int, until: int) -> list[int]:
        """Instants before another between which so many rows wait."""
        waiting = [own.start for every in self.arrivals.values() for own in every.waiting]
        starts = np.sort(np.concatenate([np.empty(0, np.int64), *waiting]))
        return [own for own in np.unique(starts[rows::rows]).tolist() if own < until]

    def remember(self, number: int, rows: Waiting) -> None:
        """Let rows meet those to come; they have met all others."""
        self.join.insert(number, self._arrived(number, rows))

    def up_to(self, frontier: int) -> Iterator[pa.RecordBatch]:
        """The same up to an instant that all inputs have passed."""
        if not self.arriving:
            for slab in self._slabs(frontier):
                yield from self._join_in_order(slab)
        yield from self._certain(frontier)
        for number in range(len(self.stores)):
            others = [own.frontier for i, own in enumerate(self.arrivals.values()) if i != number]
            self.join.expire(number, min(others) if self.arriving else frontier)
            self.stores[number].expire(frontier)

    def _slabs(self, frontier: int) -> Iterator[list[Arrived]]:
        """The rows of all inputs that start before the frontier, in pieces that suit the areas."""
        released = [own.release(frontier) for own in self.arrivals.values()]
        starts = [own.start for own in released if own is not None]
        if not starts:
            return
        edges = [ENDED]
        if not all(isinstance(area.kind, ByKey) for area in self.join.areas.values()):
            every = np.sort(np.concatenate(starts))
            edges = [int(own) for own in np.unique(every[max(SLAB, self.join.size()) :: max(SLAB, self.join.size())])]
            edges.append(ENDED)
        cut = [0] * len(released)
        for edge in edges:
            parts = []
            for number, own in enumerate(released):
                last = 0 if own is None else own.start.size if edge == ENDED else int(np.searchsorted(own.start, edge))
                parts.append(None if own is None else own.cut(cut[number], last))
                cut[number] = last
            yield together(self.threads, [partial(self._arrived, number, part) for number, part in enumerate(parts)])

    def _join_in_order(self, slab: list[Arrived]) -> Iterator[pa.RecordBatch]:
        """Join all rows up to an instant; an inner join's results are certain, and in order, as they come."""
        if not self.outer:
            yield from self.join.ordered(slab, lambda found: self._batch(self._built(found)), self.threads)
            return
        for found in self.join.ordered(slab, self._built, self.threads):
            self.pairs.add(found)

    def _join_at_once(self, number: int, rows: Waiting) -> None:
        for found in self.join.unordered(number, self._arrived(number, rows), self._built, self.threads):
            self.pairs.add(found)

    def _arrived(self, number: int, rows: Waiting | None) -> Arrived:
        """Number rows and keep them; those that can have partners, with what they bring to links."""
        linked = self.told.linked
        if rows is None:
            rows = Waiting(np.empty(0, np.int64), np.empty(0, np.int64), no_rows(self.told.schemas[number]))
        columns = Columns.of(linked.names[number], pa.Table.from_batches([rows.batch]))
        links, fits = linked.brings(number, columns)
        numbers = np.arange(self.counted[number], self.counted[number] + rows.start.size)
        self.counted[number] += rows.start.size
        coverage = self.coverage[number]
        if coverage is not None:
            coverage.insert(numbers, rows.start, rows.end)
        arrived = Arrived(numbers, rows.start, rows.end, links)
        if fits is not None:
            arrived = Arrived(numbers[fits], rows.start[fits], rows.end[fits], links)
        if numbers.size:
            self._keep(number, arrived, numbers, rows, fits)
        return arrived

    def _keep(self, number: int, arrived: Arrived, numbers: Keys, rows: Waiting, fits: Keys | None) -> None:
        """Keep the rows that can be asked for: those with partners, or all if an outer join shows them."""
        if fits is None:
            self.stores[number].add(arrived, rows.batch)
            return
        if self.coverage[number] is None:
            if fits.size:
                self.stores[number].add(arrived, rows.batch.take(pa.array(fits)))
            return
        links = {i: changed(both, lambda own: _spread(own, fits, numbers.size)) for i, both in arrived.links.items()}
        self.stores[number].add(Arrived(numbers, rows.start, rows.end, links), rows.batch)

    def _built(self, combined: Combined) -> Results:
        """Combinations with what they show."""
        shown = self.told.asked.how not in ("semi", "anti")
        columns = tuple(self.shown(self.stores, combined.numbers)) if shown else ()
        numbers = combined.numbers if self.outer else ()
        return Results(combined.start, combined.end, numbers, columns)

    def _certain(self, frontier: int) -> Iterator[pa.RecordBatch]:
        """Let results go that start before the frontier, and before any stretch that is still open."""
        before = None if frontier == ENDED else frontier
        found = self.pairs.release(before)
        if self.outer:
            for pairs in found:
                self._stretch(pairs)
            for number, coverage in self._covering():
                self._hold(number, coverage.expire(before))
            found = self.stretches.release(self._open_since(before))
        yield from map(self._batch, found)

    def _batch(self, found: Results) -> pa.RecordBatch:
        ends = [instants(own, self.told.axis) for own in (found.start, found.end)]
        return pa.RecordBatch.from_arrays([*found.columns, *ends], schema=self.schema)

    def _stretch(self, pairs: Results) -> None:
        """Note pairs on the rows that they cover; hold them, if they are shown, and the stretches that they end."""
        if pairs.columns:
            self.stretches.add(replace(pairs, numbers=()))
        for number, coverage in self._covering():
            self._hold(number, coverage.see(pairs.numbers[number], pairs.start, pairs.end))

    def _covering(self) -> Iterator[tuple[int, Coverage]]:
        """The inputs whose rows are kept."""
        return ((number, own) for number, own in enumerate(self.coverage) if own is not None)

    def _hold(self, number: int, found: Stretches) -> None:
        if found.rows.size:
            numbers = [found.rows if i == number else None for i in range(2)]
            self.stretches.add(Results(found.start, found.end, (), tuple(self.shown(self.stores, numbers))))

    def _open_since(self, before: int | None) -> int | None:
        """Until when the stretches of all kept rows are known."""
        known = [own.open_since(before) for own in self.coverage if own is not None]
        return min((own for own in [*known, before] if own is not None), default=None)


def _spread(values: Keys, rows: Keys, size: int) -> Keys:
    out = np.zeros(size, np.int64)
    out[rows] = values
    return out
