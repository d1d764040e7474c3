"""Which rows of a small side have a partner in a large one: a bit for each, 64 to a word, set by whoever sees one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from dovetail._core.condition.parse import quoted
from dovetail._hosts.spark.handed import created
from dovetail._hosts.spark.pairs import paired
from dovetail._hosts.spark.task import BITS_OF_WORD

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from dovetail._core.condition.values import Side
    from dovetail._core.plan.query import Query
    from dovetail._hosts.spark.frames import SparkFrame

BIT = "dovetail bit"
"""The column that numbers the rows of the small side that the condition can tell apart."""
OF_ROW = f"`{BIT}`"
"""The same, as SQL has it."""
PLACE_BITS = (BITS_OF_WORD - 1).bit_length()
"""So many bits of a bit's number are its place in a word, the others are the word's number."""
WORD, BITS = "`dovetail word`", "`dovetail bits`"
"""The number of a word and its bits, as SQL has them; no column of a caller is called that."""


class Bits(Protocol):
    """How the rows of a small side are numbered, and what their bits tell."""

    def told(self, *, seen: bool) -> DataFrame:
        """The small rows whose bit is set, or not set."""
        ...

    def paired(self) -> DataFrame:
        """What the result shows of the pairs, and of the unmatched large rows if the join keeps them."""
        ...


@dataclass(frozen=True)
class RowBits:
    """A bit for each of the small rows that the condition can tell apart; `first` are the first rows of each bit."""

    query: Query
    travels: Side
    small: SparkFrame
    large: SparkFrame
    table: pa.Table
    numbers: NDArray[np.int64]
    first: NDArray[np.int64]

    @classmethod
    def of(cls, query: Query, travels: Side, small: SparkFrame, large: SparkFrame, table: pa.Table) -> RowBits:
        """Number the rows."""
        return cls(query, travels, small, large, table, *distinct_rows(table, query.read_by_condition(small.name)))

    def told(self, *, seen: bool) -> DataFrame:
        """The small rows whose bit is set, or not set."""
        return beside_words(self._rows, self._seen()).filter(IS_SET if seen else f"NOT {IS_SET}")

    def paired(self) -> DataFrame:
        """The pairs, by a broadcast hash join."""
        return paired(self.query, self.travels, self._rows, self.small, self.large)

    @cached_property
    def _rows(self) -> DataFrame:
        """The rows that were brought, handed back to Spark."""
        return local_frame(self.small, self.table, self.numbers)

    def _seen(self) -> DataFrame:
        """The bits of the small rows that have a partner, 64 to a word."""
        read, all_apart = self.query.read_by_condition(self.small.name), self.first.size == self.table.num_rows
        apart = self._rows.select(*map(quoted, (*read, BIT))) if all_apart else self._apart(read)
        ours = self.large.frame.select(*map(quoted, self.query.read_by_condition(self.large.name)))
        broadcast = F.broadcast(apart.alias(self.small.name))
        return words(ours.alias(self.large.name).join(broadcast, F.expr(self.query.condition.sql)), OF_ROW)

    def _apart(self, read: list[str]) -> DataFrame:
        table = self.table.select(read).take(pa.array(self.first))
        return local_frame(self.small, table, np.arange(self.first.size))


def read_of(query: Query, own: SparkFrame) -> DataFrame:
    """The columns of an input that anything reads."""
    read = {*query.read_by_output(own.name), *query.read_by_condition(own.name)}
    return own.frame.select(*(quoted(name) for name in own.frame.columns if name in read))


def words(rows: DataFrame, bit: str, *by: str) -> DataFrame:
    """The bits that some rows have, 64 to a word; for each value of the columns `by`, if there are any."""
    word = rows.groupBy(*by, F.expr(f"{word_of(bit)} AS {WORD}"))
    return word.agg(F.expr(f"bit_or(shiftleft(1L, {place_of(bit)})) AS {BITS}"))


def word_of(bit: str) -> str:
    """The word in which a bit stands; shifted and masked, since Spark checks every division."""
    return f"shiftright({bit}, {PLACE_BITS})"


def place_of(bit: str) -> str:
    """Where a bit stands in its word."""
    return f"CAST({bit} & {BITS_OF_WORD - 1} AS INT)"


IS_SET = f"(coalesce(shiftright({BITS}, {place_of(OF_ROW)}) & 1, 0) = 1)"
"""Whether a row's bit is set in the word beside it, if there is one."""


def beside_words(rows: DataFrame, seen: DataFrame) -> DataFrame:
    """Numbered rows, each beside the word that has its bit, if there is one."""
    return rows.join(F.broadcast(seen), F.expr(f"{word_of(OF_ROW)} = {WORD}"), "left")


def local_frame(own: SparkFrame, table: pa.Table, numbers: NDArray[np.int64]) -> DataFrame:
    """Rows that were brought, handed back to Spark with their numbers."""
    fields = [own.frame.schema[name] for name in table.column_names]
    schema = StructType([*fields, StructField(BIT, LongType(), nullable=False)])
    numbered = table.append_column(BIT, pa.array(numbers, pa.int64()))
    return created(own.session, numbered, schema)


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
