"""Joins by Spark's own operators, and what the caller sees of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from dovetail._core.plan.outer import keeps

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from dovetail._core.condition.values import Side
    from dovetail._core.plan.query import Query
    from dovetail._hosts.spark.frames import SparkFrame


def joined_by_spark(query: Query, left: SparkFrame, right: SparkFrame, *hint: str) -> DataFrame:
    """The whole join by Spark; `merge` for a hint tells it to shuffle both sides."""
    theirs = right.frame.alias(right.name)
    theirs = theirs.hint(*hint) if hint else theirs
    return shown(query, left.frame.alias(left.name).join(theirs, F.expr(query.condition.sql), query.how))


def paired(query: Query, travels: Side, rows: DataFrame, small: SparkFrame, large: SparkFrame) -> DataFrame:
    """The pairs, and the unmatched rows of the large side if the join keeps them."""
    stays: Side = "right" if travels == "left" else "left"
    kept = "left" if keeps(query.how, stays) else "inner"
    how = query.how if query.how in ("semi", "anti") else kept
    broadcast = F.broadcast(rows.alias(small.name))
    return shown(query, large.frame.alias(large.name).join(broadcast, F.expr(query.condition.sql), how))


def padded(query: Query, rows: DataFrame, small: SparkFrame, large: SparkFrame) -> DataFrame:
    """Rows of one side, beside none of the other."""
    nothing = large.frame.filter(F.lit(False)).alias(large.name)
    return shown(query, rows.alias(small.name).join(nothing, F.lit(True), "left"))


def shown(query: Query, joined: DataFrame) -> DataFrame:
    """What the result shows of joined rows."""
    return joined.select(*(F.expr(column.shows.sql).alias(column.name) for column in query.output))
