"""Named columns of one or both inputs, over which expressions are evaluated."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from dovetail._core.columns.evaluate import evaluate
from dovetail._core.columns.types import canonicalise, in_microseconds, is_of_nanoseconds
from dovetail._core.condition.parse import told
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from dovetail._core.condition.values import Expression

    Key = tuple[str, str]


def never_coarse(_: Key) -> bool:
    """Of rows that come one after the other, nobody knows whether all nanoseconds will be whole microseconds."""
    return False


@dataclass(frozen=True)
class Columns:
    """Columns by (input, name), canonical when an expression asks for them.

    `coarse` tells of a column of nanoseconds that all of them are whole microseconds, and Spark's type can hold them.
    """

    raw: Mapping[Key, pa.Array]
    rows: int
    coarse: Callable[[Key], bool] = never_coarse
    _canonical: dict[Key, pa.Array] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, table: pa.Table) -> Columns:
        """The columns of some rows, by their types alone: further rows will have the same."""
        arrays = {(name, own): one_chunk(table.column(i)) for i, own in enumerate(table.column_names)}
        return cls(arrays, table.num_rows)

    @classmethod
    def whole(cls, name: str, table: pa.Table) -> Columns:
        """The columns of a whole table."""
        found = cls.of(name, table)
        return replace(found, coarse=cache(partial(_is_coarse, found.raw)))

    def column(self, node: exp.Column) -> pa.Array:
        """A column as Spark sees it."""
        key = (node.table, node.name)
        if key not in self._canonical:
            found = canonicalise(self.raw[key])
            if is_of_nanoseconds(found.type) and self.coarse(key):
                found = found.cast(pa.timestamp("us", found.type.tz))
            self._canonical[key] = found
        return self._canonical[key]

    def evaluate(self, expression: Expression) -> pa.Array:
        """An expression over all rows."""
        if isinstance(expression.node, exp.Column):
            return self.column(expression.node)
        return evaluate(expression.node, self.column, self.rows)

    def boolean(self, expression: Expression) -> pa.Array:
        """An expression that must be a boolean."""
        values = self.evaluate(expression)
        if pa.types.is_null(values.type):
            return values.cast(pa.bool_())
        if not pa.types.is_boolean(values.type):
            raise UsageError.no_boolean(told(expression))
        return values

    def take(self, rows: NDArray[np.int64], only: Sequence[tuple[str, str]]) -> Columns:
        """Some rows of some columns."""
        index = pa.array(rows)
        return Columns({key: pc.take(self.raw[key], index, boundscheck=False) for key in only}, rows.size, self.coarse)

    def beside(self, other: Columns) -> Columns:
        """The columns of both, row by row."""
        return Columns({**self.raw, **other.raw}, self.rows, lambda key: self.coarse(key) or other.coarse(key))

    def none(self) -> Columns:
        """The same columns without any row: enough to learn types."""
        return Columns({key: array.slice(0, 0) for key, array in self.raw.items()}, 0, self.coarse)


def _is_coarse(raw: Mapping[Key, pa.Array], key: Key) -> bool:
    return key in raw and in_microseconds(raw[key])


def settled_schema(table: pa.Table) -> pa.Schema:
    """The schema of a whole table; nanoseconds that are all whole microseconds are told as such."""
    coarse = [is_of_nanoseconds(column.type) and in_microseconds(one_chunk(column)) for column in table.columns]
    kinds = [pa.timestamp("us", own.type.tz) if so else own.type for own, so in zip(table.schema, coarse, strict=True)]
    return pa.schema(list(zip(table.column_names, kinds, strict=True)))


def one_chunk(column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    if column.num_chunks < 2:  # noqa: PLR2004 -- of some types, Arrow makes no empty array but by NULLs
        return column.chunk(0) if column.num_chunks else pa.nulls(0, column.type)
    combined = column.combine_chunks()
    return combined if isinstance(combined, pa.Array) else pa.concat_arrays(combined.chunks)
