"""DER: a small side whose rows are kept goes to every task, and bits tell which of its rows found a partner.

Meaning      pairs of the large side with the broadcast small one, and the small side's rows that are in no pair.
Needs        a small side that fits a broadcast; it is read once and given numbers, so that the same row has the same
             number wherever it is looked at. Where keys number themselves it is read three times, and must give the
             same rows each time, as the large side must, which is read twice.
How          small rows 0..5, tasks see     task 1: {0, 2}        word 0 of task 1: 000101
                                            task 2: {2, 5}        word 0 of task 2: 100100
             bit_or                                               word 0:           100101   dangling: 1, 3, 4
Edges        rows that agree in all columns that the condition reads share a bit; NULL keys match nothing and dangle.
State        the small side in every task; of each task, a bit for each distinct small row goes through the one shuffle.
Worst case   a second scan of the columns of the large side that the condition reads; Spark's broadcast hash joins.
             Where the only key is a whole number and the small side's lie close together, a key is the number of its
             own bit: the small side stays in Spark, and the second scan needs no join.
Source       the third document's DER, which exchanges ids of dangling rows; bits of those seen say the same in less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812

from dovetail._core.plan.outer import keeps
from dovetail._hosts.spark.bits import BITS, OF_ROW, WORD, place_of, word_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from dovetail._core.condition.values import Side
    from dovetail._core.plan.query import Query
    from dovetail._hosts.spark.bits import Bits
    from dovetail._hosts.spark.frames import SparkFrame


def der(query: Query, travels: Side, frames: tuple[SparkFrame, SparkFrame], bits: Bits) -> DataFrame:
    """The join, by the bits of the side that travels."""
    small, large = frames if travels == "left" else frames[::-1]
    if query.how in ("semi", "anti") and travels == "left":
        return shown(query, told(bits, seen=query.how == "semi").alias(small.name))
    joined = shown(query, paired(query, travels, bits.rows, small, large))
    if not keeps(query.how, travels):
        return joined
    return joined.unionAll(shown(query, padded(told(bits, seen=False), small, large)))


def paired(query: Query, travels: Side, rows: DataFrame, small: SparkFrame, large: SparkFrame) -> DataFrame:
    """The pairs, and the rows of the large side without a partner if the join keeps them."""
    stays: Side = "right" if travels == "left" else "left"
    alone = "left" if keeps(query.how, stays) else "inner"
    how = query.how if query.how in ("semi", "anti") else alone
    broadcast = F.broadcast(rows.alias(small.name))
    return large.frame.alias(large.name).join(broadcast, F.expr(query.condition.sql), how)


def told(bits: Bits, *, seen: bool) -> DataFrame:
    """The small rows whose bit is set, or not set."""
    marked = bits.rows.join(F.broadcast(bits.seen()), F.expr(f"{word_of(OF_ROW)} = {WORD}"), "left")
    return marked.filter(f"NOT ({unset()})" if seen else unset())


def unset() -> str:
    """Whether a row's bit is not set in the word beside it, if there is one."""
    return f"coalesce(shiftright({BITS}, {place_of(OF_ROW)}) & 1, 0) = 0"


def padded(rows: DataFrame, small: SparkFrame, large: SparkFrame) -> DataFrame:
    """Rows of one side, beside none of the other."""
    nothing = large.frame.filter(F.lit(False)).alias(large.name)  # noqa: FBT003 -- Spark's own parameter
    return rows.alias(small.name).join(nothing, F.lit(True), "left")  # noqa: FBT003


def shown(query: Query, joined: DataFrame) -> DataFrame:
    """What the result shows of joined rows."""
    return joined.select(*(F.expr(column.shows.sql).alias(column.name) for column in query.output))
