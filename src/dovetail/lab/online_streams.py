"""The streams of the fourth document's experiments: its workloads A to D, its synthetic default and its adverse one.

The real data are not public. What the document tells of them (rates, keys, windows, lateness, matches in a window:
table II and the text below it) determines streams of the same kind: keys drawn evenly, times evenly spread, rows
delayed by up to a share of the lateness. Times are microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

BASE = pa.schema([("k", pa.int64()), ("ts", pa.int64())])
PROBE = pa.schema([("k", pa.int64()), ("ts", pa.int64()), ("v", pa.float64())])
SECOND = 1_000_000
SEED = 7331


@dataclass(frozen=True, slots=True)
class Stream:
    """Rows a second, keys, window and lateness in microseconds, the share of probe rows, and of the lateness used."""

    name: str
    rate: float
    keys: int
    window: int
    lateness: int
    probes: float
    disorder: float = 0.1
    hot: int = 0
    """Of so many keys, one after the other is drawn as often as all others together."""

    @property
    def fill(self) -> int:
        """How many rows it takes until windows and buffers are full."""
        return int(self.rate * (self.window + self.lateness) / SECOND)

    def scaled(self, **changes: float) -> Stream:
        """The same with other figures."""
        return replace(self, **changes)  # type: ignore[arg-type]


def _table_two(
    name: str, rate: float, keys: int, window: float, lateness: float, matches: int, disorder: float = 0.1
) -> Stream:
    """A workload of table II: the matches in a window tell how many of the rows are probe rows."""
    probes = matches * keys / window / rate
    return Stream(name, rate, keys, int(window * SECOND), int(lateness * SECOND), probes, disorder)


STREAMS = {
    "A": _table_two("A", 120_000, 5, 1, 1, 4000),
    "B": _table_two("B", 200_000, 111, 150, 10, 6000),
    "C": _table_two("C", 5000, 45, 8, 100, 300, 1.0),
    "D": _table_two("D", 15_000, 5, 1, 2, 500),
    "default": Stream("default", 1_000_000, 100, 1000, 100, 0.5),
    "adverse": Stream("adverse", 1_000_000, 1000, 100, 10, 0.5),
}


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Rows in the order of arrival."""

    ts: NDArray[np.int64]
    keys: NDArray[np.int64]
    values: NDArray[np.float64]
    is_probe: NDArray[np.bool_]

    def batches(self, rows: int) -> list[tuple[pa.RecordBatch, pa.RecordBatch]]:
        """Probe rows and base rows of every so many."""
        return [self.cut(begin, begin + rows) for begin in range(0, self.ts.size, rows)]

    def cut(self, begin: int, end: int) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """Probe rows and base rows among those that arrive from one number to another."""
        own = slice(begin, end)
        probe = self.is_probe[own]
        keys, ts, values = self.keys[own], self.ts[own], self.values[own]
        return (
            pa.RecordBatch.from_arrays([pa.array(a[probe]) for a in (keys, ts, values)], schema=PROBE),
            pa.RecordBatch.from_arrays([pa.array(a[~probe]) for a in (keys, ts)], schema=BASE),
        )


def arrivals(stream: Stream, rows: int, seed: int = SEED, begin: int = 0) -> Arrivals:
    """So many rows of a stream, from the `begin`-th on."""
    dice = np.random.default_rng([seed, begin])
    ts = ((begin + np.arange(rows)) * (SECOND / stream.rate)).astype(np.int64)
    delay = dice.integers(0, max(1, int(stream.disorder * stream.lateness)), rows)
    order = np.argsort(ts + delay, kind="stable")
    keys = dice.integers(0, stream.keys, rows)
    if stream.hot:
        turn = (begin + np.arange(rows)) * stream.hot // max(1, int(stream.rate))
        keys = np.where(dice.random(rows) < 0.5, turn % stream.keys, keys)  # noqa: PLR2004 -- half of the rows
    is_probe = dice.random(rows) < stream.probes
    return Arrivals(ts[order], keys[order], dice.random(rows), is_probe[order])
