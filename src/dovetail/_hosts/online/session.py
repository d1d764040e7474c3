"""What callers speak with: an engine, its log, and one lock around every call.

A call is read and checked first, then logged, then carried out: what is refused has changed nothing, and what was
acknowledged is in the log. Late rows are handed over once the others are taken. Results are owed from when they are
found until the caller has them: what comes between (a hook that fails, a frame that cannot hold them, the end of the
process) leaves them to the next call, and a record that is written meanwhile says so.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import ExitStack
from itertools import zip_longest
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from dovetail._core.condition.inputs import Input, Inputs
from dovetail._core.plan.knobs import read_path
from dovetail._core.plan.online import read_choices
from dovetail._core.plan.timed import read_window_join
from dovetail._hosts.arrow.plain import no_rows, roomy_schema
from dovetail._hosts.online import snapshot
from dovetail._hosts.online.claim import claim
from dovetail._hosts.online.definition import SIDES, Definition
from dovetail._hosts.online.engine import BASE, PROBE, Engine
from dovetail._hosts.online.files import call_from_json, call_to_json
from dovetail._hosts.online.log import Kind, Log, Record, read_log
from dovetail._hosts.online.metrics import prometheus
from dovetail._hosts.online.rows import as_table
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dovetail._hosts.arrow.frames import Restore
    from dovetail._hosts.online.engine import BaseRows, Late, OnLate, ProbeRows

_JOIN = ("on", "keys", "preceding", "following", "agg", "closed", "include_prevailing", "windows", "null_safe")
_SIDES = {Kind.PUSH: (BASE, PROBE), Kind.INSERT: (PROBE,), Kind.ADVANCE: (), Kind.CLOSE: ()}
"""Whose rows a call brings; the probe rows of a push may be left out."""
_TOLD = logging.getLogger("dovetail.online")


def make_engine(call: Mapping[str, Any]) -> Engine:
    """Check a call and set up its engine."""
    for side in SIDES:
        if not isinstance(call[side], pa.Schema):
            raise UsageError.needs_schema(side, type(call[side]).__name__)
    inputs = Inputs(Input("l", tuple(call["base"].names)), Input("r", tuple(call["probe"].names)))
    asked = read_window_join(inputs, **{name: call[name] for name in _JOIN})
    choices = read_choices(inputs.left, dict(call))
    return Engine(Definition(asked, choices, roomy_schema(call["base"]), roomy_schema(call["probe"])), choices)


class Call(NamedTuple):
    """A call that has been read and checked."""

    kind: Kind
    base: BaseRows | None = None
    probe: ProbeRows | None = None
    tick: Any = None

    @property
    def late(self) -> list[Late]:
        """Its late rows, side by side."""
        return [rows.late for rows in (self.base, self.probe) if rows is not None and rows.late is not None]


class Session:
    """A running engine."""

    def __init__(self, call: dict[str, Any], on_late: OnLate | None) -> None:
        if on_late is not None and not callable(on_late):
            raise UsageError.no_hook("on_late", on_late)
        self.engine = make_engine(call)
        self._call, self._on_late = call_to_json(call), on_late
        self._sync: str = call["sync"]
        self._log: Log | None = None
        self._number = 0
        self._owed: list[pa.RecordBatch] = []
        self._owing = False
        """Whether the caller may not have all results of the calls before."""
        self._untold: list[UsageError] = []
        """What the calls before have not said."""
        self._lock = RLock()

    @classmethod
    def open(cls, call: dict[str, Any], on_late: OnLate | None, log: str | Path | None) -> Session:
        """A new engine, with a new log if one is asked for."""
        place = None if log is None else read_path("log", log)
        session = cls(call, on_late)
        if place is not None:
            session._log = Log.create(place, session._call, session._sync)
        return session

    @classmethod
    def restore(cls, path: str | Path | None, log: str | Path | None, on_late: OnLate | None) -> Session:
        """An engine as it was: from a snapshot, and then the calls in a log."""
        place = None if log is None else read_path("log", log)
        held = claim(place) if place is not None and place.exists() else None
        told, tables = (None, None) if path is None else snapshot.open_snapshot(read_path("path", path))
        call, after, records, cut = (None, 0, [], 0) if place is None else read_log(place)
        given = told["call"] if told is not None else call
        if given is None:
            raise UsageError.nothing_to_restore()
        if call is not None and call != given:
            raise UsageError.other_definition(log)
        session = cls(call_from_json(given), on_late)
        if told is not None and tables is not None:
            session._owe([snapshot.load(session.engine, told, tables)])
            session._number = told["number"]
        if place is not None and held is not None:
            late = session._follow(place, after, records, cut)
            session._log = Log(place, session._sync, held)
            session._tell(late)
        return session

    def insert(self, given: Any) -> None:
        """Store probe rows."""
        with self._lock:
            batch, _ = self.engine.read(PROBE, given)
            call = Call(Kind.INSERT, probe=self.engine.probe_rows(batch))
            self._write(Kind.INSERT, [batch])
            self._carry_out(call)
            self._tell(call.late)

    def push(self, given: Any, probe: Any = None) -> Any:
        """Take base rows, and the probe rows that came with them; return the results that are due."""
        with self._lock:
            batch, frame = self.engine.read(BASE, given)
            met = [] if probe is None else [self.engine.read(PROBE, probe)[0]]
            call = Call(Kind.PUSH, self.engine.base_rows(batch), *map(self.engine.probe_rows, met))
            self._write(Kind.PUSH, [batch, *met])
            return self._handed_over(call, frame.restore)

    def request(self, given: Any) -> Any:
        """The results of base rows on what has arrived."""
        with self._lock:
            if isinstance(given, Mapping):
                return self.engine.request_row(given)
            batch, frame = self.engine.read(BASE, given)
            return frame.restore(self.engine.definition.schema, iter([self.engine.request(batch)]))

    def advance(self, watermark: Any) -> pa.Table:
        """Raise the watermark; return the results that are due."""
        with self._lock:
            call = Call(Kind.ADVANCE, tick=self.engine.check_advance(watermark))
            self._write(Kind.ADVANCE, tick=call.tick)
            return self._handed_over(call, as_table)

    def close(self) -> pa.Table:
        """The results of all rows that wait; nothing more is taken. What a close before it owes is handed over."""
        with self._lock:
            if not self._owed:
                self.engine.check_open()
            if not self.engine.closed:
                self._write(Kind.CLOSE)
            found = self._handed_over(Call(Kind.CLOSE), as_table)
            if self._log is not None:
                self._log.close()
            return found

    def snapshot(self, path: str | Path) -> None:
        """Write everything to a file; the log begins anew behind it."""
        place = read_path("path", path)
        with self._lock:
            if self._log is not None and place.resolve() == self._log.path.resolve():
                raise UsageError.snapshot_over_log(place)
            schema = self.engine.definition.schema
            owed = pa.Table.from_batches(self._owed, schema).combine_chunks().to_batches()
            snapshot.save(self.engine, owed[0] if owed else no_rows(schema), self._call, self._number, place)
            if self._log is not None:
                self._log.restart(self._call, self._number)

    def metrics(self) -> dict[str, Any]:
        """What has been done and what is held."""
        with self._lock:
            return self.engine.told()

    def prometheus(self) -> str:
        """The same as text."""
        return prometheus(self.metrics())

    @property
    def watermark(self) -> Any:
        """How far time has come."""
        return self.engine.definition.value(self.engine.clock.watermark)

    def _write(self, kind: Kind, batches: Sequence[pa.RecordBatch] = (), tick: Any = None) -> None:
        """Log a call that is about to be carried out."""
        number = self._number + 1
        if self._log is not None:
            readers = [self.engine.readers[side] for side in _SIDES[kind]]
            rows = [reader.to_bytes(batch) for reader, batch in zip(readers, batches, strict=False)]
            self._log.append(Record(kind, number, self.engine.clock.watermark, self._owing, tick, rows))
        self._number = number

    def _carry_out(self, call: Call) -> pa.RecordBatch:
        """Do what has been checked and logged; the results that are due by then, none after an insert."""
        engine = self.engine
        engine.failed = []
        if call.probe is not None:
            engine.insert(call.probe)
        match call.kind:
            case Kind.PUSH:
                assert call.base is not None
                return engine.push(call.base)
            case Kind.ADVANCE:
                return engine.advance(call.tick)
            case Kind.CLOSE:
                return engine.close()
            case Kind.INSERT:
                return engine.none

    def _handed_over(self, call: Call, restore: Restore) -> Any:
        """Carry out a call and give its results, after those that are owed, in the caller's form."""
        owed, self._owed, self._owing = self._owed, [], True  # a hook that calls the engine gets results of its own
        try:
            try:
                owed = [*owed, self._carry_out(call)]
                self._untold += self.engine.failed
            finally:
                self._tell(call.late)
            self._say()
            found = restore(self.engine.definition.schema, iter(owed))
        except BaseException:
            self._owed = [*owed, *self._owed]
            raise
        self._owing = bool(self._owed)
        return found

    def _tell(self, late: Sequence[Late]) -> None:
        """Hand late rows to whoever wants them, those of both sides even if one of the two calls fails."""
        if self._on_late is None or not late:
            return
        with ExitStack() as calls:
            for rows in reversed(late):
                calls.callback(self._on_late, SIDES[rows.side], rows.batch)

    def _say(self) -> None:
        """Say that rows have no result, one call's at a time."""
        if self._untold:
            raise self._untold.pop(0)

    def _owe(self, batches: Sequence[pa.RecordBatch]) -> None:
        self._owed = [batch for batch in batches if batch.num_rows]
        self._owing = bool(self._owed)

    def _follow(self, path: Path, after: int, records: list[Record], cut: int) -> list[Late]:
        """Carry out the logged calls that the snapshot does not hold; the late rows of the last one."""
        if after > self._number:
            raise UsageError.no_snapshot(
                path, f"it begins with record {after + 1}, the snapshot ends at {self._number}"
            )
        if cut:
            _TOLD.warning("log %s: cut %d bytes of a record that was not written to its end", path, cut)
            self.engine.metrics.cut += cut
        late = self._replay([own for own in records if own.number > self._number])
        self._number = max([self._number, after, *(own.number for own in records[-1:])])
        return late

    def _replay(self, records: Sequence[Record]) -> list[Late]:
        """Carry out calls again; the last one's results are owed, its late rows returned: nobody may have seen them.

        A call that found the watermark from the data brought it to where the next record says that it was.
        """
        owed = self._owed
        late: list[Late] = []
        for record, reached in zip_longest(records, [following.watermark for following in records[1:]]):
            call = self._checked(record)
            with self.engine.clock.led(reached):
                found = self._carry_out(call)
            self._untold = list(self.engine.failed)
            owed, late = [*(owed if record.owing else []), found], call.late
        self._owe(owed)
        return late

    def _checked(self, record: Record) -> Call:
        """The call of a record, read and checked as it was before."""
        readers = [self.engine.readers[side] for side in _SIDES[record.kind]]
        batches = [reader.from_bytes(own) for reader, own in zip(readers, record.rows, strict=False)]
        match record.kind:
            case Kind.PUSH:
                base, *met = batches
                return Call(Kind.PUSH, self.engine.base_rows(base), *map(self.engine.probe_rows, met))
            case Kind.INSERT:
                return Call(Kind.INSERT, probe=self.engine.probe_rows(*batches))
            case Kind.ADVANCE | Kind.CLOSE:
                return Call(record.kind, tick=record.tick)
