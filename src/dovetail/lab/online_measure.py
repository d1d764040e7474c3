"""Throughput and latency of an online engine: buffers are filled first, then full ones are measured."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._core.sweep.numbering import Numbering
from dovetail._core.sweep.teams import Teams
from dovetail.lab.online_streams import BASE, PROBE, SECOND, arrivals
from dovetail.online import WindowJoin

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from dovetail.lab.online_streams import Stream

AGG = {"n": "count(*)", "total": "sum(v)"}
FILL_BATCH = 50_000
PIECE = 1_000_000


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
    fill = stream.fill
    _fill(engine, stream, fill)
    taken, results, checksum, pushes = 0, 0, 0.0, []
    batches = arrivals(stream, rows, begin=fill).batches(batch)
    begun = time.perf_counter()
    for probe, base in batches:
        before = time.perf_counter()
        found = engine.push(base, probe)
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
    waiting = int(stream.rate * stream.lateness / SECOND)
    for begin in range(0, rows, PIECE):
        piece = arrivals(stream, min(PIECE, rows - begin), begin=begin)
        for number, (probe, base) in enumerate(piece.batches(FILL_BATCH)):
            engine.push(
                base.slice(0, base.num_rows if begin + (number + 1) * FILL_BATCH > rows - waiting else 0), probe
            )


class Delays(NamedTuple):
    """Seconds to each thing's having been taken: from when it was due, and from when it was there to be taken.

    They differ by how late whoever waits for it was woken. What came while another was being taken was there at once.
    """

    from_due: NDArray[np.float64]
    from_there: NDArray[np.float64]

    def since(self, number: int) -> Delays:
        """Those of all things but the first."""
        return Delays(self.from_due[number:], self.from_there[number:])


def paced(stream: Stream, rows: int, batch: int, rate: float, **choices: Any) -> Delays:
    """How long each batch takes to its results, if batches come at a rate; full buffers.

    A second goes before, at the same rate, in which the engine gives out what has waited since the buffers were filled.
    What setting up has left behind is collected first: else Python does so later, which takes a tenth of a second.
    """
    engine = engine_for(stream, **choices)
    _fill(engine, stream, stream.fill)
    before, number = int(rate / batch), -(-rows // batch)
    found = arrivals(stream, (before + number) * batch, begin=stream.fill)
    ready = found.batches(batch)
    gc.collect()

    def push(first: int, last: int) -> None:
        probe, base = ready[first] if last == first + 1 else found.cut(first * batch, last * batch)
        engine.push(base, probe)

    return at_pace(push, before + number, batch / rate).since(before)


def at_pace(take: Callable[[int, int], None], number: int, every: float) -> Delays:
    """How long each of so many things takes, if one comes every so often.

    Whoever was held up takes all that has come meanwhile at once, as a reader of a queue does.
    """
    due = (np.arange(number) + 1) * every
    there, ended = due.copy(), np.empty(number)
    begun, done, free = time.perf_counter(), 0, 0.0
    while done < number:
        _wait(begun + due[done])
        now = time.perf_counter() - begun
        come = max(done + 1, int(np.searchsorted(due, now, side="right")))
        there[np.searchsorted(due, free) : come] = now
        take(done, come)
        free = ended[done:come] = time.perf_counter() - begun
        done = come
    return Delays(ended - due, ended - there)


def _wait(until: float) -> None:
    """Wait without oversleeping."""
    while (left := until - time.perf_counter()) > 0:
        time.sleep(max(0.0, left - 0.0002))


def tables(stream: Stream, rows: int) -> tuple[pa.Table, pa.Table]:
    """The base and probe rows of a stream as whole tables."""
    found: Sequence[Any] = list(zip(*arrivals(stream, rows).batches(rows), strict=True))
    probe, base = (pa.Table.from_batches(own) for own in found)
    return base, probe


def balance(stream: Stream, joiners: int, rows: int, *, schedule: bool, batch: int = 10_000) -> NDArray[np.float64]:
    """The rows that each of so many joiners would handle, counted on one thread, once the schedule has settled."""
    teams, numbers = Teams(joiners, delta=0.002, decay=0.9), Numbering()
    loads = np.zeros(joiners)
    codes = numbers.give(arrivals(stream, rows).keys)
    for begin in range(0, rows, batch):
        owners = teams.deal(codes[begin : begin + batch])
        if begin >= rows // 2:
            loads += np.bincount(owners, minlength=joiners)
        if schedule:
            teams.schedule()
    return loads
