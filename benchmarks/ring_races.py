"""Outer joins that keep a small side: on Spark against Spark's own plan, and between CSV files against plain Python.

On Spark the rivals are Spark's own plan as it stands and with every hint and number of partitions that may suit it. The
bytes that each plan shuffles are read from Spark's own account of its stages. The same races run on a cluster on
loopback: a master, two workers of one core each, and a driver, all processes of their own, with the collector and the
shuffle files of a session of ours, for everyone.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as F

import dovetail as dv
from benchmarks import CORES, data
from benchmarks.figures import FINAL, Claim, Outcome, Timing, read_outcome
from benchmarks.harness import OURS, Answer, Contender, compete, times_faster
from benchmarks.spark_races import FILES, SHUFFLE_SETTING, TRIES, WARM_UP, drained, start
from dovetail._core.plan.query import read_how
from dovetail._hosts.ring.csv_file import CsvFile
from dovetail._hosts.ring.processes import CsvJoin, join_files
from dovetail.spark import COLLECTOR
from tests.cluster import StandaloneCluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame

    from benchmarks.figures import Stand
    from dovetail._hosts.ring.processes import Report

SMALL, LARGE = 100_000, 20_000_000
MOVIES, RATINGS = 50_000, 1_000_000
PART_ROWS = 1_000_000
HOT_SHARE = 0.5
HINTS = ("", "merge", "shuffle_hash")
SHUFFLES = (4, 16)
WAYS = {"outer-left": ("left", 2.0, 0.0), "outer-skew": ("left", 3.0, HOT_SHARE), "outer-full": ("full", 1.5, 0.0)}
"""Of each race the join, how many times faster it must be, and the share of one key."""
CLUSTER_MEMORY = "6g"
"""Of each worker; with half of it, an executor ran out of memory in one of Spark's own plans for a skewed key."""
CLUSTER_PATIENCE = 3600.0
DRIVER = """
import json, sys
from dataclasses import asdict
from pyspark.sql import SparkSession
from benchmarks.figures import Stand
from benchmarks.ring_races import against_spark
from dovetail.spark import FEW_FILES

SparkSession.builder.config("spark.shuffle.sort.bypassMergeThreshold", FEW_FILES).getOrCreate()
print(json.dumps(asdict(against_spark(sys.argv[1], Stand(**json.loads(sys.argv[2]))))))
"""


def races() -> dict[str, Callable[[Stand], Outcome]]:
    """Every race by its name."""
    here = {name: partial(against_spark, name) for name in WAYS}
    on_cluster = {f"{name}-cluster": partial(by_cluster, name) for name in WAYS}
    return {**here, **on_cluster, "outer-files": files}


def by_cluster(name: str, stand: Stand) -> Outcome:
    """The same race, run by a driver of a cluster."""
    with StandaloneCluster(workers=CORES, cores=1, memory=CLUSTER_MEMORY, options=COLLECTOR) as cluster:
        driver = cluster.run_driver(DRIVER, name, json.dumps(asdict(stand)))
        found = read_outcome(json.loads(cluster.answer(driver, CLUSTER_PATIENCE).splitlines()[-1]))
    told = "Spark on two workers"
    claims = [replace(own, what=own.what.replace("Spark", told, 1)) for own in found.claims]
    notes = [own.replace("Spark", told, 1) for own in found.notes]
    title = found.title.replace("Spark", told, 1)
    return replace(found, race=f"{name}-cluster", title=title, claims=claims, notes=notes)


def against_spark(name: str, stand: Stand) -> Outcome:
    """A left side of 100,000 rows that are all kept, every second with partners among 20 million."""
    how, target, hot = WAYS[name]
    skew = ", one key has half of the large side" if hot else ""
    title = f"Spark: {how} join, 100,000 rows kept, 20 million stay{skew}"
    with on_disk(stand.rows(SMALL), stand.rows(LARGE), hot) as folder:
        own = [own_plan(folder, how, hint, parts) for hint in HINTS for parts in SHUFFLES]
        tried = compete(name, own, stage="ways", repeat=min(TRIES, stand.repeat))
        best = sorted(range(len(own)), key=lambda i: tried[i].median)[:2]
        finalists = [ours(folder, how), *(own[i] for i in best)]
        timings = compete(name, finalists, repeat=stand.repeat, warm_up=WARM_UP)
        moved = [shuffled_bytes(partial(one.run)) for one in finalists]
    described = f"{stand.rows(SMALL):,} x {stand.rows(LARGE):,}, {timings[0].rows:,} results, {FILES} Parquet files"
    claims = [
        times_faster(title, timings, target),
        Claim(
            f"{title}, bytes shuffled", finalists[1].name, 100 * moved[0] / max(1, min(moved[1:])), 2, "at most", "%"
        ),
    ]
    note = f"{title}: dovetail shuffled {moved[0]:,} bytes, Spark's best plans {moved[1]:,} and {moved[2]:,}."
    return Outcome(name, title, described, claims, [*tried, *timings], [note])


def ours(folder: Path, how: str) -> Contender:
    """Our join; planning is timed too."""

    def run() -> DataFrame:
        start().conf.unset(SHUFFLE_SETTING)
        left, right = (start().read.parquet(str(folder / side)) for side in "lr")
        return drained(dv.join(left, right, on="l.k = r.k", how=how, select="l_id, l.k, l_name, r_id, r_value"))

    return Contender(OURS, OURS, "no settings", run, _weigh)


def own_plan(folder: Path, how: str, hint: str, parts: int) -> Contender:
    """Spark's own join, with a hint if there is one."""

    def run() -> DataFrame:
        start().conf.set(SHUFFLE_SETTING, str(parts))
        left, right = (start().read.parquet(str(folder / side)).alias(side) for side in "lr")
        hinted = left.hint(hint) if hint else left
        return drained(hinted.join(right, F.expr("l.k = r.k"), how).select("l_id", "l.k", "l_name", "r_id", "r_value"))

    name = f"Spark's own plan, {hint or 'no hint'}, {parts} partitions"
    return Contender(name, "Spark SQL", f"{SHUFFLE_SETTING}={parts}", run, _weigh)


def _weigh(result: DataFrame) -> Answer:
    rows, *sums = result.agg(F.count("*"), F.sum("l_id"), F.sum("r_id")).head() or (0,)
    return Answer(rows, sum(own or 0 for own in sums))


def shuffled_bytes(run: Callable[[], Any]) -> int:
    """What a run writes for shuffles, by Spark's own account of the stages, which forgets those of long ago."""
    before = max(_written_by_stage(), default=-1)
    run()
    return sum(written for stage, written in _written_by_stage().items() if stage > before)


def _written_by_stage() -> dict[int, int]:
    """The bytes of every stage that Spark remembers, by its number, which only grows."""
    context = start().sparkContext
    gateway: Any = context._gateway  # noqa: SLF001 -- a benchmark may look where the library must not
    store = context._jsc.sc().statusStore()  # noqa: SLF001
    stages = store.stageList(None, False, False, gateway.new_array(gateway.jvm.double, 0), None)  # noqa: FBT003
    each = (stages.apply(i) for i in range(stages.size()))
    return {int(stage.stageId()): int(stage.shuffleWriteBytes()) for stage in each}


@contextmanager
def on_disk(small: int, large: int, hot: float) -> Iterator[Path]:
    """Both sides on disk; every second small row has partners, and `hot` of the large side is one key."""
    rng = np.random.default_rng(data.SEED)
    keys = rng.permutation(2 * small)[:small]
    often = int(keys[keys % 2 == 0][0])
    make = partial(_large, rng, small, hot, often)
    names = pa.array([f"name {i}" for i in range(small)])
    with tempfile.TemporaryDirectory(prefix="dovetail-bench-") as folder:
        path = Path(folder)
        (path / "l").mkdir()
        (path / "r").mkdir()
        pq.write_table(pa.table({"l_id": np.arange(small), "k": keys, "l_name": names}), path / "l" / "0.parquet")
        for number in range(FILES):
            with pq.ParquetWriter(path / "r" / f"{number}.parquet", make(0, 0).schema) as writer:
                edges = large * number // FILES, large * (number + 1) // FILES
                for first in range(edges[0], edges[1], PART_ROWS):
                    writer.write_table(make(first, min(PART_ROWS, edges[1] - first)))
        yield path


def _large(rng: np.random.Generator, small: int, hot: float, often: int, first: int, rows: int) -> pa.Table:
    """Rows of even keys, of which half are on the small side, as half of that side's keys are even."""
    keys = np.where(rng.random(rows) < hot, often, 2 * rng.integers(0, small, rows))
    return pa.table({"r_id": np.arange(first, first + rows), "k": keys, "r_value": rng.random(rows)})


def files(stand: Stand) -> Outcome:
    """`dovetail soja` against its own `--algorithm roja` and against plain Python, by their own clocks."""
    title = "CSV files: 50,000 movies x 1 million ratings, 2 processes"
    with tempfile.TemporaryDirectory(prefix="dovetail-bench-") as name:
        folder = Path(name)
        _csv(folder, stand.rows(MOVIES), stand.rows(RATINGS))
        found: dict[str, list[Report]] = {"ring": [], "redistribute": []}
        plain: list[float] = []
        for _ in range(min(TRIES, stand.repeat) + 1):
            for algorithm, reports in found.items():
                reports.append(_joined(folder, algorithm))
            plain.append(_plain(folder))
    (soja, roja), rows = ([own.seconds for own in reports] for reports in found.values()), found["ring"][0].rows
    timings = [
        Timing("dovetail soja", OURS, "--algorithm soja", FINAL, soja[0], soja[1:], rows, 0, _peak(found["ring"])),
        Timing(
            "dovetail roja", "roja", "--algorithm roja", FINAL, roja[0], roja[1:], rows, 0, _peak(found["redistribute"])
        ),
        Timing("plain Python", "Python", "benchmarks/plain_ring.py", FINAL, plain[0], plain[1:], rows, 0),
    ]
    memory = _peak(found["ring"]) / max(1e-9, _peak(found["redistribute"]))
    claims = [
        times_faster(f"{title}, against roja", timings[:2], 2.0),
        times_faster(f"{title}, against plain Python", [timings[0], timings[2]], 20.0),
        Claim(f"{title}, peak memory over roja's", "dovetail roja", memory, 0.5, "at most"),
    ]
    starting = statistics.median(own.starting for own in found["ring"])
    note = (
        f"{title}: from the first byte read to the last written; starting the processes took {starting:.1f} s before."
    )
    return Outcome("outer-files", title, f"{rows:,} rows", claims, timings, [note])


def _peak(reports: list[Report]) -> float:
    return max(own.peak for own in reports) / 1e9


def _joined(folder: Path, algorithm: str) -> Report:
    small, large = (CsvFile.open(str(folder / name)) for name in ("movies.csv", "ratings.csv"))
    return join_files(CsvJoin(small, large, read_how("left"), algorithm, CORES), folder / "out.csv")


def _plain(folder: Path) -> float:
    names = [str(folder / name) for name in ("movies.csv", "ratings.csv")]
    command = [sys.executable, "-m", "benchmarks.plain_ring", *names, str(CORES), str(folder / "plain.csv")]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _csv(folder: Path, movies: int, ratings: int) -> None:
    """Tables shaped like MovieLens: every second movie is rated, a few far more often than most."""
    from dovetail.lab.movies import write_movies, write_ratings  # noqa: PLC0415 -- only this race needs them

    write_movies(folder / "movies.csv", movies)
    write_ratings(folder / "ratings.csv", ratings, movies, selectivity=0.5)
