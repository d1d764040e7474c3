"""Whole-number keys that lie close together: a key is the number of its own bit, and a place in arrays.

Meaning      which rows of a small side have a partner in a large one, and the pairs, without joining the large side.
Needs        one equality of two columns of whole numbers; keys of the small side that span no more than DENSE.
How          keys 2, 5 with names b, e                   own:    100100      names: . . b . . e
             a sample of the large side: keys 5, 5, 1    met:    100000
             key 5 of the large side: bit 5 of `own` is set, so there is a pair, named e.
             Marks are set for the bits of `own` that are not in `met`: once most of the keys that the large side has at
             all are known, a second pass over its keys finds next to nothing to fold.
Edges        NULL has no bit: it matches nothing.
State        in every task the bits and, by key, the columns that the result shows.
Worst case   keys that repeat, or columns too large to be sent along: Spark's broadcast hash join makes the pairs. A
             large side that is more than a scan is not sampled, as that would compute it once more: all is folded.
Source       our own; bits of keys for DER (Xu and Kostamaa, 2010), which exchanges ids of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql.types import IntegralType, LongType
from sqlglot import exp

from dovetail._core.columns.table import one_chunk
from dovetail._core.condition.parse import quoted
from dovetail._core.plan.outer import Kept
from dovetail._hosts.spark.arrays import array, in_one_row, select
from dovetail._hosts.spark.at_once import at_once
from dovetail._hosts.spark.bits import IS_SET, OF_ROW, PLACE_BITS, beside_words, place_of, read_of, word_of, words
from dovetail._hosts.spark.handed import collected
from dovetail._hosts.spark.pairs import paired
from dovetail._hosts.spark.rewrite import rewritten
from dovetail._hosts.spark.small import bounded
from dovetail._hosts.spark.types import arrow_type, row_width

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from dovetail._core.condition.values import Side
    from dovetail._core.plan.query import Query
    from dovetail._hosts.spark.arrays import Arrays
    from dovetail._hosts.spark.frames import SparkFrame

    Numbers = NDArray[np.int64]

DENSE = 1 << 22
"""Keys that span no more than this are numbers of bits themselves."""
SENT_BYTES = 16 << 20
"""Every task is sent the arrays anew."""
SAMPLED = 1 << 18
"""So many keys of the large side tell most of those that it has again and again."""
NONE = np.empty(0, np.int64)
KEY = "key"
MET = "`dovetail met`"
"""Whether the sample has met a key, as SQL has it; no column of a caller is called that."""


@dataclass(frozen=True)
class DenseKeys:
    """The only key of a condition, a column of whole numbers on either side."""

    query: Query
    travels: Side
    small: SparkFrame
    large: SparkFrame
    own: str
    other: str

    @classmethod
    def of(cls, query: Query, travels: Side, small: SparkFrame, large: SparkFrame) -> DenseKeys | None:
        """The key; None if there is more to compare, or no whole number."""
        key = query.condition.keys[0] if query.condition.keys else None
        if key is None or key.null_safe or len(query.condition.parts) > 2:  # noqa: PLR2004 -- both sides of it
            return None
        own, other = (key.left.node, key.right.node) if travels == "left" else (key.right.node, key.left.node)
        whole = _is_whole(own, small) and _is_whole(other, large)
        return cls(query, travels, small, large, own.name, other.name) if whole else None

    def bits(self, *, sent: bool, sampled: bool) -> DenseBits | None:
        """The bits of the keys that the small side has; None if it has none, they span too many, or it is too large.

        `sent` if its columns may be small enough to be sent along, `sampled` if some keys of the large side are to be
        read beforehand.
        """
        rows = read_of(self.query, self.small)
        known = all(arrow_type(field.dataType) not in (None, pa.null()) for field in rows.schema)
        brought = rows if sent and known else rows.select(quoted(self.own))
        bring = partial(bounded, brought, row_width(rows.schema))
        met, table = at_once(self.small.session, self._sample, bring) if sampled else (NONE, bring())
        span = None if table is None else Span.of(_numbers(table.column(self.own)))
        return None if table is None or span is None else DenseBits(self, rows, table, span, met)

    def _sample(self) -> Numbers:
        """Some of the large side's keys, by one task that reads no more than these."""
        keys = self.large.frame.selectExpr(f"{quoted(self.other)} AS {KEY}")
        return _numbers(collected(keys.coalesce(1).limit(SAMPLED)).column(KEY))


@dataclass(frozen=True)
class Span:
    """The words from that of the least key to that of the greatest, each with a place in an array of so many.

    The lower bits of a key are its place. They always are one: generated code may look a key up before it has found
    that the key is not within the span.
    """

    first: int
    last: int

    @classmethod
    def of(cls, keys: Numbers) -> Span | None:
        """None if there is no key, or they span too many."""
        if not keys.size or int(keys.max()) - int(keys.min()) > DENSE:
            return None
        return cls(int(keys.min()) >> PLACE_BITS, int(keys.max()) >> PLACE_BITS)

    @property
    def words(self) -> int:
        """How many words the array has: a power of two."""
        return 1 << (self.last - self.first).bit_length()

    @property
    def places(self) -> int:
        """How many keys have a place."""
        return self.words << PLACE_BITS

    def placed(self, keys: Numbers) -> Numbers:
        """The places of those keys that are within the span."""
        word = keys >> PLACE_BITS
        return keys[(word >= self.first) & (word <= self.last)] & (self.places - 1)

    def bits(self, keys: Numbers) -> Numbers:
        """The words in which the bits of those keys are set that are within the span."""
        flags = np.zeros(self.places, np.bool_)
        flags[self.placed(keys)] = True
        return np.packbits(flags, bitorder="little").view(np.int64)

    def place_of(self, key: str) -> str:
        """The place of a key that is within the span."""
        return f"{key} & {self.places - 1}"

    def has(self, bits: str, key: str) -> str:
        """Whether the bit of a key is set in an array of words."""
        word = word_of(key)
        there = f"{word} BETWEEN {self.first} AND {self.last}"
        return f"({there} AND shiftright({array(bits)}[{word} & {self.words - 1}], {place_of(key)}) & 1 = 1)"


@dataclass(frozen=True)
class DenseBits:
    """A bit for each key: of `table`, the rows that were brought, or their keys alone."""

    keys: DenseKeys
    rows: DataFrame
    table: pa.Table
    span: Span
    met: Numbers

    def told(self, *, seen: bool) -> DataFrame:
        """The small rows, read where they are, whose key is among those of the large side, or is not."""
        numbered = self.rows.selectExpr("*", f"CAST({quoted(self.keys.own)} AS BIGINT) AS {OF_ROW}")
        met = f"*, coalesce({self.span.has('met', OF_ROW)}, false) AS {MET}"
        found = f"({MET} OR {IS_SET})"
        return beside_words(self._over(numbered, met), self._seen()).filter(found if seen else f"NOT {found}")

    def paired(self) -> DataFrame:
        """The pairs: looked up by key or, where that cannot be, by a broadcast hash join."""
        keys = self.keys
        if self._by_key is None:
            return paired(keys.query, keys.travels, self.rows, keys.small, keys.large)
        read = dict.fromkeys([keys.other, *keys.query.read_by_output(keys.large.name)])
        theirs = {name: f"their{i}" for i, name in enumerate(read)}
        rows = keys.large.frame.selectExpr(*(f"{quoted(name)} AS {own}" for name, own in theirs.items()))
        ours, where = self._looked_up(theirs[keys.other])
        found = self._over(rows, ", ".join(["*", *(f"{value} AS {own}" for own, value in ours.items())]), where)
        places = {(keys.large.name, name): own for name, own in theirs.items()}
        places |= {(keys.small.name, name): own for name, own in {keys.own: KEY, **self._names}.items()}
        return found.selectExpr(
            *(f"{rewritten(own.shows.node, places)} AS {quoted(own.name)}" for own in keys.query.output)
        )

    def _looked_up(self, key: str) -> tuple[dict[str, str], str]:
        """What stands beside a key of the large side, and whether its row is shown at all."""
        kept = Kept.of(self.keys.query.how, self.keys.travels)
        number, kind = f"CAST({key} AS BIGINT)", self.keys.small.frame.schema[self.keys.own].dataType.simpleString()
        met = self.span.has("own", number)
        found = {KEY: f"try_cast({key} AS {kind})"}  # Spark computes constants before it tests them
        found |= {own: f"{array(own)}[{self.span.place_of(number)}]" for own in self._by_key or ()}
        if kept.stored != "unmatched":
            return found, met
        if not kept.pairs:
            return found, f"NOT coalesce({met}, false)"
        return {own: f"IF({met}, {value}, NULL)" for own, value in found.items()}, "true"

    def _seen(self) -> DataFrame:
        """The bits of the keys that the large side has beyond those that were met in the sample, 64 to a word.

        Words are compared, not keys: a reader of Parquet that is told of keys looks them up among all values of each
        group of rows first, which takes longer than to read them.
        """
        keys = self.keys.large.frame.selectExpr(f"CAST({quoted(self.keys.other)} AS BIGINT) AS {KEY}")
        return words(self._over(keys, KEY, self.span.has("wanted", KEY)), KEY)

    def _over(self, rows: DataFrame, columns: str, where: str = "true") -> DataFrame:
        """A query over some rows that looks things up in the arrays."""
        query = f"{select(columns, '{rows}')} WHERE {where}"
        found: DataFrame = rows.sparkSession.sql(query, rows=rows, arrays=self._arrays)
        return found

    @cached_property
    def _arrays(self) -> DataFrame:
        own, met = (self.span.bits(keys) for keys in (_numbers(self.table.column(self.keys.own)), self.met))
        bits = {"own": own, "met": own & met, "wanted": own & ~met}
        marks: Arrays = {name: (pa.array(words), LongType()) for name, words in bits.items()}
        return in_one_row(self.keys.small.session, marks | (self._by_key or {}))

    @cached_property
    def _names(self) -> dict[str, str]:
        """The columns of the small side that the result shows besides the key, and the arrays that hold them."""
        shown = self.keys.query.read_by_output(self.keys.small.name)
        return {name: f"our{i}" for i, name in enumerate(shown) if name != self.keys.own}

    @cached_property
    def _by_key(self) -> Arrays | None:
        """What the result shows of the small side, by key; None if keys repeat, or it is too much to be sent along."""
        if not set(self._names) <= set(self.table.column_names):
            return None
        keys = one_chunk(self.table.column(self.keys.own))
        rows = np.full(self.span.places, -1)
        numbers = _numbers(keys)
        rows[self.span.placed(numbers)] = np.flatnonzero(keys.is_valid().to_numpy(zero_copy_only=False))
        by_key = pa.array(rows, mask=rows < 0)
        if len(by_key) - by_key.null_count < numbers.size:
            return None
        schema = self.keys.small.frame.schema
        columns = {
            own: (one_chunk(self.table.column(name)).take(by_key), schema[name].dataType)
            for name, own in self._names.items()
        }
        return columns if sum(values.nbytes for values, _ in columns.values()) <= SENT_BYTES else None


def _is_whole(node: exp.Expr, own: SparkFrame) -> bool:
    """Whether a key is a column of whole numbers."""
    return isinstance(node, exp.Column) and isinstance(own.frame.schema[node.name].dataType, IntegralType)


def _numbers(keys: pa.ChunkedArray) -> Numbers:
    """The keys that are there."""
    numbers: Numbers = keys.drop_null().to_numpy().astype(np.int64)
    return numbers
