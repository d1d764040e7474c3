"""How time and memory grow when the rows double twice and every row keeps its number of results."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING

from benchmarks import data
from benchmarks.arrow_races import join_of
from benchmarks.figures import Outcome
from benchmarks.harness import CONSOLE, OURS, Answer, Contender, compete, times_longer
from benchmarks.memory import WorkerMemory, high_water
from benchmarks.spark_races import restart, stored

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from benchmarks.data import Problem
    from benchmarks.figures import Stand, Timing

TIMES = (1, 2, 4)
TARGET = 4.8
WARM_UP = 5.0
"""Seconds for every size: until the allocator has memory for all of them, the largest waits for pages of the system."""
ROWS = 1_000_000


def races() -> dict[str, Callable[[Stand], Outcome]]:
    """Every race by its name."""
    return {
        "growth-arrow-point": partial(on_arrow, "growth-arrow-point", data.point_in_interval),
        "growth-arrow-overlap": partial(on_arrow, "growth-arrow-overlap", data.overlap),
        "growth-arrow-two-inequalities": partial(on_arrow, "growth-arrow-two-inequalities", data.two_inequalities),
        "growth-spark-point": partial(on_spark, "growth-spark-point", data.point_in_interval),
    }


def on_arrow(name: str, make: Callable[[int], Problem], stand: Stand) -> Outcome:
    """Times in this process, by turns; peaks each in a new process."""
    sizes = [stand.rows(times * ROWS) for times in TIMES]
    with CONSOLE.status(f"{name}: memory"), get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        peaks = pool.map(partial(_arrow_peak, make), sizes, chunksize=1)
    contenders = [_arrow_contender(times, make(rows)) for times, rows in zip(TIMES, sizes, strict=True)]
    return _outcome(name, contenders, peaks, stand)


def on_spark(name: str, make: Callable[[int], Problem], stand: Stand) -> Outcome:
    """Times in one session, by turns; peaks before that, from new workers, the smallest size first."""
    restart()
    with ExitStack() as disk:
        kept = [disk.enter_context(stored(make(stand.rows(times * ROWS)))) for times in TIMES]
        contenders = [one.dovetail(f"{times}x") for times, one in zip(TIMES, kept, strict=True)]
        with CONSOLE.status(f"{name}: memory"):
            peaks = [_spark_peak(one) for one in contenders]
        return _outcome(name, contenders, peaks, stand)


def _outcome(name: str, contenders: Sequence[Contender], peaks: Sequence[float], stand: Stand) -> Outcome:
    timings = compete(name, contenders, repeat=stand.repeat, rivals=False, warm_up=WARM_UP)
    timings = [replace(one, peak_gb=peak) for one, peak in zip(timings, peaks, strict=True)]
    title = f"Growth: {name.removeprefix('growth-').replace('-', ' ')}"
    claim = times_longer(f"{title}, time at 4x over 1x", timings[-1], timings[0], TARGET)
    return Outcome(name, title, _described(timings, stand), [claim], timings)


def _described(timings: Sequence[Timing], stand: Stand) -> str:
    sizes = " / ".join(f"{stand.rows(times * ROWS):,}" for times in TIMES)
    results = " / ".join(f"{one.rows:,}" for one in timings)
    return f"{sizes} rows a side, {results} results"


def _arrow_contender(times: int, problem: Problem) -> Contender:
    def weigh(result: pa.Table) -> Answer:
        return Answer(result.num_rows, 0)

    return Contender(f"{times}x", OURS, "no settings", join_of(problem), weigh)


def _arrow_peak(make: Callable[[int], Problem], rows: int) -> float:
    """The peak of a process that does nothing but make the tables and join them."""
    join_of(make(rows))()
    return high_water() / 1e9


def _spark_peak(one: Contender) -> float:
    with WorkerMemory() as memory:
        one.run()
    return memory.peak_gb
