"""Joins by time on Spark `local[2]`, Parquet in and nothing out, against Spark's own as-of join and plain Spark SQL.

Spark's as-of join is private in Python and sorts only if it is switched on, which it is here. A window join is asked of
Spark SQL in two ways: as a framed window over the union of both tables; and, for sums, as the difference of two running
sums, at the end of each window and just before its start.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

import dovetail as dv
from benchmarks.figures import Outcome
from benchmarks.harness import OURS, Answer, Contender, compete, times_faster, times_longer
from benchmarks.spark_races import TRIES, drained, start, written
from benchmarks.temporal_data import KEYS, timed
from benchmarks.temporal_races import ENDS, IN_WINDOW, MILLION, SUMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyspark.sql import DataFrame

    from benchmarks.figures import Stand
    from benchmarks.temporal_data import Timed

WARM_UP, LONG_WARM_UP = 12.0, 40.0
SORTED_ASOF = "spark.sql.join.sortMergeAsOfJoin.enabled"


def races() -> dict[str, Callable[[Stand], Outcome]]:
    """Every race by its name."""
    return {
        "spark-asof-keys": partial(asof, "spark-asof-keys", MILLION, KEYS, 5.0),
        "spark-asof-no-key": partial(asof, "spark-asof-no-key", 50_000, 1, 25.0),
        "spark-asof-even": even,
        "spark-window-sums": partial(windows, "spark-window-sums", SUMS),
        "spark-window-ends": partial(windows, "spark-window-ends", ENDS),
    }


@dataclass(frozen=True, slots=True)
class StoredTimes:
    """A problem whose tables lie on disk as Parquet."""

    problem: Timed
    folder: Path

    def read(self, side: str) -> DataFrame:
        """One side, as a new DataFrame."""
        return start().read.parquet(str(self.folder / side))

    def asof(self, name: str = OURS) -> Contender:
        """Our as-of join; planning and statistics are timed too."""
        keys = None if self.problem.keys == 1 else [("l_key", "r_key")]

        def run() -> DataFrame:
            return drained(dv.asof_join(self.read("l"), self.read("r"), on=("l_ts", "r_ts"), keys=keys))

        return Contender(name, OURS, "no settings", run, _weigh_asof)

    def sparks_asof(self) -> Contender:
        """Spark's own as-of join, switched on."""

        def run() -> DataFrame:
            start().conf.set(SORTED_ASOF, "true")
            left, right = self.read("l"), self.read("r")
            on = None if self.problem.keys == 1 else left["l_key"] == right["r_key"]
            return drained(left._joinAsOf(right, "l_ts", "r_ts", on=on, how="left"))  # noqa: SLF001 -- there is no public one

        return Contender("Spark's own as-of join", "Spark SQL", f"{SORTED_ASOF}=true", run, _weigh_asof)

    def window(self, agg: Mapping[str, str]) -> Contender:
        """Our window join."""
        far = self.problem.window(IN_WINDOW)

        def run() -> DataFrame:
            frames = self.read("l"), self.read("r")
            keys = [("l_key", "r_key")]
            return drained(dv.window_join(*frames, on=("l_ts", "r_ts"), keys=keys, preceding=far, agg=agg))

        return Contender(OURS, OURS, "no settings", run, _weigh_window)

    def rivals(self, agg: Mapping[str, str]) -> list[Contender]:
        """The ways to ask Spark SQL for it."""
        return [self.framed(agg), *([self.running()] if agg is SUMS else [])]

    def framed(self, agg: Mapping[str, str]) -> Contender:
        """A framed window over the union of both tables."""
        ends = {"first(r_value)": "first_value(r_value, true)", "last(r_value)": "last_value(r_value, true)"}
        frame = f"PARTITION BY k ORDER BY ts RANGE BETWEEN {self.problem.window(IN_WINDOW)} PRECEDING AND CURRENT ROW"
        shown = [f"{ends.get(t, t.replace('count(*)', 'count(r_id)'))} OVER ({frame}) AS {n}" for n, t in agg.items()]

        def run() -> DataFrame:
            base = self.read("l").selectExpr("l_id", "l_key k", "l_ts ts", "NULL r_id", "NULL r_value")
            probe = self.read("r").selectExpr("NULL l_id", "r_key k", "r_ts ts", "r_id", "r_value")
            return drained(base.union(probe).selectExpr("l_id", *shown).where("l_id IS NOT NULL"))

        return Contender("framed window over the union", "Spark SQL", "no settings", run, _weigh_window)

    def running(self) -> Contender:
        """Sums as the difference of two running sums; only for what can be subtracted."""
        far = self.problem.window(IN_WINDOW)
        frame = "PARTITION BY k ORDER BY ts, late ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"

        def run() -> DataFrame:
            base, probe = self.read("l"), self.read("r")
            events = (
                base.selectExpr("l_id", "l_key k", "l_ts ts", "2 late", "1 sign", "0 one", "0D r_value")
                .union(base.selectExpr("l_id", "l_key k", f"l_ts - {far} ts", "0 late", "-1 sign", "0", "0D"))
                .union(probe.selectExpr("NULL", "r_key", "r_ts", "1", "0", "1", "r_value"))
            )
            sums = events.selectExpr(
                "l_id", "sign", f"sum(one) OVER ({frame}) AS n", f"sum(r_value) OVER ({frame}) AS total"
            ).where("l_id IS NOT NULL")
            folded = sums.groupBy("l_id").agg(F.expr("sum(sign * n) AS n"), F.expr("sum(sign * total) AS total"))
            return drained(folded.selectExpr("*", "total / nullif(n, 0) AS mean"))

        return Contender("difference of running sums", "Spark SQL", "no settings", run, _weigh_window)


def asof(name: str, rows: int, keys: int, target: float, stand: Stand) -> Outcome:
    """The last right row at or before each left one."""
    with stored(timed(stand.rows(rows), stand.rows(rows), keys=keys)) as own:
        contenders = [own.asof(), own.sparks_asof()]
        timings = compete(name, contenders, repeat=min(TRIES, stand.repeat), warm_up=WARM_UP)
    title = f"Spark: as-of, {own.problem.size}"
    claim = times_faster(title, timings, target)
    return Outcome(name, title, f"{own.problem.size}, {timings[0].rows:,} rows out", [claim], timings)


def even(stand: Stand) -> Outcome:
    """No key at all against a thousand keys."""
    rows = stand.rows(5 * MILLION)
    with stored(timed(rows, rows)) as many, stored(timed(rows, rows, keys=1)) as none:
        contenders = [many.asof("1,000 keys"), none.asof("no key")]
        by_key, alone = compete("spark-asof-even", contenders, repeat=min(TRIES, stand.repeat), rivals=False)
    title = "Spark: as-of, no key against 1,000 keys"
    claim = times_longer(title, alone, by_key, 1.5)
    return Outcome("spark-asof-even", title, f"{rows:,} x {rows:,}", [claim], [by_key, alone])


def windows(name: str, agg: Mapping[str, str], stand: Stand) -> Outcome:
    """Aggregates of about a thousand right rows for each left one.

    A tenth of the rows tell which way suits Spark, and that all agree: of the whole, Spark may take too long for more
    than one run.
    """
    with stored(timed(stand.rows(MILLION // 10), stand.rows(MILLION))) as tenth:
        tried = compete(name, [tenth.window(agg), *tenth.rivals(agg)], stage="ways", repeat=1)[1:]
    best = min(range(len(tried)), key=lambda i: tried[i].median)
    with stored(timed(stand.rows(MILLION), stand.rows(10 * MILLION))) as own:
        contenders = [own.window(agg), own.rivals(agg)[best]]
        timings = compete(name, contenders, repeat=min(TRIES, stand.repeat), warm_up=LONG_WARM_UP)
    title = f"Spark: window join, {', '.join(agg)}"
    claim = times_faster(title, timings, 3.0)
    return Outcome(name, title, f"{own.problem.size}, about {IN_WINDOW:,} rows a window", [claim], [*tried, *timings])


def _weigh_asof(result: DataFrame) -> Answer:
    """Run once more, untimed, this time to see which rows met."""
    met = result.agg(F.count("*"), F.expr("sum((l_id + 1) * (coalesce(r_id, -1) + 1) % 1000003)")).head() or (0, 0)
    return Answer(met[0], met[1] or 0)


def _weigh_window(result: DataFrame) -> Answer:
    names = [name for name in (*SUMS, *ENDS) if name in result.columns and name != "mean"]
    rows, *found = result.agg(F.count("*"), *(F.sum(name) for name in names)).head() or (0,)
    return Answer(rows, sum(int(value or 0) for value in found))


@contextmanager
def stored(problem: Timed) -> Iterator[StoredTimes]:
    """Write both tables; they are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="dovetail-bench-") as name:
        written(Path(name), {"l": problem.left, "r": problem.right})
        yield StoredTimes(problem, Path(name))
