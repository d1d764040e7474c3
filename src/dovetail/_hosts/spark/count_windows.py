"""Count windows on Spark: every row gets the number of its window, in the order in which Spark reads the rows.

A DataFrame has no order of its own; a file's rows come as they were written, a sorted frame's as they were sorted. One
job counts the rows of each task, so that a row's number is its task's first one plus its place in the task. Rows that
do not just lie in files are kept for that: computed again, they might be dealt to tasks otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from dovetail._core.plan.query import WINDOW
from dovetail._hosts.spark.small import lies_in_files
from dovetail._hosts.spark.statistics import ROW_BITS

if TYPE_CHECKING:
    from dovetail._hosts.spark.frames import SparkFrame


def unnumbered(own: SparkFrame, window: int | None) -> SparkFrame:
    """A frame with the window's column, whose numbers are still to come: enough for Spark to analyse a call."""
    return own if window is None else replace(own, frame=own.frame.withColumn(WINDOW, F.lit(0).cast("bigint")))


def windowed(own: SparkFrame, window: int | None) -> SparkFrame:
    """A frame with the number of every row's window, if there are windows."""
    if window is None:
        return own
    own = own if lies_in_files(own.frame) else replace(own, frame=own.frame.localCheckpoint())
    ids = own.frame.select(F.monotonically_increasing_id().alias("id"))
    counted = ids.selectExpr(f"id >> {ROW_BITS} AS task").groupBy("task").count().collect()
    rows = {row["task"]: row["count"] for row in counted}
    first = list(accumulate((rows.get(task, 0) for task in range(max(rows, default=0) + 1)), initial=0))
    begins = f"array({', '.join(f'{number}L' for number in first)})"
    numbered = own.frame.withColumn(WINDOW, F.monotonically_increasing_id())
    place = f"`{WINDOW}` & {(1 << ROW_BITS) - 1}L"
    number = F.expr(f"({begins}[CAST(shiftright(`{WINDOW}`, {ROW_BITS}) AS INT)] + ({place})) DIV {window}")
    return replace(own, frame=numbered.withColumn(WINDOW, number))
