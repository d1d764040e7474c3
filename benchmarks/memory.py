"""How much memory the Python workers of Spark take while a billion results pass through them."""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

import psutil
from pyspark.sql import Observation
from pyspark.sql import functions as F

import dovetail as dv
from benchmarks import data
from benchmarks.figures import FINAL, Claim, Outcome, Timing
from benchmarks.harness import CONSOLE, OURS, seconds
from benchmarks.spark_races import drained, restart, stored

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.data import Problem
    from benchmarks.figures import Stand
    from benchmarks.spark_races import Stored

LIMIT_GB = 1.5
EVERY = 0.1


class WorkerMemory(threading.Thread):
    """The greatest memory of any single Python worker below this process, sampled ten times a second.

    On Linux the high-water mark that the kernel keeps for each process is read, so no peak between samples is missed.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peaks: dict[int, int] = {}
        self._over = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()

    def run(self) -> None:
        """Look at all workers until the block is left, and once more then."""
        while not self._over.wait(EVERY):
            self._look()
        self._look()

    @property
    def peak_gb(self) -> float:
        """The greatest peak of all workers."""
        return max(self.peaks.values(), default=0) / 1e9

    def _look(self) -> None:
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.Error, OSError):
                if "pyspark" in " ".join(process.cmdline()) and process.name().startswith("python"):
                    taken = max(process.memory_info().rss, high_water(process.pid))
                    self.peaks[process.pid] = max(self.peaks.get(process.pid, 0), taken)


def high_water(pid: int | str = "self") -> int:
    """The most bytes that a process has ever held in memory; 0 where the system does not tell."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def races() -> dict[str, Callable[[Stand], Outcome]]:
    """Every race by its name."""
    return {
        "memory-one-inequality": partial(_flood, "memory-one-inequality", data.one_inequality, 44_721),
        "memory-point": partial(_flood, "memory-point", partial(data.point_in_interval, per_row=1_000), 1_000_000),
    }


def _flood(name: str, make: Callable[[int], Problem], rows: int, stand: Stand) -> Outcome:
    """A billion rows into a sink that keeps none, in a new session with new workers."""
    restart()
    with stored(make(stand.rows(rows))) as own, CONSOLE.status(name), WorkerMemory() as memory:
        taken, results = seconds(partial(_count_into_sink, own))
    timing = Timing(OURS, OURS, "no settings", FINAL, taken, [], results, 0, memory.peak_gb)
    title = f"Memory: {name.removeprefix('memory-').replace('-', ' ')} into a no-op sink"
    claim = Claim(f"{title}, peak of any Python worker", "", memory.peak_gb, LIMIT_GB, "at most", "GB")
    note = f"{title}: {len(memory.peaks)} Python processes of Spark were watched, the daemon among them."
    return Outcome(name, title, f"{own.problem.size}, {results:,} results, 2 columns", [claim], [timing], [note])


def _count_into_sink(own: Stored) -> int:
    """Join, count the rows on their way, keep none."""
    seen = Observation()
    joined = dv.join(
        own.read("l"), own.read("r"), on=own.problem.on, select=", ".join(own.problem.ids), algorithm="broadcast"
    )
    drained(joined.observe(seen, F.count(F.lit(1)).alias("rows")))
    return int(seen.get["rows"])
