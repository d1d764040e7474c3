"""The engine: rows in, the watermark forward, exact results out."""

from __future__ import annotations

import time
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from dovetail._core.aggregate.stored import Layout
from dovetail._core.columns.axis import LEAST, MOST
from dovetail._core.kernels.blocks import Rows
from dovetail._core.kernels.sort import extent
from dovetail._core.sweep.numbering import KeyNumbers
from dovetail._hosts.arrow.plain import no_rows
from dovetail._hosts.online.clock import Clock
from dovetail._hosts.online.definition import SIDES
from dovetail._hosts.online.joiners import Joiners
from dovetail._hosts.online.metrics import Metrics
from dovetail._hosts.online.reading import Given
from dovetail._hosts.online.request import NO_ANSWER, Requests
from dovetail._hosts.online.rows import RowReader
from dovetail._hosts.online.waiting import ARRIVED, AT, CODE, DUE, OWN, Waiting
from dovetail._hosts.online.windows import WindowEnds, prevails_in
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from dovetail._core.plan.online import Choices
    from dovetail._hosts.arrow.frames import Frame
    from dovetail._hosts.online.definition import Definition
    from dovetail._hosts.online.reading import Timed
    from dovetail._hosts.online.waiting import Due

    Ints = NDArray[np.int64]
    OnLate = Callable[[str, pa.RecordBatch], None]

BASE, PROBE = 0, 1


class Late(NamedTuple):
    """Rows that came after the watermark, and their times."""

    side: int
    batch: pa.RecordBatch
    ticks: NDArray[Any]


class BaseRows(NamedTuple):
    """Base rows to be pushed or answered: when they were read, where their windows end, and those that are late."""

    begun: int
    batch: pa.RecordBatch
    timed: Timed
    windows: list[WindowEnds]
    late: Late | None


class ProbeRows(NamedTuple):
    """Probe rows to be stored: what aggregates read of them, as lanes, and those that are late."""

    batch: pa.RecordBatch
    timed: Timed
    words: Ints
    doubles: NDArray[np.float64]
    late: Late | None


class Engine:
    """All state of one online window join; called by one thread at a time."""

    def __init__(self, definition: Definition, choices: Choices) -> None:
        self.definition, self.choices = definition, choices
        sides = zip(SIDES, (definition.base, definition.probe), strict=True)
        self.readers = [RowReader(name, schema) for name, schema in sides]
        self.layout = Layout(definition.asked.query.aggregates, definition.argument_kinds)
        self.keys = KeyNumbers(definition.key_kinds, definition.null_safe)
        self.joiners = Joiners(choices, self.layout)
        self.clock = Clock(definition.lateness, is_float=definition.is_float)
        own = 1 + 3 * len(definition.asked.windows) if definition.has_own_bounds else 0
        self.waiting = Waiting(definition.base, own)
        self.metrics = Metrics()
        self.gone = LEAST
        """Rows below this key may be missing."""
        self.closed = False
        self.failed: list[UsageError] = []
        """Why rows that were due in the last call have no result."""
        self.none = no_rows(definition.schema)
        self._requests = Requests.of(self)
        self._warm()

    def _warm(self) -> None:
        """Let everything be compiled, or fetched from where it was kept, before the first row comes."""
        nothing = np.empty(0, np.int64)
        lanes = np.empty((len(self.layout.kinds), 0), np.int64), np.empty((self.layout.doubles, 0))
        self.joiners.insert(Rows(nothing, nothing, *lanes), 1)
        self._results(nothing, [WindowEnds(nothing, nothing, None)] * len(self.definition.asked.windows))
        self.joiners.expire(LEAST, prevails=False)
        self.keys.find([pa.nulls(0, kind) for kind in self.definition.key_kinds], 0)

    def read(self, side: int, given: Any) -> tuple[pa.RecordBatch, Frame]:
        """Rows as the caller gives them, and the frame in which to hand results back."""
        self.check_open()
        return self.readers[side].open(given)

    def base_rows(self, batch: pa.RecordBatch) -> BaseRows:
        """Rows that may be pushed: whatever could refuse them has been tried, and nothing has changed."""
        begun = time.perf_counter_ns()
        given, timed, late = self._in_time(BASE, batch)
        return BaseRows(begun, given.batch, timed, self._windows(given, timed), late)

    def probe_rows(self, batch: pa.RecordBatch) -> ProbeRows:
        """Rows that may be stored: whatever could refuse them has been tried, and nothing has changed."""
        given, timed, late = self._in_time(PROBE, batch)
        lanes = self.layout.encode(self.definition.arguments(given), given.batch.num_rows)
        return ProbeRows(given.batch, timed, *lanes, late)

    def insert(self, rows: ProbeRows) -> None:
        """Store probe rows."""
        self._count_late(rows.late)
        codes = self.keys.give(rows.timed.keys, rows.batch.num_rows)
        words, doubles = rows.words, rows.doubles
        stored = Rows(codes, rows.timed.at, words, doubles)
        if extent(codes)[0] < 0:
            kept = np.flatnonzero(codes >= 0)
            lanes = np.ascontiguousarray(words[:, kept]), np.ascontiguousarray(doubles[:, kept])
            stored = Rows(codes[kept], rows.timed.at[kept], *lanes)
        self.joiners.insert(stored, self.keys.size)
        self.clock.see(rows.timed.ticks, rows.timed.greatest)
        self.metrics.rows[PROBE] += rows.batch.num_rows

    def push(self, rows: BaseRows) -> pa.RecordBatch:
        """Let base rows wait for the watermark; return the results of those that it has passed."""
        self._count_late(rows.late)
        windows, codes = rows.windows, self.keys.give(rows.timed.keys, rows.batch.num_rows)
        words = self.waiting.room(codes.size)
        words[CODE], words[AT], words[ARRIVED] = codes, rows.timed.at, rows.begun
        words[DUE] = reduce(np.maximum, [end for own in windows for end in (own.upper, own.start) if end is not None])
        if self.definition.has_own_bounds:
            words[OWN] = reduce(np.minimum, [own.least for own in windows])
            for i, own in enumerate(windows):
                start = LEAST if own.start is None else own.start
                words[OWN + 1 + 3 * i], words[OWN + 2 + 3 * i], words[OWN + 3 + 3 * i] = own.lower, own.upper, start
        self.waiting.append(rows.batch, words)
        self.clock.see(rows.timed.ticks, rows.timed.greatest)
        self.metrics.rows[BASE] += rows.batch.num_rows
        return self.release(self.clock.key, rows.begun)

    def release(self, bound: int | None, begun: int) -> pa.RecordBatch:
        """The results of the rows that are due below a bound; of all, without one.

        A row that has none, as a sum overflows, leaves with the others; `failed` tells of it.
        """
        due, found = self.waiting.due(bound), self.none
        if due is not None:
            found, arrived = self._answered(due)
            self.waiting.let_go(due)
            self.metrics.answered(arrived, begun)
        self._expire()
        return found

    def _answered(self, due: Due) -> tuple[pa.RecordBatch, Ints]:
        """The results of rows that are due, and when those that have one arrived."""
        columns, words = due.columns, due.words
        try:
            folded = self._results(words[CODE], self._ends(words))
        except UsageError:
            told: list[tuple[int, UsageError]] = []
            sound = self._sound(words, np.arange(words.shape[1]), told)
            row = {name: own[told[0][0]].as_py() for name, own in zip(self.definition.base.names, columns, strict=True)}
            self.failed = [UsageError.no_results(len(told), row, told[0][1])]
            columns, words = [own.take(pa.array(sound)) for own in columns], np.ascontiguousarray(words[:, sound])
            folded = self._results(words[CODE], self._ends(words))
        return pa.RecordBatch.from_arrays([*columns, *folded], schema=self.definition.schema), words[ARRIVED]

    def _sound(self, words: Ints, rows: Ints, told: list[tuple[int, UsageError]]) -> Ints:
        """Which of some rows have a result, found by halving; `told` gets the others, and why."""
        some = np.ascontiguousarray(words[:, rows])
        try:
            self._results(some[CODE], self._ends(some))
        except UsageError as error:
            if rows.size == 1:
                told.append((int(rows[0]), error))
                return rows[:0]
            half = rows.size // 2
            return np.concatenate([self._sound(words, own, told) for own in (rows[:half], rows[half:])])
        return rows

    def request_row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The result of one base row."""
        begun = time.perf_counter_ns()
        self.check_open()
        quick = NO_ANSWER if self._requests is None else self._requests.answer(row)
        if quick is not NO_ANSWER:
            self.metrics.requested(1, begun)
            return quick
        found: dict[str, Any] = self.request(self.read(BASE, row)[0]).to_pylist()[0]
        return found

    def request(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The results of base rows on what has arrived."""
        begun = time.perf_counter_ns()
        given = Given(self.definition, BASE, batch)
        timed = self.definition.timed(BASE, given)
        windows = self._windows(given, timed)
        codes = self.keys.find(timed.keys, batch.num_rows)
        self._refuse_gone(windows)
        columns = [*batch.columns, *self._results(codes, windows)]
        self.metrics.requested(codes.size, begun)
        return pa.RecordBatch.from_arrays(columns, schema=self.definition.schema)

    def advance(self, tick: Any) -> pa.RecordBatch:
        """Raise the watermark; return the results of the rows that it has passed."""
        begun = time.perf_counter_ns()
        if tick is not None:
            self.clock.raise_to(tick)
        return self.release(self.clock.key, begun)

    def close(self) -> pa.RecordBatch:
        """The results of all rows that wait."""
        found = self.release(None, time.perf_counter_ns())
        self.closed = True
        return found

    def check_open(self) -> None:
        """Refuse to go on after the end."""
        if self.closed:
            raise UsageError.engine_closed()

    def check_advance(self, watermark: Any) -> Any:
        """A watermark in ticks; one that runs backwards is refused."""
        self.check_open()
        if watermark is None:
            return None
        tick, now = self.definition.tick(watermark), self.clock.watermark
        if now is not None and tick < now:
            raise UsageError.watermark_back(self.definition.value(now), watermark)
        return tick

    def told(self) -> dict[str, Any]:
        """What has been done and what is held."""
        return self.metrics.as_dict(
            {
                "rows_held": self.joiners.rows,
                "rows_waiting": len(self.waiting),
                "bytes_held": sum(area.bytes for area in self.joiners.areas),
                "keys": self.keys.size,
                "unbalancedness": self.joiners.unbalancedness,
                "watermark": self.definition.value(self.clock.watermark),
                "lateness_ticks": self.clock.lateness,
            }
        )

    def _in_time(self, side: int, batch: pa.RecordBatch) -> tuple[Given, Timed, Late | None]:
        """The rows that do not lie before the watermark, their keys and times, and the others."""
        given = Given(self.definition, side, batch)
        timed = self.definition.timed(side, given)
        if timed.least >= self.clock.key:
            return given, timed, None
        late = timed.at < self.clock.key
        others = Late(side, batch.filter(pa.array(late)), timed.ticks[late])
        given = Given(self.definition, side, batch.filter(pa.array(~late)))
        return given, self.definition.timed(side, given), others

    def _count_late(self, late: Late | None) -> None:
        if late is not None:
            self.metrics.late[late.side] += late.batch.num_rows
            self.clock.learn(late.ticks)

    def _windows(self, given: Given, timed: Timed) -> list[WindowEnds]:
        found = self.definition.ends(given, timed.ticks)
        if self.definition.keep is not None and self.definition.has_own_bounds:
            self._refuse_far(timed, found)
        return found

    def _refuse_far(self, timed: Timed, windows: Sequence[WindowEnds]) -> None:
        """Refuse windows that reach further back than rows are kept."""
        furthest = self.definition.kept(timed.ticks)
        for own in windows:
            if ((own.lower < furthest) & (own.lower <= own.upper)).any():
                raise UsageError.beyond_keep(self.definition.keep_given)

    def _refuse_gone(self, windows: Sequence[WindowEnds]) -> None:
        for own in windows:
            if ((own.least < self.gone) & (own.lower <= own.upper)).any():
                raise UsageError.gone(self.definition.value(self.clock.watermark))

    def _ends(self, words: Ints) -> list[WindowEnds]:
        """Where the windows of waiting rows end: kept with each row, or the same distance from each one's time."""
        windows, definition = self.definition.asked.windows, self.definition
        if not definition.has_own_bounds:
            return definition.ends(None, definition.ticks_of(words[AT]))
        kept = words[OWN + 1 :]
        return [
            WindowEnds(kept[3 * i], kept[3 * i + 1], kept[3 * i + 2] if prevails_in(own) else None)
            for i, own in enumerate(windows)
        ]

    def _results(self, codes: Ints, ends: Sequence[WindowEnds]) -> list[pa.Array]:
        """One column per aggregate of all windows."""
        columns = []
        for window, own in zip(self.definition.asked.windows, ends, strict=True):
            found, visited = self.joiners.fold(codes, own.lower, own.upper, own.start)
            columns += [self.layout.column(aggregate, found) for aggregate in window.aggregates]
            self.metrics.looked(found.folds.words[0, : found.size], visited)
        return columns

    def _expire(self) -> None:
        """Let go what no window of a row that waits or is yet to come can reach."""
        watermark, definition = self.clock.watermark, self.definition
        reach = definition.reach if definition.keep_ticks is None else definition.keep_ticks
        if watermark is None or reach is None:
            return
        bound = definition.moved(watermark, reach)
        if definition.has_own_bounds:
            bound = min(bound, self.waiting.least)
        elif definition.behind is None:
            return
        else:
            bound = definition.moved(watermark, reach + definition.behind)
        if bound > self.gone and bound < MOST:
            self.gone = bound
            self.joiners.expire(bound, prevails=definition.prevails)
