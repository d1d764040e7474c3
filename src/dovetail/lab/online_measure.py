"""Throughput and latency of an online engine: buffers are filled first, then full ones are measured."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.lab.online_streams import BASE, PROBE, arrivals
from dovetail.online import WindowJoin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail.lab.online_streams import Stream

AGG = {"n": "count(*)", "total": "sum(v)"}
MOST_FILL = 4_000_000
FILL_BATCH = 50_000


@dataclass(frozen=True, slots=True)
class Pace:
    """Rows a second, the seconds of each push, and what the engine tells of itself."""

    throughput: float
    pushes: NDArray[np.float64]
    told: dict[str, Any]
    checksum: float
    results: int


def engine_for(stream: Stream, **choices: Any) -> WindowJoin:
    """An engine that counts and adds up what lies in a stream's windows."""
    given: dict[str, Any] = {"on": "ts", "keys": "k", "preceding": stream.window, "lateness": stream.lateness}
    return WindowJoin(base=BASE, probe=PROBE, **(given | {"agg": AGG} | choices))


def pace(stream: Stream, rows: int, batch: int, *, seconds: float | None = None, **choices: Any) -> Pace:
    """Fill an engine, then take in so many rows more, a batch at a time; stop after some seconds, if told so."""
    engine = engine_for(stream, **choices)
    fill = min(stream.fill, MOST_FILL)
    _fill(engine, stream, fill)
    taken, results, checksum, pushes = 0, 0, 0.0, []
    batches = arrivals(stream, rows, begin=fill).batches(batch)
    begun = time.perf_counter()
    for probe, base in batches:
        engine.insert(probe)
        before = time.perf_counter()
        found = engine.push(base)
        now = time.perf_counter()
        pushes.append(now - before)
        taken += probe.num_rows + base.num_rows
        results += found.num_rows
        checksum += pc.sum(found["n"]).as_py() or 0
        if seconds is not None and now - begun > seconds:
            break
    elapsed = time.perf_counter() - begun
    return Pace(taken / elapsed, np.array(pushes), engine.metrics(), checksum, results)


def _fill(engine: WindowJoin, stream: Stream, rows: int) -> None:
    """Bring an engine to where its buffers are full: base rows only where they would still wait."""
    waiting = int(stream.rate * stream.lateness / 1e6)
    whole = arrivals(stream, rows)
    for number, (probe, base) in enumerate(whole.batches(FILL_BATCH)):
        engine.insert(probe)
        if (number + 1) * FILL_BATCH > rows - waiting:
            engine.push(base)


def paced(stream: Stream, rows: int, batch: int, rate: float, **choices: Any) -> NDArray[np.float64]:
    """Seconds from when each batch should have come, at a rate, to its results; full buffers."""
    engine = engine_for(stream, **choices)
    fill = min(stream.fill, MOST_FILL)
    _fill(engine, stream, fill)
    batches = arrivals(stream, rows, begin=fill).batches(batch)
    latencies = []
    begun = time.perf_counter()
    for number, (probe, base) in enumerate(batches):
        due = begun + (number + 1) * batch / rate
        _wait(due)
        engine.insert(probe)
        engine.push(base)
        latencies.append(time.perf_counter() - due)
    return np.array(latencies)


def _wait(until: float) -> None:
    """Wait without oversleeping."""
    while (left := until - time.perf_counter()) > 0:
        time.sleep(max(0.0, left - 0.0002))


def tables(stream: Stream, rows: int) -> tuple[pa.Table, pa.Table]:
    """The base and probe rows of a stream as whole tables."""
    found: Sequence[Any] = list(zip(*arrivals(stream, rows).batches(rows), strict=True))
    probe, base = (pa.Table.from_batches(own) for own in found)
    return base, probe
