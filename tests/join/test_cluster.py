"""On a real cluster, with an executor killed in the middle: the rows are the same."""

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
gate = Gate(Path(sys.argv[1]))
points = spark.range(0, 20000, 1, 4).select("id", (F.col("id") * 7919 % 100003).alias("at"))
spans = spark.range(0, 3000, 1, 3).select(F.col("id").alias("no"), (F.col("id") * 104729 % 100003).alias("s"))
spans = spans.withColumn("e", F.col("s") + F.col("no") % 50)
on = "p.at >= o.s AND p.at < o.e"
own = points.alias("p").join(spans.alias("o"), F.expr(on), "full").selectExpr("p.id", "o.no")
want = sorted(map(tuple, own.collect()), key=str)


def held(batches):
    for batch in batches:
        gate.hold()
        yield batch


joined = dv.join(p=points, o=spans, on=on, how="full", select="p.id, o.no", algorithm="range", partitions=6)
slow = joined.mapInArrow(held, joined.schema)
got = sorted(map(tuple, slow.collect()), key=str)
print(json.dumps({"same": got == want, "rows": len(got)}))
"""


@pytest.mark.cluster
def test_killing_an_executor_loses_no_row_and_doubles_none(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    with StandaloneCluster(workers=2, cores=1, memory="1g") as cluster:
        driver = cluster.run_driver(DRIVER, str(gate.path))
        gate.wait_until_reached()
        cluster.kill_executor()
        gate.open()
        found = json.loads(cluster.answer(driver).strip().splitlines()[-1])
    assert found["same"]
    assert found["rows"] > 20000
