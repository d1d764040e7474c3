"""DER: a small side whose rows are kept goes to every task, and bits tell which of its rows found a partner.

Meaning      pairs of the large side with the broadcast small one, and the small side's rows that are in no pair.
Needs        a small side that fits a broadcast; it is read once and given numbers, so that the same row has the same
             number wherever it is looked at. Where keys number themselves it is read twice or more often, and must give
             the same rows each time, as the large side must, which is read twice.
How          small rows 0..5, tasks see     task 1: {0, 2}        word 0 of task 1: 000101
                                            task 2: {2, 5}        word 0 of task 2: 100100
             bit_or                                               word 0:           100101   unmatched: 1, 3, 4
Edges        rows that agree in all columns that the condition reads share a bit; NULL keys match nothing.
State        the small side in every task; of each task, a bit for each distinct small row goes through the one shuffle.
Worst case   a second scan of the columns of the large side that the condition reads; Spark's broadcast hash joins.
             Where the only key is a whole number and the small side's lie close together, nothing is joined
             (`dense.py`).
Source       Xu and Kostamaa (2010), whose DER exchanges ids of unmatched rows; bits of those seen say the same in less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail._core.plan.outer import keeps
from dovetail._hosts.spark.pairs import padded, shown

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
        return shown(query, bits.told(seen=query.how == "semi").alias(small.name))
    if not keeps(query.how, travels):
        return bits.paired()
    return bits.paired().unionAll(padded(query, bits.told(seen=False), small, large))
