"""One base row, answered without an Arrow table: for plain columns, whole ticks and windows alike for all rows.

Whatever is not plain (an expression as a key, distances per row, a window that reaches an end of the axis, a value that
its column would not give back as it is) goes the way of batches, which gives the same answer or says why it has none.
"""

from __future__ import annotations

import datetime as dt
import struct
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from dovetail._core.aggregate.functions import family
from dovetail._core.aggregate.stored import StoredCount, StoredEnd, StoredExtreme, StoredTotal
from dovetail._core.columns.axis import LEAST, MOST

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dovetail._core.aggregate.stored import Found, Layout
    from dovetail._core.plan.aggregates import Aggregate
    from dovetail._hosts.online.definition import Definition
    from dovetail._hosts.online.engine import Engine
    from dovetail._hosts.online.windows import Whole

    Finish = Callable[[Found], Any]

NO_ANSWER: dict[str, Any] = {}
_HALF = 32
_LIMIT = 1 << 63


class OneWindow(NamedTuple):
    """How far a window reaches in ticks, None without end, and how to read its aggregates off what it holds."""

    back: int | None
    forward: int | None
    start: int | None
    finish: dict[str, Finish]

    def ends(self, tick: int) -> tuple[int, int, int | None]:
        """Where the window of a row ends, as `WindowEnds`."""
        lower = LEAST if self.back is None else tick - self.back
        upper = MOST if self.forward is None else tick + self.forward
        return lower, upper, None if self.start is None else tick - self.start


class Requests:
    """How to answer single rows of a definition."""

    def __init__(self, engine: Engine, whole: Whole, keys: list[str], time: str, windows: list[OneWindow]) -> None:
        self._engine, self._keys, self._time, self._windows = engine, keys, time, windows
        self._stays = whole.stays
        schema = engine.definition.base
        self._checks = {field.name: _check(field.type) for field in schema}
        self._tick = _tick(engine.definition.axis)
        self._scratch = engine.joiners.one_row()

    @classmethod
    def of(cls, engine: Engine) -> Requests | None:
        """None if single rows must go the way of batches."""
        definition = engine.definition
        names, whole = _plain_columns(definition), definition.whole
        if names is None or whole is None or engine.layout.counted:
            return None
        is_plain = pa.types.is_integer(definition.axis) or pa.types.is_timestamp(definition.axis)
        if not is_plain or definition.base.field(names[1]).type != definition.axis:
            return None
        finish = [
            {aggregate.name: _finish(aggregate, engine.layout) for aggregate in window.aggregates}
            for window in definition.asked.windows
        ]
        windows = [OneWindow(*own, end) for own, end in zip(whole.windows, finish, strict=True)]
        return cls(engine, whole, *names, windows)

    def answer(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a row; NO_ANSWER if it must go the way of batches."""
        out = {}
        for name, check in self._checks.items():
            out[name] = value = row.get(name)
            if value is None and name not in row:
                return NO_ANSWER
            if value is not None and (check is None or not check(value)):
                return NO_ANSWER
        at = out[self._time]
        if at is None or not self._stays(tick := self._tick(at)):
            return NO_ANSWER
        code = self._engine.keys.find_row([out[name] for name in self._keys])
        for own in self._windows:
            lower, upper, start = own.ends(tick)
            if (lower if start is None else min(lower, start)) < self._engine.gone:
                return NO_ANSWER
            found = self._engine.joiners.fold_row(code, lower, upper, start, self._scratch)
            for name, finish in own.finish.items():
                out[name] = finish(found)
        return out


def _plain_columns(definition: Definition) -> tuple[list[str], str] | None:
    """The names of the key columns and of the time, if all are plain columns of types that need no change."""
    condition = definition.asked.query.condition
    expressions = [*(key.left for key in condition.keys), condition.comparisons[0].left]
    names = [definition.column_of(expression) for expression in expressions]
    kinds = [*definition.key_kinds, definition.axis]
    for name, kind in zip(names, kinds, strict=True):
        if name is None or definition.base.field(name).type != kind or not _is_quick_key(kind):
            return None
    found = [name for name in names if name is not None]
    return found[:-1], found[-1]


def _check(kind: pa.DataType) -> Callable[[Any], bool] | None:
    """What tells whether a column gives a value back as it is; None if only the column can tell."""
    if pa.types.is_boolean(kind):
        return lambda value: type(value) is bool
    if pa.types.is_integer(kind):
        signed = pa.types.is_signed_integer(kind)
        most = 1 << (kind.bit_width - signed)
        least = -most if signed else 0
        return lambda value: type(value) is int and least <= value < most
    if pa.types.is_float64(kind):
        return lambda value: type(value) is float
    if pa.types.is_string(kind):
        return lambda value: type(value) is str and (value.isascii() or _is_text(value))
    if pa.types.is_timestamp(kind) and kind.unit == "us" and kind.tz in (None, "UTC"):
        zone = None if kind.tz is None else dt.UTC
        return lambda value: type(value) is dt.datetime and value.tzinfo is zone
    return None


def _is_text(value: str) -> bool:
    """Whether a string can be written down: half of a pair of surrogates cannot."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_quick_key(kind: pa.DataType) -> bool:
    """Whether a value that passed its check can be looked up by itself."""
    return _check(kind) is not None and not pa.types.is_floating(kind)


def _tick(axis: pa.DataType) -> Callable[[Any], int]:
    if pa.types.is_integer(axis):
        return int
    return lambda value: int(pa.scalar(value, axis).value)


def _finish(aggregate: Aggregate, layout: Layout) -> Finish:
    """How to read one aggregate off what one window holds, by a few numbers where that will do."""
    key = family(aggregate)
    own, (lane, double) = layout.families[key], layout.lanes[key]
    if isinstance(own, StoredCount):
        number = 1 + lane if own.kinds else 0
        return lambda found: int(found.folds.words[number, 0])
    if isinstance(own, StoredTotal) and aggregate.function in ("sum", "avg") and own.doubles:
        mean = aggregate.function == "avg"
        return lambda found: _double(found, lane, double, mean=mean)
    if isinstance(own, StoredTotal) and aggregate.function == "sum" and own.is_integer:
        return lambda found: _integer(found, lane, len(own.kinds) - 1, aggregate, layout)
    read = _reader(own.labels.kind) if isinstance(own, (StoredExtreme, StoredEnd)) else None
    if isinstance(own, StoredExtreme) and read is not None:
        return partial(_extreme, lane=lane, read=read, greatest=own.greatest)
    if isinstance(own, StoredEnd) and read is not None:
        return lambda found: read(int(found.ends[key].value[0])) if found.ends[key].flag[0] == 2 else None  # noqa: PLR2004
    return lambda found: layout.column(aggregate, found)[0].as_py()


def _double(found: Found, lane: int, double: int, *, mean: bool) -> float | None:
    count = int(found.folds.words[1 + lane, 0])
    if not count:
        return None
    high = float(found.folds.high[double, 0])
    total = high + float(found.folds.low[double, 0])
    total = total if abs(total) < float("inf") else high
    return total / count if mean else total


def _integer(found: Found, lane: int, limbs: int, aggregate: Aggregate, layout: Layout) -> int | None:
    if not found.folds.words[1 + lane, 0]:
        return None
    total = sum(int(found.folds.words[2 + lane + i, 0]) << (_HALF * i) for i in range(limbs))
    if not -_LIMIT <= total < _LIMIT:
        layout.column(aggregate, found)  # says that it overflows
    return total


def _extreme(found: Found, *, lane: int, read: Callable[[int], Any], greatest: bool) -> Any:
    if not found.folds.words[1 + lane, 0]:
        return None
    key = int(found.folds.words[2 + lane, 0])
    return read(key if greatest else ~key)


def _reader(kind: pa.DataType) -> Callable[[int], Any] | None:
    """How to turn an order key back to its value."""
    if pa.types.is_integer(kind):
        return int
    if pa.types.is_float64(kind):
        return lambda key: float(struct.unpack("<d", struct.pack("<q", key if key >= 0 else key ^ (_LIMIT - 1)))[0])
    return None
