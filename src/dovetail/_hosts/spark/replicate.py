"""DOJA on Spark: a small side whose rows are kept goes to every task, and its unmatched rows come back whole.

Meaning      pairs of the large side with the broadcast small one, and the small side's rows that are in no pair.
Needs        a small side that fits a broadcast; a large one that gives the same rows each time, as it is read twice.
How          small rows a b c, tasks see    task 1: {a}       unmatched there: b c
                                            task 2: {b}       unmatched there: a c
                                            none:   {}        unmatched there: a b c
             as many times as there are     c: 3 of 3         unmatched: c
Edges        `none` is a task that reads nothing: it speaks for a large side that no task reads.
State        the small side in every task; the rows that are unmatched there, whole, go through the shuffle.
Worst case   where hardly anything matches, as many copies of the small side travel as there are tasks; DER sends bits
             instead (`der.py`).
Source       the DOJA of Xu and Kostamaa (2010).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pyspark.sql import functions as F

from dovetail._core.condition.parse import quoted
from dovetail._core.plan.outer import keeps
from dovetail._hosts.spark.bits import BIT, IS_SET, OF_ROW, WORD, local_frame, word_of, words
from dovetail._hosts.spark.pairs import padded, paired, shown

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from dovetail._core.condition.values import Side
    from dovetail._core.plan.query import Query
    from dovetail._hosts.spark.frames import SparkFrame

TASK = "dovetail task"


def replicate(query: Query, travels: Side, frames: tuple[SparkFrame, SparkFrame], table: pa.Table) -> DataFrame:
    """The join, of which `table` are the rows of the side that travels: the columns that anything reads."""
    small, large = frames if travels == "left" else frames[::-1]
    rows = local_frame(small, table, np.arange(table.num_rows))
    if query.how in ("semi", "anti") and travels == "left":
        unmatched = _unmatched(query, rows, small, large)
        found = unmatched
        if query.how == "semi":
            found = rows.join(F.broadcast(unmatched.select(OF_ROW)), BIT, "left_anti")
        return shown(query, found.alias(small.name))
    joined = paired(query, travels, rows, small, large)
    if not keeps(query.how, travels):
        return joined
    return joined.unionAll(padded(query, _unmatched(query, rows, small, large), small, large))


def _unmatched(query: Query, rows: DataFrame, small: SparkFrame, large: SparkFrame) -> DataFrame:
    """The small rows that are unmatched in all tasks."""
    read = [quoted(name) for name in query.read_by_condition(large.name)]
    numbered = large.frame.select(*read, F.spark_partition_id().alias(TASK))
    pairs = numbered.alias(large.name).join(F.broadcast(rows.alias(small.name)), F.expr(query.condition.sql))
    seen = words(pairs, OF_ROW, TASK)
    nobody = small.session.range(1).select(F.lit(-1).alias(TASK))
    tasks = numbered.select(f"`{TASK}`").distinct().unionAll(nobody)
    word = [F.col(f"here.`{TASK}`") == F.col(f"seen.`{TASK}`"), F.expr(f"{word_of(OF_ROW)} = {WORD}")]
    there = rows.crossJoin(F.broadcast(tasks)).alias("here").join(F.broadcast(seen.alias("seen")), word, "left")
    unmatched = there.filter(f"NOT {IS_SET}").select("here.*").drop(TASK)
    whole = F.first(F.struct(*map(quoted, rows.columns))).alias("whole")
    told = unmatched.groupBy(OF_ROW).agg(F.count("*").alias("times"), whole)
    number = tasks.agg(F.count("*").alias("tasks"))
    return told.join(F.broadcast(number), F.expr("times = tasks")).select("whole.*")
