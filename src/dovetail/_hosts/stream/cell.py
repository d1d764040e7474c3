"""The rows that a cell remembers, in Spark's state store: runs of rows, each an Arrow stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from dovetail._hosts.spark.parcels import PARCEL
from dovetail._hosts.spark.places import PLACE
from dovetail._hosts.spark.wire import pack, unpack
from dovetail._hosts.stream.step import FOR_GOOD, NEVER, step
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

    from dovetail._hosts.stream.meet import Meets
    from dovetail._hosts.stream.step import Rule, Step

RESULTS = "results"
RUNS = 8
"""So many runs of an input become one: each micro-batch adds one, and all are read when rows are due."""
ROWS = 1 << 16
"""Rows of a result in one binary value."""
_MICROS = 1_000


class Remembered(StatefulProcessor):
    """What Spark calls for every cell: with the parcels of a micro-batch, and when the watermark has passed a time."""

    def __init__(self, turns: tuple[tuple[Meets, Rule], ...], cells: int, empty: tuple[bytes, ...]) -> None:
        self.turns, self.cells, self.empty = turns, cells, empty

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open what Spark keeps for the cells of a task: of every turn, the rows of either input."""
        self.handle = handle
        self.runs = [
            [handle.getListState(f"{side}{turn}", "run BINARY") for side in ("left", "right")]
            for turn in range(len(self.turns))
        ]
        self.known = handle.getValueState("cells", "number INT")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: ARG002, N802, N803 -- Spark's names
        """Take a cell's parcels of a micro-batch."""
        self._check_cells()
        new = self._nothing()
        for frame in rows:
            for place, parcel in zip(frame[PLACE], frame[PARCEL], strict=True):
                new[place & 1].append(self._named(place & 1, unpack(pa.py_buffer(parcel))))
        yield from self._step(new, timerValues.getCurrentWatermarkInMs())

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:  # noqa: ARG002, N802, N803 -- Spark's names
        """Let rows go that the watermark has passed."""
        yield from self._step(self._nothing(), timerValues.getCurrentWatermarkInMs())

    def close(self) -> None:
        """Spark closes what it keeps."""

    def _check_cells(self) -> None:
        """Refuse rows that were dealt out otherwise than those remembered."""
        known = self.known.get()
        if known is None:
            self.known.update((self.cells,))
        elif known[0] != self.cells:
            raise UsageError.other_cells(known[0], self.cells)

    def _nothing(self) -> list[list[pa.Table]]:
        return [[unpack(pa.py_buffer(own))] for own in self.empty]

    def _named(self, part: int, rows: pa.Table) -> pa.Table:
        """Rows under the names of their input, of whose columns only the number travels."""
        schema = unpack(pa.py_buffer(self.empty[part])).schema
        return rows.rename_columns(schema.names).cast(schema)

    def _step(self, came: list[list[pa.Table]], millis: int) -> Iterator[pd.DataFrame]:
        """Join what has come with what is remembered, and say when to be called again."""
        watermark = millis * _MICROS if millis > 0 else NEVER  # 0: Spark has none yet
        new = [pa.concat_tables(own) for own in came]
        wakes = FOR_GOOD
        for (meet, rule), runs in zip(self.turns, self.runs, strict=True):
            found = self._turn(meet, rule, runs, new, watermark)
            wakes = min(wakes, found.wakes)
            for table in found.results:
                for start in range(0, table.num_rows, ROWS):
                    yield pd.DataFrame({RESULTS: [pack(table.slice(start, ROWS))]})
        self._wake(wakes)

    def _turn(self, meet: Meets, rule: Rule, runs: list[Any], new: list[pa.Table], watermark: int) -> Step:
        """Join for one of those that drive; remember what is still needed."""
        stored = [[unpack(pa.py_buffer(run)) for (run,) in own.get()] for own in runs]
        old = [pa.concat_tables([*nothing, *own]) for nothing, own in zip(self._nothing(), stored, strict=True)]
        order = (rule.driving, 1 - rule.driving)
        found = step(meet, rule, [old[i] for i in order], [new[i] for i in order], watermark)
        for i, kept in zip(order, (found.driving, found.other), strict=True):
            _remember(runs[i], len(stored[i]), old[i].num_rows, new[i], kept)
        return found

    def _wake(self, instant: int) -> None:
        """Have Spark call once the watermark has passed an instant, and not before."""
        wanted = None if instant in (FOR_GOOD, NEVER) else max(1, instant // _MICROS + 1)
        known = list(self.handle.listTimers())
        for timer in known:
            if timer != wanted:
                self.handle.deleteTimer(timer)
        if wanted is not None and wanted not in known:
            self.handle.registerTimer(wanted)


def _remember(runs: Any, count: int, old: int, new: pa.Table, kept: pa.Table) -> None:
    """Add a run to so many, or write all anew where rows have left or runs have become many."""
    if kept.num_rows == old + new.num_rows and count < RUNS:
        if new.num_rows:
            runs.appendValue((pack(new),))
    elif kept.num_rows:
        runs.put([(pack(kept),)])
    elif count:
        runs.clear()


def unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Results as rows."""
    for batch in batches:
        for value in batch.column(0):
            yield from unpack(value.as_buffer()).to_batches()
