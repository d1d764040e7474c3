"""Joins of streaming DataFrames on `local[2]`, against Spark's own join of streams.

Both streams come in files, one of each in a micro-batch; a run is a new query with a new checkpoint, from its start
until nothing has come any more, and keeps no row. Spark's join needs the equality, and is tried with either state store
and some numbers of partitions; the best enters the race.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as F

import dovetail as dv
from benchmarks.data import SEED
from benchmarks.figures import Outcome
from benchmarks.harness import OURS, Answer, Contender, compete, times_faster
from benchmarks.spark_races import SHUFFLE_SETTING, TRIES, start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from benchmarks.figures import Stand

BATCHES, ROWS, KEYS = 5, 50_000, 1_000
BATCH_SECONDS = 60
ON = "l.key = r.key AND r.r_ts BETWEEN l.l_ts AND l.l_ts + INTERVAL 10 SECONDS"
DELAY = "5 seconds"
WARM_UP = 30.0
WAYS = (("HDFSBacked", 2), ("HDFSBacked", 4), ("RocksDB", 2))
"""State in memory, and where it may be larger than that."""
STORE_SETTING = "spark.sql.streaming.stateStore.providerClass"
PROVIDER = "org.apache.spark.sql.execution.streaming.state.{}StateStoreProvider"


@dataclass(frozen=True, slots=True)
class Flowing:
    """Two streams that lie on disk as files, in the order in which they come."""

    folder: Path
    how: str

    def read(self, side: str) -> DataFrame:
        """One stream, as a new DataFrame."""
        schema = f"{side}_id LONG, key LONG, {side}_ts TIMESTAMP"
        files = start().readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(self.folder / side))
        return files.withWatermark(f"{side}_ts", DELAY)

    def dovetail(self) -> Contender:
        """Our join."""

        def joined() -> DataFrame:
            found: DataFrame = dv.join(self.read("l"), self.read("r"), on=ON, how=self.how)
            return found

        return Query(joined, "RocksDB", 2).contender(OURS, OURS)

    def spark(self, store: str, partitions: int) -> Contender:
        """Spark's own join of streams."""

        def joined() -> DataFrame:
            return self.read("l").alias("l").join(self.read("r").alias("r"), F.expr(ON), self.how)

        name = f"Spark's own join, {store}, {partitions} partitions"
        return Query(joined, store, partitions).contender(name, "Spark")


@dataclass(frozen=True, slots=True)
class Query:
    """A join of streams with the settings under which it runs."""

    joined: Callable[[], DataFrame]
    store: str
    partitions: int

    def contender(self, name: str, engine: str) -> Contender:
        """The query, timed from its start to its end."""
        said = f"{SHUFFLE_SETTING}={self.partitions}, state in {self.store}"
        return Contender(name, engine, said, self._run, self._weigh)

    def _run(self) -> None:
        """Keep no row."""
        self._drain(lambda writer: writer.format("noop"))

    def _weigh(self, _: None) -> Answer:
        """Run once more, untimed, this time to see which rows met."""
        found: list[tuple[int, int]] = []

        def look(frame: DataFrame, _: int) -> None:
            met = F.expr("sum((l_id + 1) * (coalesce(r_id, -1) + 1) % 1000003)")
            rows, total = frame.agg(F.count("*"), met).head() or (0, 0)
            found.append((rows, total or 0))

        self._drain(lambda writer: writer.foreachBatch(look))
        return Answer(sum(rows for rows, _ in found), sum(total for _, total in found))

    def _drain(self, into: Callable[[DataStreamWriter], DataStreamWriter]) -> None:
        start().conf.set(SHUFFLE_SETTING, str(self.partitions))
        start().conf.set(STORE_SETTING, PROVIDER.format(self.store))
        with tempfile.TemporaryDirectory(prefix="dovetail-bench-", ignore_cleanup_errors=True) as checkpoint:
            writer = into(self.joined().writeStream).option("checkpointLocation", checkpoint)
            writer.trigger(availableNow=True).start().awaitTermination()


def races() -> dict[str, Callable[[Stand], Outcome]]:
    """Every race by its name."""
    return {f"spark-streams-{how}": partial(streams, how) for how in ("inner", "left")}


def streams(how: str, stand: Stand) -> Outcome:
    """Rows of one key, at most ten seconds apart."""
    name = f"spark-streams-{how}"
    with flowing(stand.rows(ROWS), how) as own:
        tried = [own.spark(*way) for way in WAYS]
        timings = compete(name, tried, stage="ways", repeat=1)
        best = tried[min(range(len(tried)), key=lambda i: timings[i].median)]
        final = compete(name, [own.dovetail(), best], repeat=min(TRIES, stand.repeat), warm_up=WARM_UP)
    title = f"Spark: streams, {how} join"
    rows = f"{stand.rows(ROWS):,} x {stand.rows(ROWS):,}"
    data = f"{BATCHES} micro-batches of {rows}, {KEYS:,} keys, {final[0].rows:,} results"
    return Outcome(name, title, data, [times_faster(title, final, 2.0)], [*timings, *final])


@contextmanager
def flowing(rows: int, how: str) -> Iterator[Flowing]:
    """Write both streams; they are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="dovetail-bench-") as name:
        rng = np.random.default_rng(SEED)
        for side in "lr":
            (Path(name) / side).mkdir()
            for i in range(BATCHES):
                path = Path(name) / side / f"{i}.parquet"
                pq.write_table(_batch(rng, side, i, rows), path)
                os.utime(path, (1_000_000 + i, 1_000_000 + i))
        yield Flowing(Path(name), how)


def _batch(rng: np.random.Generator, side: str, number: int, rows: int) -> pa.Table:
    """The rows of a minute, of which some come seconds too late for the order, none for the watermark."""
    micros = np.sort(rng.integers(0, BATCH_SECONDS * 1_000_000, rows)) + number * BATCH_SECONDS * 1_000_000
    return pa.table(
        {
            f"{side}_id": np.arange(number * rows, (number + 1) * rows),
            "key": rng.integers(0, KEYS, rows),
            f"{side}_ts": pa.array(micros, pa.timestamp("us", "UTC")),
        }
    )
