"""DER: a small side whose rows are kept goes to every task, and bits tell which of its rows found a partner.

Meaning      pairs of the large side with the broadcast small one, and the small side's rows that are in no pair.
Needs        a small side that fits a broadcast; it is read once and given numbers, so that the same row has the same
             number wherever it is looked at.
How          small rows 0..5, tasks see     task 1: {0, 2}        word 0 of task 1: 000101
                                            task 2: {2, 5}        word 0 of task 2: 100100
             bit_or                                               word 0:           100101   dangling: 1, 3, 4
Edges        rows that agree in all columns that the condition reads share a bit; NULL keys match nothing and dangle.
State        the small side in every task; of each task, a bit for each distinct small row goes through the one shuffle.
Worst case   a second scan of the columns of the large side that the condition reads; Spark's broadcast hash joins.
Source       the third document's DER, which exchanges ids of dangling rows; bits of those seen say the same in less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import LongType, StructField, StructType

from dovetail._core.plan.outer import keeps

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from dovetail._core.condition.values import Side
    from dovetail._core.plan.query import Query
    from dovetail._hosts.spark.frames import SparkFrame

BIT = "dovetail bit"
"""The column that numbers the rows of the small side that the condition can tell apart."""


def der(query: Query, travels: Side, frames: tuple[SparkFrame, SparkFrame], table: pa.Table) -> DataFrame:
    """The join, of which `table` are the rows of the side that travels: the columns that anything reads."""
    small, large = frames if travels == "left" else frames[::-1]
    numbers, first = distinct_rows(table, query.read_by_condition(small.name))
    rows = local_frame(small, table, numbers)
    if query.how in ("semi", "anti") and travels == "left":
        seen = query.how == "semi"
        return shown(query, told(rows, _seen(query, small, large, table, first), seen=seen).alias(small.name))
    joined = shown(query, paired(query, travels, rows, small, large))
    if not keeps(query.how, travels):
        return joined
    alone = told(rows, _seen(query, small, large, table, first), seen=False)
    return joined.unionAll(shown(query, padded(alone, small, large)))


def paired(query: Query, travels: Side, rows: DataFrame, small: SparkFrame, large: SparkFrame) -> DataFrame:
    """The pairs, and the rows of the large side without a partner if the join keeps them."""
    stays: Side = "right" if travels == "left" else "left"
    alone = "left" if keeps(query.how, stays) else "inner"
    how = query.how if query.how in ("semi", "anti") else alone
    broadcast = F.broadcast(rows.alias(small.name))
    return large.frame.alias(large.name).join(broadcast, F.expr(query.condition.sql), how)


def _seen(query: Query, small: SparkFrame, large: SparkFrame, table: pa.Table, first: NDArray[np.int64]) -> DataFrame:
    """The bits of the small rows that have a partner, 64 to a word."""
    read = query.read_by_condition(small.name)
    told_apart = local_frame(small, table.select(read).take(pa.array(first)), np.arange(first.size))
    ours = large.frame.select(*(f"`{name}`" for name in query.read_by_condition(large.name))).alias(large.name)
    pairs = ours.join(F.broadcast(told_apart.alias(small.name)), F.expr(query.condition.sql))
    word = pairs.groupBy(F.expr(f"`{BIT}` DIV 64").alias("word"))
    return word.agg(F.expr(f"bit_or(shiftleft(1L, CAST(`{BIT}` % 64 AS INT)))").alias("bits"))


def told(rows: DataFrame, words: DataFrame, *, seen: bool) -> DataFrame:
    """The small rows whose bit is set, or not set."""
    marked = rows.join(F.broadcast(words), F.expr(f"`{BIT}` DIV 64 = word"), "left")
    return marked.filter(f"NOT ({unset()})" if seen else unset())


def unset() -> str:
    """Whether a row's bit is not set in the word beside it, if there is one."""
    return f"coalesce(shiftright(bits, CAST(`{BIT}` % 64 AS INT)) & 1, 0) = 0"


def padded(rows: DataFrame, small: SparkFrame, large: SparkFrame) -> DataFrame:
    """Rows of one side, beside none of the other."""
    nothing = large.frame.filter(F.lit(False)).alias(large.name)  # noqa: FBT003 -- Spark's own parameter
    return rows.alias(small.name).join(nothing, F.lit(True), "left")  # noqa: FBT003


def shown(query: Query, joined: DataFrame) -> DataFrame:
    """What the result shows of joined rows."""
    return joined.select(*(F.expr(column.shows.sql).alias(column.name) for column in query.output))


def local_frame(own: SparkFrame, table: pa.Table, numbers: NDArray[np.int64]) -> DataFrame:
    """Rows that were brought, handed back to Spark with their numbers."""
    fields = [own.frame.schema[name] for name in table.column_names]
    schema = StructType([*fields, StructField(BIT, LongType(), nullable=False)])
    numbered = table.append_column(BIT, pa.array(numbers, pa.int64()))
    # In one chunk: Spark 4.3 drops every row that comes after an empty one.
    return own.session.createDataFrame(numbered.combine_chunks(), schema)  # type: ignore[no-any-return]


def distinct_rows(table: pa.Table, names: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the rows that differ in some columns: the number of each row, and the first row of each number.

    Where Spark finds values equal that differ here, such as 0.0 and -0.0, there are two numbers that it marks alike.
    """
    numbers = np.zeros(table.num_rows, np.int64)
    first = np.arange(min(1, table.num_rows))
    for name in names:
        column = table.column(name).combine_chunks()
        if pa.types.is_nested(column.type):
            return np.arange(table.num_rows), np.arange(table.num_rows)
        encoded = column.dictionary_encode(null_encoding="encode")
        codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        both = numbers * max(1, len(encoded.dictionary)) + codes
        _, first, numbers = np.unique(both, return_index=True, return_inverse=True)
    return numbers, first
