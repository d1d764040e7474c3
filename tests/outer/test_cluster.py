"""The ring on a real cluster, with an executor killed while its tasks read their parts: the rows are the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cluster import Gate, StandaloneCluster

if TYPE_CHECKING:
    from pathlib import Path

DRIVER = """
import json, sys
from pathlib import Path
import dovetail as dv
from pyspark.sql import SparkSession, functions as F
from tests.cluster import Gate

spark = SparkSession.builder.getOrCreate()
gate, armed = Gate(Path(sys.argv[1])), Path(sys.argv[1] + ".armed")
large = spark.range(0, 40000, 1, 2).selectExpr("if(id % 2 = 0, 7, id % 5003) AS k", "id AS w")
small = spark.range(0, 6000, 1, 3).selectExpr("if(id % 10 = 0, NULL, id) AS k", "CAST(id AS STRING) AS v")


def held(batches):
    for batch in batches:
        if armed.exists():
            gate.hold()
        yield batch


def rows(frame):
    return sorted((tuple(row) for row in frame.collect()), key=str)


def own(how):
    return rows(small.alias("s").join(large.alias("t"), F.expr("s.k = t.k"), how))


want = {how: own(how) for how in ("full", "left")}
joined = dv.join(s=small, t=large.mapInArrow(held, large.schema), on="s.k = t.k", how="full", algorithm="ring")
armed.touch()
found = {"full": rows(joined)}
found["left"] = rows(dv.join(s=small, t=large, on="s.k = t.k", how="left", algorithm="der"))
print(json.dumps({how: [len(found[how]), found[how] == want[how]] for how in want}))
"""


@pytest.mark.slow
@pytest.mark.cluster
def test_a_ring_that_loses_an_executor_begins_again(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    with StandaloneCluster(workers=2, cores=1, memory="1g") as cluster:
        driver = cluster.run_driver(DRIVER, str(gate.path))
        gate.wait_until_reached()
        cluster.kill_executor()
        gate.open()
        found = json.loads(cluster.answer(driver).strip().splitlines()[-1])
    assert all(same for _, same in found.values())
    assert min(rows for rows, _ in found.values()) > 20000
