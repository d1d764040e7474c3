"""From a call to a running engine: reading, checking, and the session that callers speak with."""

from __future__ import annotations


from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail._core.condition.inputs import Input, Inputs
from dovetail._core.plan.online import read_choices
from dovetail._core.plan.temporal import read_window_join
from dovetail._hosts.online.definition import Definition
from dovetail._hosts.online.engine import BASE, PROBE, Engine
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from dovetail._hosts.online.engine import OnLate

_JOIN = ("on", "keys", "preceding", "following", "agg", "closed", "include_prevailing", "windows", "null_safe")


def make_engine(call: dict[str, Any], on_late: OnLate | None) -> Engine:
    """Check a call and set up its engine."""
    for side in ("base", "probe"):
        if not isinstance(call[side], pa.Schema):
            raise UsageError.no_schema(side, type(call[side]).__name__)
    inputs = Inputs(Input("l", tuple(call["base"].names)), Input("r", tuple(call["probe"].names)))
    asked = read_window_join(inputs, **{name: call[name] for name in _JOIN})
    choices = read_choices(inputs.left, call)
    return Engine(Definition(asked, choices, call["base"], call["probe"]), choices, on_late)


class Session:
    """An engine with its log, called by one thread at a time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def insert(self, given: Any) -> None:
        with self._engine.lock:
            rows, _ = self._engine.read(PROBE, given)
            self._engine.insert(rows)

    def push(self, given: Any) -> Any:
        with self._engine.lock:
            rows, frame = self._engine.read(BASE, given)
            return frame.restore(self._engine.definition.schema, iter([self._engine.push(rows)]))

    def request(self, given: Any) -> Any:
        with self._engine.lock:
            rows, frame = self._engine.read(BASE, given)
            found = frame.restore(self._engine.definition.schema, iter([self._engine.request(rows)]))
            return found[0] if hasattr(given, "keys") and isinstance(found, list) else found

    def advance(self, watermark: Any) -> pa.Table:
        with self._engine.lock:
            tick = None if watermark is None else self._engine.definition.tick(watermark)
            if tick is not None:
                self._engine.check_advance(tick)
            return pa.Table.from_batches([self._engine.advance(tick)])

    def close(self) -> pa.Table:
        with self._engine.lock:
            return pa.Table.from_batches([self._engine.close()])


def open_engine(call: dict[str, Any], on_late: OnLate | None, log: str | Path | None) -> Session:
    del log
    return Session(make_engine(call, on_late))
