"""The cluster of the tests is a real one: a job outlives one of its executors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psutil
import pytest

from tests.cluster import Gate, StandaloneCluster, ended

if TYPE_CHECKING:
    from pathlib import Path

JOB = """
import sys
from pathlib import Path
from pyspark.sql import SparkSession
from tests.cluster import Gate

gate = Gate(Path(sys.argv[1]))

def hold(batches):
    gate.hold()
    yield from batches

spark = SparkSession.builder.getOrCreate()
rows = spark.range(0, 100, 1, 4).mapInArrow(hold, "id long").groupBy().sum("id").collect()
print(spark.sparkContext.master, rows[0][0])
spark.stop()
"""


@pytest.mark.slow  # the join over a cluster kills one, too
@pytest.mark.cluster
def test_a_job_outlives_an_executor_that_is_killed_in_the_middle(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    with StandaloneCluster(workers=2, cores=1, memory="1g") as cluster:
        driver = cluster.run_driver(JOB, str(gate.path))
        gate.wait_until_reached()
        family = cluster.processes()
        assert set().union(*map(_listens_at, family)) <= {"127.0.0.1", "::1", "::ffff:127.0.0.1"}
        killed = cluster.kill_executor()
        gate.open()
        assert cluster.answer(driver).split() == [cluster.url, "4950"]
        assert killed not in {process.pid for process in cluster.executors()}
    assert all(map(ended, family))


def _listens_at(process: psutil.Process) -> set[str]:
    sockets = process.net_connections("inet")
    return {socket.laddr.ip for socket in sockets if socket.laddr and socket.status == psutil.CONN_LISTEN}
