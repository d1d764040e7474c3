"""Flink's side of the online race, run by the Python of Flink's own environment: `flink_job.py base.csv probe.csv`.

Prints the seconds of a cold run and of a warm one, from submitting the query to its end, into a sink that keeps
nothing: to hand its rows over to Python takes Flink longer than to join them. Then the results and the sum of their
counts, which Flink counts itself in a run that is not timed. It imports nothing of this project.
"""

from __future__ import annotations

import sys
import time

from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]

SETTINGS = {
    "parallelism.default": "2",
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "2 s",
    "table.exec.mini-batch.size": "100000",
}
"""Without small batches Flink says every sum anew after each of its rows."""
TABLE = """
CREATE TABLE {name} ({columns}, rt AS TO_TIMESTAMP_LTZ(ts, 3), WATERMARK FOR rt AS rt - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')
"""
QUERY = """
SELECT b.id, COUNT(*) AS n, SUM(p.v) AS total FROM b JOIN p
ON b.k = p.k AND p.rt BETWEEN b.rt - INTERVAL '0.1' SECOND AND b.rt GROUP BY b.id
"""
COUNT = f"SELECT COUNT(*), SUM(n) FROM ({QUERY})"  # noqa: S608 -- a query of this file
SINK = "CREATE TABLE nothing (id BIGINT, n BIGINT, total DOUBLE) WITH ('connector' = 'blackhole')"


def main() -> None:
    """Join two CSV files."""
    session = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for name, value in SETTINGS.items():
        session.get_config().set(name, value)
    session.execute_sql(TABLE.format(name="b", columns="id BIGINT, k BIGINT, ts BIGINT", path=sys.argv[1]))
    session.execute_sql(TABLE.format(name="p", columns="k BIGINT, ts BIGINT, v DOUBLE", path=sys.argv[2]))
    session.execute_sql(SINK)
    for _ in range(2):
        begun = time.perf_counter()
        session.execute_sql(f"INSERT INTO nothing {QUERY}").wait()
        print(time.perf_counter() - begun)
    with session.execute_sql(COUNT).collect() as rows:
        *_, last = rows
    print(last[0], last[1])


if __name__ == "__main__":
    main()
