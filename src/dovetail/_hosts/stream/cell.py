"""The rows that a cell remembers, in Spark's state store: runs of rows, each an Arrow stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from dovetail._hosts.spark.parcels import PARCEL
from dovetail._hosts.spark.places import PLACE
from dovetail._hosts.spark.wire import pack, unpack
from dovetail._hosts.stream.definition import check_definition
from dovetail._hosts.stream.runs import FOR_GOOD, NEVER, Runs, Span
from dovetail._hosts.stream.step import Clock, step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql.streaming.stateful_processor import MapState, StatefulProcessorHandle

    from dovetail._hosts.stream.meet import Meets
    from dovetail._hosts.stream.step import Rule

RESULTS = "results"
ROWS = 1 << 16
"""Rows of a result in one binary value."""
_MICROS = 1_000
_SPAN = "number BIGINT, rows BIGINT, first BIGINT, soon BIGINT, last BIGINT"


class Remembered(StatefulProcessor):
    """What Spark calls for every cell: with the parcels of a micro-batch, and when the watermark has passed a time."""

    def __init__(self, turns: tuple[tuple[Meets, Rule], ...], definition: str, empty: tuple[bytes, ...]) -> None:
        self.turns, self.definition, self.empty = turns, definition, empty

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open what Spark keeps for the cells of a task: of every turn, the rows of either input."""
        self.handle = handle
        self.nothing = [unpack(pa.py_buffer(own)) for own in self.empty]
        self.kept = [
            [Kept(handle.getMapState(f"{side}{turn}", _SPAN, "run BINARY")) for side in ("left", "right")]
            for turn in range(len(self.turns))
        ]
        self.known = handle.getValueState("known", "definition STRING, watermark BIGINT")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: ARG002, N802, N803 -- Spark's names
        """Take a cell's parcels of a micro-batch."""
        came = [[own] for own in self.nothing]
        for frame in rows:
            for place, parcel in zip(frame[PLACE], frame[PARCEL], strict=True):
                came[place & 1].append(self._named(place & 1, unpack(pa.py_buffer(parcel))))
        yield from self._step([pa.concat_tables(own) for own in came], timerValues.getCurrentWatermarkInMs())

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:  # noqa: ARG002, N802, N803 -- Spark's names
        """Let rows go that the watermark has passed."""
        yield from self._step(self.nothing, timerValues.getCurrentWatermarkInMs())

    def close(self) -> None:
        """Spark closes what it keeps."""

    def _named(self, part: int, rows: pa.Table) -> pa.Table:
        """Rows under the names of their input, of whose columns only the number travels."""
        schema = self.nothing[part].schema
        return rows.rename_columns(schema.names).cast(schema)

    def _step(self, new: list[pa.Table], millis: int) -> Iterator[pd.DataFrame]:
        """Join what has come with what is remembered, and say when to be called again."""
        clock = Clock(self._last_watermark(), millis * _MICROS if millis > 0 else NEVER)  # 0: Spark has none yet
        wakes = FOR_GOOD
        for (meet, rule), kept in zip(self.turns, self.kept, strict=True):
            order = (rule.driving, 1 - rule.driving)
            old = [Runs(kept[i], self.nothing[i]) for i in order]
            found = step(meet, rule, old, [new[i] for i in order], clock)
            wakes = min(wakes, found.wakes)
            for table in found.results:
                for start in range(0, table.num_rows, ROWS):
                    yield pd.DataFrame({RESULTS: [pack(table.slice(start, ROWS))]})
        self.known.update((self.definition, clock.watermark))
        self._wake(wakes)

    def _last_watermark(self) -> int:
        """The watermark of the last call; another join than the one whose rows are remembered is refused."""
        known = self.known.get()
        if known is None:
            return NEVER
        check_definition(known[0], self.definition)
        return int(known[1])

    def _wake(self, instant: int) -> None:
        """Have Spark call once the watermark has passed an instant, and not before."""
        wanted = None if instant in (FOR_GOOD, NEVER) else max(1, instant // _MICROS + 1)
        known = list(self.handle.listTimers())
        for timer in known:
            if timer != wanted:
                self.handle.deleteTimer(timer)
        if wanted is not None and wanted not in known:
            self.handle.registerTimer(wanted)


class Kept:
    """The runs of an input in Spark's state store: a run under what is known of it."""

    def __init__(self, state: MapState) -> None:
        self.state = state

    def spans(self) -> Iterator[Span]:
        """What there is."""
        return (Span(*own) for own in self.state.keys())  # noqa: SIM118 -- Spark's own method

    def read(self, span: Span) -> pa.Table:
        """The rows of a run."""
        found = self.state.getValue(tuple(span))
        assert found is not None
        return unpack(pa.py_buffer(found[0]))

    def write(self, span: Span, rows: pa.Table) -> None:
        """Keep a run."""
        self.state.updateValue(tuple(span), (pack(rows),))

    def remove(self, span: Span) -> None:
        """Forget a run."""
        self.state.removeKey(tuple(span))


def unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Results as rows."""
    for batch in batches:
        for value in batch.column(0):
            yield from unpack(value.as_buffer()).to_batches()
