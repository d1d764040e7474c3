"""A query whose process is killed in the middle: the next one goes on, and the sink has every row once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import dovetail as dv
from dovetail.testing import assert_same_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

ON = "l.k = r.k AND r.ts BETWEEN l.ts - INTERVAL 20 SECONDS AND l.ts + INTERVAL 5 SECONDS"
FILES, ROWS, SECOND = 8, 400, 1_000_000
LAST = 10_000
QUERY = textwrap.dedent("""
    import sys
    import dovetail as dv
    from dovetail.spark import session

    folder, on = sys.argv[1:]
    spark = session(cores=2, **{"spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": 2})

    def stream(side):
        files = spark.readStream.schema("id BIGINT, k INT, ts TIMESTAMP").option("maxFilesPerTrigger", 1)
        return files.parquet(f"{folder}/{side}").withWatermark("ts", "10 seconds")

    found = dv.join(l=stream("l"), r=stream("r"), on=on, how="left", select="l.id, l.ts, r.id AS r_id")
    writer = found.writeStream.option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True)
    writer.start(path=f"{folder}/found", format="parquet").awaitTermination()
""")


@pytest.mark.slow
def test_a_killed_query_loses_no_row_and_doubles_none(tmp_path: Path) -> None:
    left, right = (_flow(tmp_path / side, seed) for seed, side in enumerate("lr"))
    first = _start(tmp_path)
    _wait_for_commits(tmp_path, 3, first)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    assert len(_commits(tmp_path)) < FILES
    assert _start(tmp_path).wait() == 0
    whole = dv.join(l=left, r=right, on=ON, how="left", select="l.id, l.ts, r.id AS r_id")
    told = pa.concat_tables(pq.read_table(own) for own in _kept_files(tmp_path))
    assert_same_rows(_done(told), _done(whole))


def _flow(folder: Path, seed: int) -> pa.Table:
    """Rows in the order of time, in files; the last one lets the watermark pass all before."""
    rng = np.random.default_rng(seed)
    seconds = np.sort(rng.integers(0, 900, FILES * ROWS))
    seconds[-1] = LAST
    table = pa.table(
        {
            "id": np.arange(seconds.size),
            "k": rng.integers(0, 5, seconds.size).astype(np.int32),
            "ts": pa.array(seconds * SECOND, pa.timestamp("us", "UTC")),
        }
    )
    folder.mkdir()
    for i in range(FILES):
        path = folder / f"{i}.parquet"
        pq.write_table(table.slice(i * ROWS, ROWS), path)
        os.utime(path, (1_000_000 + i, 1_000_000 + i))
    return table


def _start(folder: Path) -> subprocess.Popen[bytes]:
    """The query, in a process group of its own: Java and Python workers go with it."""
    return subprocess.Popen([sys.executable, "-c", QUERY, str(folder), ON], start_new_session=True)


def _commits(folder: Path) -> list[Path]:
    return [own for own in (folder / "checkpoint" / "commits").glob("*") if own.name.isdigit()]


def _wait_for_commits(folder: Path, number: int, query: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 120
    while len(_commits(folder)) < number:
        assert query.poll() is None, "the query ended by itself"
        assert time.monotonic() < end, "the query stands still"
        time.sleep(0.02)


def _kept_files(folder: Path) -> Iterator[Path]:
    """The files that the sink's own log names: those that a killed batch left behind are none of them."""
    for log in (folder / "found" / "_spark_metadata").glob("[0-9]*"):
        for line in log.read_text().splitlines()[1:]:
            yield Path(line.split('"path":"file://')[1].split('"')[0])


def _done(rows: pa.Table) -> pa.Table:
    """All but the last row, which waits for good."""
    seconds = rows.column("ts").cast(pa.timestamp("s", "UTC"), safe=False).cast(pa.int64())
    return rows.filter(pc.less(seconds, LAST)).select(["id", "r_id"])
