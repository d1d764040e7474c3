"""Joins over streams inside one process.

The rival is an operator in plain Python over `sortedcontainers`, as one would write it: an index by key and start, and
a queue by end, one row at a time. The measure is our own overlap join of whole tables on the same rows.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections import defaultdict
from functools import partial
from heapq import heappop, heappush
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc
from sortedcontainers import SortedKeyList

import dovetail as dv
from benchmarks.figures import FINAL, Claim, Outcome, Timing
from benchmarks.harness import OURS, Answer, Contender, compete, seconds, times_faster, times_longer
from dovetail import stream
from dovetail.lab.streams import MEMORY, STRATEGIES, Cascade, MultiWay, intervals, watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.figures import Stand

MILLION = 1_000_000
KEYS = 1_000
PARTNERS = 5
"""Of a row, among those that came before it on the other side: ten results a row over both sides."""
BATCH = 1 << 16
LIMIT = 64 << 20
RUNS = 2 << 30
ROW = 56
"""Bytes of a row in a run of the progressive join: two columns and five hidden ones."""
ON = "a.k = b.k"


def races() -> dict[str, Callable[[Stand], Outcome]]:
    """Every race by its name."""
    return {
        "stream-temporal": temporal,
        "stream-tpmj": tpmj,
        "stream-memory": memory,
        "stream-pages": pages,
    }


def _side(rows: int, number: int) -> pa.Table:
    dice = np.random.default_rng(number)
    keys, values = dice.integers(0, KEYS, rows), dice.integers(0, 1000, rows)
    at = 2 * np.arange(rows) + number
    return pa.table({"k": keys, "ts": at, "v": values, "e": at + _window()})


def _window() -> int:
    return 2 * PARTNERS * KEYS


def _reader(table: pa.Table, size: int = BATCH) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=size))


def _streamed(a: pa.Table, b: pa.Table, **options: Any) -> list[pa.RecordBatch]:
    found = stream.temporal_join(a=_reader(a), b=_reader(b), on=ON, ts="ts", window=dv.sliding(_window()), **options)
    return list(found)


def _overlapping(a: pa.Table, b: pa.Table) -> list[pa.RecordBatch]:
    return list(dv.join(a=_reader(a), b=_reader(b), on=f"{ON} AND a.ts < b.e AND b.ts < a.e"))


class PlainOperator:
    """A temporal join of one row at a time: an index by key and start, a queue by end."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, int], SortedKeyList] = defaultdict(lambda: SortedKeyList(key=lambda row: row[1]))
        self.ends: dict[str, list[tuple[int, tuple[int, ...]]]] = {"a": [], "b": []}

    def insert(self, side: str, row: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Forget what has ended, find the partners of a row, remember it."""
        other = "b" if side == "a" else "a"
        start, end = row[1], row[3]
        while self.ends[other] and self.ends[other][0][0] <= start:
            _, gone = heappop(self.ends[other])
            self.rows[other, gone[0]].remove(gone)
        for partner in self.rows[other, row[0]]:
            yield (*row, *partner, max(start, partner[1]), min(end, partner[3]))
        self.rows[side, row[0]].add(row)
        heappush(self.ends[side], (end, row))


def _plain(a: pa.Table, b: pa.Table) -> tuple[int, int]:
    rows = [list(zip(*(own[name].to_pylist() for name in own.column_names), strict=True)) for own in (a, b)]
    operator, count, total = PlainOperator(), 0, 0
    for one, other in zip(*rows, strict=True):
        for side, row in (("a", one), ("b", other)):
            for found in operator.insert(side, row):
                count, total = count + 1, total + found[-2]
    return count, total


def _weigh(batches: list[pa.RecordBatch]) -> Answer:
    total = sum(pc.sum(batch.column("valid_start")).as_py() or 0 for batch in batches)
    return Answer(sum(batch.num_rows for batch in batches), total)


def _weigh_overlap(batches: list[pa.RecordBatch]) -> Answer:
    starts = (pc.max_element_wise(batch.column("ts"), batch.column("b_ts")) for batch in batches)
    return Answer(sum(batch.num_rows for batch in batches), sum(pc.sum(own).as_py() or 0 for own in starts))


def temporal(stand: Stand) -> Outcome:
    """In memory: against plain Python, and beside the batch overlap join of the same rows."""
    a, b = (_side(stand.rows(MILLION), number) for number in (0, 1))
    contenders = [
        Contender(OURS, OURS, "buffer-input", partial(_streamed, a, b, algorithm="buffer-input"), _weigh),
        Contender(
            "overlap of tables", "dovetail, whole tables", "dv.join", partial(_overlapping, a, b), _weigh_overlap
        ),
        Contender("sortedcontainers", "Python", "one row at a time", partial(_plain, a, b), lambda own: Answer(*own)),
    ]
    timings = compete("stream-temporal", contenders, repeat=stand.repeat)
    ours, whole, plain = timings
    claims = [
        times_faster("Stream: temporal join against plain Python", [ours, plain], 5.0),
        times_longer("Stream: temporal join beside the overlap of whole tables", ours, whole, 1.5),
    ]
    size = f"2 x {a.num_rows:,} rows, {KEYS:,} keys, {ours.rows:,} results"
    return Outcome("stream-temporal", "Stream: temporal join in memory", size, claims, timings)


def tpmj(stand: Stand) -> Outcome:
    """With runs on disk, beside the join in memory."""
    a, b = (_side(stand.rows(MILLION), number) for number in (0, 1))
    contenders = [
        Contender(OURS, OURS, "buffer-input", partial(_streamed, a, b, algorithm="buffer-input"), _weigh),
        Contender("tpmj", "dovetail, runs", "64 MB", partial(_streamed, a, b, algorithm="tpmj", memory=LIMIT), _weigh),
    ]
    timings = compete("stream-tpmj", contenders, repeat=stand.repeat)
    claim = times_longer("Stream: tpmj beside the join in memory", timings[1], timings[0], 4.0)
    size = f"2 x {a.num_rows:,} rows, {KEYS:,} keys, {timings[0].rows:,} results"
    return Outcome("stream-tpmj", "Stream: temporal join with runs on disk", size, [claim], timings)


class _Peak(threading.Thread):
    """The most memory that this process takes above what it had, sampled a hundred times a second."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._process, self._over = psutil.Process(), threading.Event()
        self.before = self._process.memory_info().rss
        self.most = 0

    def run(self) -> None:
        while not self._over.wait(0.01):
            self.most = max(self.most, self._process.memory_info().rss - self.before)

    def stop(self) -> int:
        self._over.set()
        self.join()
        return self.most


def _generated(rows: int, seed: int) -> Iterator[pa.RecordBatch]:
    dice = np.random.default_rng(seed)
    for at in range(0, rows, 1 << 13):
        size = min(1 << 13, rows - at)
        keys = dice.integers(0, 1 << 62, size)
        yield pa.record_batch({"k": keys, "pad": dice.integers(0, 1 << 62, size)})


def memory(stand: Stand) -> Outcome:
    """The progressive join of 2 GB of runs in 64 MB; and when its first result comes."""
    rows = int(stand.scale * RUNS) // (2 * ROW)
    _drain(1 << 16, 1 << 20)  # what the process needs at all: every kernel has run, on little
    peak = _Peak()
    peak.start()
    took, _ = seconds(partial(_drain, rows))
    most = peak.stop()
    claims = [
        Claim("Stream: memory of a progressive join with a limit of 64 MB", "the limit", most / LIMIT, 2.0, "at most")
    ]
    timing = Timing(OURS, OURS, "64 MB", FINAL, took, [took], 2 * rows, 0)
    return Outcome("stream-memory", "Stream: memory of the progressive join", f"2 x {rows:,} rows", claims, [timing])


def _drain(rows: int, limit: int = LIMIT) -> int:
    with tempfile.TemporaryDirectory() as path:
        inputs: dict[str, Any] = {"a": _generated(rows, 1), "b": _generated(rows, 2)}
        found = stream.join(**inputs, on=ON, memory=limit, directory=Path(path))
        return sum(batch.num_rows for batch in found)


def pages(stand: Stand) -> Outcome:
    """The document's experiment: page accesses of the four-way join against the cascade."""
    inputs, claims, timings = intervals(stand.rows(100_000)), [], []
    for strategy in STRATEGIES:
        found = []
        for kind in (MultiWay, Cascade):
            start = time.perf_counter()
            seen = watch(kind.of(inputs, "tpmj", memory=MEMORY, strategy=strategy), inputs)
            took, name = time.perf_counter() - start, f"{kind.__name__}, {strategy}"
            timings.append(Timing(name, OURS, "1 MB", FINAL, took, [took], seen.total, seen.pages))
            found.append(seen.pages)
        title = f"Stream: pages of the four-way join, {strategy}"
        claims.append(Claim(title, "cascade", found[0] / found[1], 0.2, "at most"))
    size = f"4 x {inputs[0].num_rows:,} intervals, {timings[0].rows:,} results"
    return Outcome("stream-pages", "Stream: four-way join against the cascade", size, claims, timings)
