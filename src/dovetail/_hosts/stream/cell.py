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

    from dovetail._hosts.stream.meet import Meet
    from dovetail._hosts.stream.step import Rule

RESULTS = "results"
RUNS = 8
"""So many runs of an input become one: each micro-batch adds one, and all are read when rows are due."""
ROWS = 1 << 16
"""Rows of a result in one binary value."""
_MICROS = 1_000


class Remembered(StatefulProcessor):
    """What Spark calls for every cell: with the parcels of a micro-batch, and when the watermark has passed a time."""

    def __init__(self, meet: Meet, rule: Rule, cells: int, empty: tuple[bytes, ...]) -> None:
        self.meet, self.rule, self.cells, self.empty = meet, rule, cells, empty

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open what Spark keeps for the cells of a task."""
        self.handle = handle
        self.runs = [handle.getListState(name, "run BINARY") for name in ("driving", "other")]
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
        """Join what has come with what is remembered; remember what is still needed."""
        watermark = millis * _MICROS if millis > 0 else NEVER  # 0: Spark has none yet
        stored = [[unpack(pa.py_buffer(run)) for (run,) in own.get()] for own in self.runs]
        old = [pa.concat_tables([*nothing, *runs]) for nothing, runs in zip(self._nothing(), stored, strict=True)]
        new = [pa.concat_tables(own) for own in came]
        found = step(self.meet, self.rule, old, new, watermark)
        for part, kept in enumerate((found.driving, found.other)):
            self._remember(part, stored[part], old[part].num_rows, new[part], kept)
        self._wake(found.wakes)
        for table in found.results:
            for start in range(0, table.num_rows, ROWS):
                yield pd.DataFrame({RESULTS: [pack(table.slice(start, ROWS))]})

    def _remember(self, part: int, runs: list[pa.Table], old: int, new: pa.Table, kept: pa.Table) -> None:
        """Add a run, or write all anew where rows have left or runs have become many."""
        if kept.num_rows == old + new.num_rows and len(runs) < RUNS:
            if new.num_rows:
                self.runs[part].appendValue((pack(new),))
        elif kept.num_rows:
            self.runs[part].put([(pack(kept),)])
        elif runs:
            self.runs[part].clear()

    def _wake(self, instant: int) -> None:
        """Have Spark call once the watermark has passed an instant, and not before."""
        wanted = None if instant in (FOR_GOOD, NEVER) else max(1, instant // _MICROS + 1)
        known = list(self.handle.listTimers())
        for timer in known:
            if timer != wanted:
                self.handle.deleteTimer(timer)
        if wanted is not None and wanted not in known:
            self.handle.registerTimer(wanted)


def unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Results as rows."""
    for batch in batches:
        for value in batch.column(0):
            yield from unpack(value.as_buffer()).to_batches()
