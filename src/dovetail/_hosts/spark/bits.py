"""Which rows of a small side have a partner in a large one: a bit for each, 64 to a word, set by whoever sees one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import IntegralType, LongType, StructField, StructType
from sqlglot import exp

from dovetail._core.plan.decide import BROADCAST_BYTES
from dovetail._hosts.spark.types import row_width

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
WORD, BITS = "`dovetail word`", "`dovetail bits`"
"""The number of a word and its bits, as SQL has them; no column of a caller is called that."""
DENSE = 1 << 22
"""Keys that span no more than this are numbers of bits themselves."""


class Bits(Protocol):
    """How the rows of a small side are numbered, and which numbers the large side has seen."""

    @property
    def rows(self) -> DataFrame:
        """The small rows, each with the number of its bit."""
        ...

    def seen(self) -> DataFrame:
        """The bits of the small rows that have a partner, 64 to a word."""
        ...


@dataclass(frozen=True)
class RowBits:
    """A bit for each of the small rows that the condition can tell apart; `first` are the first rows of each bit."""

    query: Query
    small: SparkFrame
    large: SparkFrame
    table: pa.Table
    numbers: NDArray[np.int64]
    first: NDArray[np.int64]

    @classmethod
    def of(cls, query: Query, small: SparkFrame, large: SparkFrame, table: pa.Table) -> RowBits:
        """Number the rows."""
        return cls(query, small, large, table, *distinct_rows(table, query.read_by_condition(small.name)))

    @cached_property
    def rows(self) -> DataFrame:
        """The rows that were brought, handed back to Spark."""
        return local_frame(self.small, self.table, self.numbers)

    def seen(self) -> DataFrame:
        """The bits of the small rows that have a partner, 64 to a word."""
        read, all_apart = self.query.read_by_condition(self.small.name), self.first.size == self.table.num_rows
        apart = self.rows.select(*(f"`{name}`" for name in (*read, BIT))) if all_apart else self._apart(read)
        ours = self.large.frame.select(*(f"`{name}`" for name in self.query.read_by_condition(self.large.name)))
        broadcast = F.broadcast(apart.alias(self.small.name))
        return words(ours.alias(self.large.name).join(broadcast, F.expr(self.query.condition.sql)), OF_ROW)

    def _apart(self, read: list[str]) -> DataFrame:
        table = self.table.select(read).take(pa.array(self.first))
        return local_frame(self.small, table, np.arange(self.first.size))


@dataclass(frozen=True)
class DenseBits:
    """A bit for each whole number in the words between the least and the greatest key of the small side; none for NULL.

    A key is its own number, so the rows need not be brought: Spark reads them where they are.
    """

    small: DataFrame
    key: str
    large: DataFrame
    other: str
    least: int
    greatest: int

    @classmethod
    def of(cls, query: Query, travels: Side, small: SparkFrame, large: SparkFrame) -> DenseBits | None:
        """The bits of the only key of a condition.

        None if there is more, it is no whole number, spans too many, or the small side is too large to travel.
        """
        key = query.condition.keys[0] if query.condition.keys else None
        if key is None or key.null_safe or len(query.condition.parts) > 2:  # noqa: PLR2004 -- both sides of it
            return None
        own, other = (key.left.node, key.right.node) if travels == "left" else (key.right.node, key.left.node)
        if not (_is_whole(own, small) and _is_whole(other, large)):
            return None
        rows, name = read_of(query, small), f"`{own.name}`"
        number, least, greatest = rows.selectExpr("count(1)", f"min({name})", f"max({name})").head() or (0, None, None)
        if (
            least is None
            or greatest is None
            or greatest - least > DENSE
            or number * row_width(rows.schema) > BROADCAST_BYTES
        ):
            return None
        return cls(rows, name, large.frame, f"`{other.name}`", least, greatest)

    @property
    def rows(self) -> DataFrame:
        """The small side as it is, with what its keys tell."""
        return self.small.selectExpr("*", f"CAST({self.key} AS BIGINT) AS {OF_ROW}")

    def seen(self) -> DataFrame:
        """The bits of the keys that the large side has, 64 to a word.

        Words are compared, not keys: a reader of Parquet that is told of keys looks them up among all values of each
        group of rows first, which takes longer than to read them.
        """
        bit, first, last = f"CAST({self.other} AS BIGINT)", self.least >> 6, self.greatest >> 6
        return words(self.large.where(f"{word_of(bit)} BETWEEN {first} AND {last}"), bit)


def read_of(query: Query, own: SparkFrame) -> DataFrame:
    """The columns of an input that anything reads."""
    read = {*query.read_by_output(own.name), *query.read_by_condition(own.name)}
    return own.frame.select(*(f"`{name}`" for name in own.frame.columns if name in read))


def _is_whole(node: exp.Expr, own: SparkFrame) -> bool:
    """Whether a key is a column of whole numbers."""
    return isinstance(node, exp.Column) and isinstance(own.frame.schema[node.name].dataType, IntegralType)


def words(rows: DataFrame, bit: str, *by: str) -> DataFrame:
    """The bits that some rows have, 64 to a word; for each value of the columns `by`, if there are any."""
    word = rows.groupBy(*by, F.expr(f"{word_of(bit)} AS {WORD}"))
    return word.agg(F.expr(f"bit_or(shiftleft(1L, {place_of(bit)})) AS {BITS}"))


def word_of(bit: str) -> str:
    """The word in which a bit stands; shifted and masked, since Spark checks every division."""
    return f"shiftright({bit}, 6)"


def place_of(bit: str) -> str:
    """Where a bit stands in its word."""
    return f"CAST({bit} & 63 AS INT)"


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
