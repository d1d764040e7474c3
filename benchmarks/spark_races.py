"""Races on Spark `local[2]`, Parquet in and nothing out, against Spark SQL with hand-made bins and Spark's own plan.

All take part in one session. The binned plan is written as an expert would: intervals exploded over the bins that they
touch, an equality join on the bin, then the exact condition; of an overlap, a pair counts only in the bin of its
greater start. Five widths are tried, then at the best of them every way to move the rows; the two fastest
enter the race, and the fastest at the second best width.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import dovetail as dv
from benchmarks import CORES, data
from benchmarks.figures import FINAL, Claim, Outcome
from benchmarks.harness import OURS, Answer, Contender, compete, times_faster
from dovetail.spark import session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from benchmarks.data import Problem
    from benchmarks.figures import Stand, Timing

MILLION = 1_000_000
OWN_PLAN_ROWS = 30_000
FILES = 4
WIDTHS = (2_500, 5_000, 10_000, 20_000, 40_000)
SHUFFLES = (2, 4, 8)
TRIES = 3
WARM_UP = 45.0
"""Seconds for every finalist: those by bins have run some dozen times by then, and we not once. Java goes on compiling
what our rows pass through for forty times or so, in which they become a fifth faster."""
SHUFFLE_SETTING = "spark.sql.shuffle.partitions"


@dataclass(frozen=True, slots=True)
class Stored:
    """A problem whose tables lie on disk as Parquet."""

    problem: Problem
    folder: Path

    def read(self, side: str) -> DataFrame:
        """One side, as a new DataFrame."""
        return start().read.parquet(str(self.folder / side))

    def weigh(self, result: DataFrame) -> Answer:
        """Run once more, untimed, this time to count."""
        sums = [F.coalesce(F.sum(name), F.lit(0)) for name in self.problem.ids]
        rows, *found = result.agg(F.count("*"), *sums).head() or (0,)
        return Answer(rows, sum(found))

    def dovetail(self, name: str = OURS, algorithm: str = "auto") -> Contender:
        """Our join; planning and statistics are timed too."""

        def run() -> DataFrame:
            own, columns = self.problem, ", ".join(self.problem.columns)
            start().conf.unset(SHUFFLE_SETTING)
            sides = self.read("l"), self.read("r")
            return drained(dv.join(*sides, on=own.on, how=own.how, select=columns, algorithm=algorithm))

        said = "no settings" if algorithm == "auto" else f"algorithm={algorithm!r}"
        return Contender(name, OURS, said, run, self.weigh)

    def spark(self) -> Contender:
        """Spark's own plan for the same text: a nested loop."""

        def run() -> DataFrame:
            joined = self.read("l").alias("l").join(self.read("r").alias("r"), F.expr(self.problem.on))
            return drained(joined.select(*self.problem.columns))

        return Contender("Spark's own plan", "Spark SQL", "no settings", run, self.weigh)


@dataclass(frozen=True, slots=True)
class Bins:
    """A hand-made plan: how wide a bin is, and how its rows meet."""

    width: int
    shuffle: int = 4
    hint: str = "merge"
    hinted: str = "l"

    @property
    def name(self) -> str:
        """As it is shown."""
        way = f"broadcast of {self.hinted}" if self.hint == "broadcast" else f"{self.hint}, {self.shuffle} partitions"
        return f"bins of {self.width:,}, {way}"

    def over(self, stored: Stored) -> Contender:
        """This plan for a stored problem."""

        def run() -> DataFrame:
            start().conf.set(SHUFFLE_SETTING, str(self.shuffle))
            joined = self._joined(stored).select(*stored.problem.columns)
            return drained(joined)

        said = f"{SHUFFLE_SETTING}={self.shuffle}, hint {self.hint}({self.hinted})"
        return Contender(self.name, "Spark SQL", said, run, stored.weigh)

    def _joined(self, stored: Stored) -> DataFrame:
        sides = {side: self._binned(stored.read(side), side).alias(side) for side in "lr"}
        sides[self.hinted] = sides[self.hinted].hint(self.hint)
        conditions = ["l.bin = r.bin", stored.problem.on]
        if "l_start" in sides["l"].columns:
            conditions.append(f"greatest(l.l_start, r.r_start) DIV {self.width} = l.bin")
        return sides["l"].join(sides["r"], F.expr(" AND ".join(conditions)))

    def _binned(self, frame: DataFrame, side: str) -> DataFrame:
        """Points have one bin; intervals are exploded over theirs."""
        if f"{side}_at" in frame.columns:
            return frame.withColumn("bin", F.expr(f"{side}_at DIV {self.width}"))
        first, last = f"{side}_start DIV {self.width}", f"({side}_stop - 1) DIV {self.width}"
        return frame.withColumn("bin", F.explode(F.expr(f"sequence({first}, {last})")))

    def ways(self) -> list[Bins]:
        """The same width by every way to move the rows."""
        shuffled = [replace(self, shuffle=n, hint=hint) for hint in ("merge", "shuffle_hash") for n in SHUFFLES]
        broadcast = [replace(self, hint="broadcast", hinted=side) for side in "lr"]
        return [*shuffled, *broadcast]


def races() -> dict[str, Callable[[Stand], Outcome]]:
    """Every race by its name."""
    return {"spark-point": point, "spark-overlap": skewed_overlap}


def point(stand: Stand) -> Outcome:
    """Point in interval, against bins and against the nested loop."""
    title = "Spark: point in interval"
    with stored(data.point_in_interval(stand.rows(MILLION))) as own:
        timings = against_bins("spark-point", own, stand)
        by_bins = times_faster(f"{title}, against bins", _final(timings), 1.5)
        described = _described(own, timings)
    with stored(data.point_in_interval(stand.rows(OWN_PLAN_ROWS))) as small:
        (loop,) = compete("spark-point", [small.spark()], stage="own plan", repeat=min(TRIES, stand.repeat))
    by_loop = _extrapolated(f"{title}, against Spark's own plan", loop, _final(timings)[0], small, own)
    note = f"Spark's own plan was measured at {small.problem.size}; its time per pair is taken to {own.problem.size}."
    return Outcome("spark-point", title, described, [by_bins, by_loop], [*timings, loop], [note])


def skewed_overlap(stand: Stand) -> Outcome:
    """Overlap where one interval in a thousand is a thousand times longer."""
    title = "Spark: overlap, one interval in 1,000 is 1,000 times longer"
    with stored(data.overlap(stand.rows(MILLION), longer=1_000)) as own:
        timings = against_bins("spark-overlap", own, stand)
        described = _described(own, timings)
    claim = times_faster(f"{title}, against bins", _final(timings), 3.0)
    return Outcome("spark-overlap", title, described, [claim], timings)


def against_bins(name: str, own: Stored, stand: Stand) -> list[Timing]:
    """Find the best binned plans, then race them against us."""
    race = partial(compete, name, repeat=min(TRIES, stand.repeat))
    widths = race([Bins(width).over(own) for width in WIDTHS], stage="widths")
    best, second = (WIDTHS[i] for i in sorted(range(len(WIDTHS)), key=lambda i: widths[i].median)[:2])
    plans = Bins(best).ways()
    ways = race([plan.over(own) for plan in plans], stage="ways")
    first, other = (plans[i] for i in sorted(range(len(plans)), key=lambda i: ways[i].median)[:2])
    finalists = [plan.over(own) for plan in (first, other, replace(first, width=second))]
    return [*widths, *ways, *compete(name, [own.dovetail(), *finalists], repeat=stand.repeat, warm_up=WARM_UP)]


def _final(timings: Sequence[Timing]) -> list[Timing]:
    """The stage that counts, we first."""
    return [one for one in timings if one.stage == FINAL]


def _described(own: Stored, timings: Sequence[Timing]) -> str:
    return f"{own.problem.size}, {timings[-1].rows:,} results, {FILES} Parquet files a side"


def _extrapolated(what: str, loop: Timing, ours: Timing, small: Stored, own: Stored) -> Claim:
    more = _pairs(own) / _pairs(small)
    best = loop.best * more / ours.best
    return Claim(what, loop.contender, loop.median * more / ours.median, 1_000, "at least", by_best=best)


def _pairs(own: Stored) -> int:
    return int(own.problem.left.num_rows * own.problem.right.num_rows)


def start() -> SparkSession:
    """The one session of all races."""
    return session(cores=CORES, app="dovetail benchmarks", **{"spark.sql.session.timeZone": "UTC"})


def restart() -> None:
    """End the session, and with it all Python workers; the next one begins with new ones."""
    if (active := SparkSession.getActiveSession()) is not None:
        active.stop()


def drained(frame: DataFrame) -> DataFrame:
    """Make every row and keep none."""
    frame.write.format("noop").mode("overwrite").save()
    return frame


@contextmanager
def stored(problem: Problem) -> Iterator[Stored]:
    """Write both tables; they are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="dovetail-bench-") as name:
        written(Path(name), {"l": problem.left, "r": problem.right})
        yield Stored(problem, Path(name))


def written(folder: Path, tables: Mapping[str, pa.Table]) -> None:
    """Write tables in several files each, so that all cores can read."""
    for side, table in tables.items():
        (folder / side).mkdir()
        rows = -(-table.num_rows // FILES)
        for i in range(FILES):
            pq.write_table(table.slice(i * rows, rows), folder / side / f"{i}.parquet")
