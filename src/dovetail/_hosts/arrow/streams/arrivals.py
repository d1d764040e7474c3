"""What has arrived of one input: how far its time has come, what came too late, and what waits for the other inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.columns.axis import LEAST, MOST
from dovetail._core.columns.dictionaries import one_batch
from dovetail._core.kernels.memory import joined
from dovetail._core.kernels.sort import ascends, sort_with_order
from dovetail._hosts.arrow.plain import plain_batch
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Keys = NDArray[np.int64]

ENDED = int(MOST) + 1
"""The frontier of an input that has ended: all its rows have arrived."""
_FURTHEST = (1 << 64) - 1
"""No two keys lie further apart."""
_SMALL = 1 << 14
"""Rows that wait in a batch of their own, at least; but for the last few, smaller ones are put together."""


def checked(name: str, given: object, schema: pa.Schema) -> pa.RecordBatch:
    """A batch of the columns of its input, made plain; anything else is refused."""
    if not isinstance(given, pa.RecordBatch):
        raise UsageError.refused_batch(name, f"it is a {type(given).__name__}")
    batch = _plain(name, given)
    if batch.schema.names != schema.names:
        raise UsageError.refused_batch(name, f"its columns are {batch.schema.names}, not {schema.names}")
    for own, told in zip(batch.schema, schema, strict=True):
        if own.type != told.type:
            raise UsageError.refused_batch(name, f"its column {own.name!r} is {own.type}, not {told.type}")
    return batch if batch.schema.equals(schema) else pa.RecordBatch.from_arrays(batch.columns, schema=schema)


def _plain(name: str, batch: pa.RecordBatch) -> pa.RecordBatch:
    try:
        return plain_batch(batch)
    except pa.ArrowException as error:
        raise UsageError.refused_batch(name, str(error).splitlines()[0]) from None


@dataclass(frozen=True, slots=True)
class Waiting:
    """Rows with their validity."""

    start: Keys
    end: Keys
    batch: pa.RecordBatch

    def pick(self, rows: Keys) -> Waiting:
        """Some of the rows."""
        return Waiting(self.start[rows], self.end[rows], self.batch.take(pa.array(rows)))

    def cut(self, first: int, last: int) -> Waiting:
        """The rows between two positions."""
        return Waiting(self.start[first:last], self.end[first:last], self.batch.slice(first, last - first))


@dataclass(slots=True)
class Arrivals:
    """The rows of an input that are not processed yet, and its frontier: no row before it will arrive in time."""

    lateness: int
    latest: int = int(LEAST)
    ended: bool = False
    waiting: list[Waiting] = field(default_factory=list)
    late: int = 0

    @property
    def frontier(self) -> int:
        """The instant before which all rows have arrived."""
        return ENDED if self.ended else max(int(LEAST), self.latest - self.lateness)

    @property
    def size(self) -> int:
        """How many rows wait."""
        return sum(own.start.size for own in self.waiting)

    def too_late(self, start: Keys) -> NDArray[np.bool_]:
        """Which of some rows, as they arrive, lie further back than the lateness; and note how far time has come."""
        if not start.size or (int(start[0]) >= self.latest and ascends(start)):
            self.latest = int(start[-1]) if start.size else self.latest
            return np.zeros(start.size, np.bool_)
        latest = np.maximum.accumulate(np.maximum(start, self.latest))
        self.latest = int(latest[-1])
        behind = latest.view(np.uint64) - start.view(np.uint64)  # two keys may lie further apart than either from zero
        late: NDArray[np.bool_] = behind > min(self.lateness, _FURTHEST)
        self.late += int(np.count_nonzero(late))
        return late

    def wait(self, rows: Waiting) -> None:
        """Keep rows until the other inputs have come as far; small batches are put together, so that there are few."""
        if not rows.start.size:
            return
        while self.waiting and self.waiting[-1].start.size < min(_SMALL, 2 * rows.start.size):
            rows = _together([self.waiting.pop(), rows])
        self.waiting.append(rows)

    def complete(self, before: int) -> int:
        """How many rows wait that start before an instant."""
        return sum(own.start.size if before > MOST else int((own.start < before).sum()) for own in self.waiting)

    def release(self, before: int) -> Waiting | None:
        """Hand out the rows that start before an instant, by start; None if there are none."""
        due = [own for own in self.waiting if before > MOST or own.start.min() < before]
        if not due:
            return None
        rest = [own for own in self.waiting if before <= MOST and own.start.min() >= before]
        rows = due[0] if len(due) == 1 else _together(due)
        if not ascends(rows.start):
            rows = rows.pick(sort_with_order(rows.start)[1])
        cut = rows.start.size if before > MOST else int(np.searchsorted(rows.start, before))
        self.waiting = [rows.cut(cut, rows.start.size), *rest] if cut < rows.start.size else rest
        return rows.cut(0, cut)


def _together(parts: list[Waiting]) -> Waiting:
    start, end = (joined(own) for own in zip(*((part.start, part.end) for part in parts), strict=True))
    return Waiting(start, end, one_batch([part.batch for part in parts]))
