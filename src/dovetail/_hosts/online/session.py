"""What callers speak with: an engine, its log, and one lock around every call.

A call is read and checked first, then logged, then carried out: what is refused has changed nothing, and what was
acknowledged is in the log.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Mapping
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail._core.condition.inputs import Input, Inputs
from dovetail._core.plan.online import read_choices
from dovetail._core.plan.temporal import read_window_join
from dovetail._hosts.online import snapshot
from dovetail._hosts.online.definition import Definition
from dovetail._hosts.online.engine import BASE, PROBE, Engine
from dovetail._hosts.online.files import call_from_json, call_to_json
from dovetail._hosts.online.log import Log, read_log
from dovetail._hosts.online.metrics import prometheus
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dovetail._hosts.online.engine import Arrived, OnLate
    from dovetail._hosts.online.log import Record

_JOIN = ("on", "keys", "preceding", "following", "agg", "closed", "include_prevailing", "windows", "null_safe")
_ADVANCE, _CLOSE, _BOTH = 2, 3, 4
_LENGTH = struct.Struct("<Q")
_TOLD = logging.getLogger("dovetail.online")


def make_engine(call: Mapping[str, Any]) -> Engine:
    """Check a call and set up its engine."""
    for side in ("base", "probe"):
        if not isinstance(call[side], pa.Schema):
            raise UsageError.needs_schema(side, type(call[side]).__name__)
    inputs = Inputs(Input("l", tuple(call["base"].names)), Input("r", tuple(call["probe"].names)))
    asked = read_window_join(inputs, **{name: call[name] for name in _JOIN})
    choices = read_choices(inputs.left, dict(call))
    return Engine(Definition(asked, choices, call["base"], call["probe"]), choices)


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
        self._lock = RLock()

    @classmethod
    def open(cls, call: dict[str, Any], on_late: OnLate | None, log: str | Path | None) -> Session:
        """A new engine, with a new log if one is asked for."""
        session = cls(call, on_late)
        if log is not None:
            path = Path(log)
            if path.exists() and path.stat().st_size:
                raise UsageError.log_exists(path)
            session._log = Log.create(path, session._call, session._sync)
        return session

    @classmethod
    def restore(cls, path: str | Path | None, log: str | Path | None, on_late: OnLate | None) -> Session:
        """An engine as it was: from a snapshot, and then the calls in a log."""
        told, tables = (None, None) if path is None else snapshot.open_snapshot(Path(path))
        call, after, records, cut = (None, 0, [], 0) if log is None else read_log(Path(log))
        given = told["call"] if told is not None else call
        if given is None:
            raise UsageError.nothing_to_restore()
        if call is not None and call != given:
            raise UsageError.other_definition(log)
        session = cls(call_from_json(given), on_late)
        if told is not None and tables is not None:
            snapshot.load(session.engine, told, tables)
            session._number = told["number"]
        if log is not None:
            session._follow(Path(log), after, records, cut)
        return session

    def insert(self, given: Any) -> None:
        """Store probe rows."""
        with self._lock:
            rows, _ = self.engine.read(PROBE, given)
            rows = self._in_time(PROBE, rows)
            self._write(PROBE, rows)
            self.engine.insert(rows)

    def push(self, given: Any, probe: Any = None) -> Any:
        """Take base rows, and the probe rows that came with them; return the results that are due."""
        with self._lock:
            rows, frame = self.engine.read(BASE, given)
            met = None if probe is None else self.engine.read(PROBE, probe)[0]
            rows = self._in_time(BASE, rows)
            met = None if met is None else self._in_time(PROBE, met)
            self._write(BASE if met is None else _BOTH, rows, met)
            if met is not None:
                self.engine.insert(met)
            return frame.restore(self.engine.definition.schema, self._with_owed(self.engine.push(rows)))

    def request(self, given: Any) -> Any:
        """The results of base rows on what has arrived."""
        with self._lock:
            if isinstance(given, Mapping):
                return self.engine.request_row(given)
            rows, frame = self.engine.read(BASE, given)
            return frame.restore(self.engine.definition.schema, iter([self.engine.request(rows)]))

    def advance(self, watermark: Any) -> pa.Table:
        """Raise the watermark; return the results that are due."""
        with self._lock:
            tick = self.engine.check_advance(watermark)
            self._write(_ADVANCE, tick)
            return self._table(self.engine.advance(tick))

    def close(self) -> pa.Table:
        """The results of all rows that wait; nothing more is taken."""
        with self._lock:
            self.engine.check_open()
            self._write(_CLOSE, None)
            found = self._table(self.engine.close())
            if self._log is not None:
                self._log.close()
            return found

    def snapshot(self, path: str | Path) -> None:
        """Write everything to a file; the log begins anew behind it."""
        with self._lock:
            snapshot.save(self.engine, self._call, self._number, Path(path))
            if self._log is not None:
                self._log.restart(self._call)

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

    def _in_time(self, side: int, rows: Arrived) -> Arrived:
        """Those that are not late; the others are counted and go to whoever wants them, before anything changes."""
        late = self.engine.late(rows)
        if late is None:
            return rows
        if self._on_late is not None:
            self._on_late(("base", "probe")[side], rows.batch.filter(pa.array(late)))
        return self.engine.without_late(side, rows, late)

    def _write(self, kind: int, what: Any, met: Arrived | None = None) -> None:
        """Log a call that is about to be carried out."""
        self._number += 1
        if self._log is None:
            return
        rows = repr(what).encode() if kind in (_ADVANCE, _CLOSE) else what.batch.serialize().to_pybytes()
        if met is not None:
            rows = _LENGTH.pack(len(rows)) + rows + met.batch.serialize().to_pybytes()
        try:
            self._log.append(kind, self.engine.clock.watermark, rows)
        except UsageError:
            self._number -= 1
            raise

    def _with_owed(self, batch: pa.RecordBatch) -> Any:
        """Results, after those that a restored call still owes."""
        owed, self._owed = self._owed, []
        return iter([*owed, batch])

    def _table(self, batch: pa.RecordBatch) -> pa.Table:
        return pa.Table.from_batches(self._with_owed(batch))

    def _follow(self, path: Path, after: int, records: list[Record], cut: int) -> None:
        """Carry out the logged calls that the snapshot does not hold, and go on writing behind them."""
        if after > self._number:
            raise UsageError.no_snapshot(
                path, f"it begins with record {after + 1}, the snapshot ends at {self._number}"
            )
        if cut:
            _TOLD.warning("log %s: cut %d bytes of a record that was not written to its end", path, cut)
            self.engine.metrics.cut += cut
        owed: list[pa.RecordBatch] = []
        with self.engine.clock.led():
            for record in (own for own in records if own.number > self._number):
                owed = self._replay(record)
        self._number = max([self._number, after, *(own.number for own in records[-1:])])
        self._owed = [batch for batch in owed if batch.num_rows]
        self._log = Log(path, self._sync, self._number)

    def _replay(self, record: Record) -> list[pa.RecordBatch]:
        """Carry out a call again; the results are known to the caller unless it was the last."""
        engine = self.engine
        if record.watermark is not None:
            engine.clock.raise_to(record.watermark)
        calls: dict[int, Callable[[], pa.RecordBatch]] = {
            BASE: lambda: engine.push(self._rows(BASE, record.rows)),
            _ADVANCE: lambda: engine.advance(_tick(record.rows)),
            _CLOSE: engine.close,
        }
        if record.kind == _BOTH:
            (length,) = _LENGTH.unpack_from(record.rows)
            base, probe = record.rows[_LENGTH.size :][:length], record.rows[_LENGTH.size + length :]
            engine.insert(self._rows(PROBE, probe))
            return [engine.push(self._rows(BASE, base))]
        if record.kind == PROBE:
            engine.insert(self._rows(PROBE, record.rows))
            return []
        return [calls[record.kind]()]

    def _rows(self, side: int, content: bytes) -> Arrived:
        schema = self.engine.definition.base if side == BASE else self.engine.definition.probe
        return self.engine.read(side, pa.ipc.read_record_batch(pa.py_buffer(content), schema))[0]


def _tick(content: bytes) -> Any:
    text = content.decode()
    return None if text == "None" else float(text) if "." in text or "e" in text or "n" in text else int(text)
