"""Named columns of one or both inputs, over which expressions are evaluated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from dovetail._core.columns.evaluate import evaluate
from dovetail._core.columns.types import canonicalise
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from dovetail._core.condition.values import Expression


@dataclass(frozen=True)
class Columns:
    """Columns by (input, name), canonical when an expression asks for them."""

    raw: Mapping[tuple[str, str], pa.Array]
    rows: int
    _canonical: dict[tuple[str, str], pa.Array] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, table: pa.Table) -> Columns:
        """The columns of a table."""
        arrays = {(name, own): one_chunk(table.column(i)) for i, own in enumerate(table.column_names)}
        return cls(arrays, table.num_rows)

    def column(self, node: exp.Column) -> pa.Array:
        """A column as Spark sees it."""
        key = (node.table, node.name)
        if key not in self._canonical:
            self._canonical[key] = canonicalise(self.raw[key])
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
            raise UsageError.no_boolean(expression.sql)
        return values

    def take(self, rows: NDArray[np.int64], only: Sequence[tuple[str, str]]) -> Columns:
        """Some rows of some columns."""
        index = pa.array(rows)
        return Columns({key: pc.take(self.raw[key], index, boundscheck=False) for key in only}, rows.size)

    def beside(self, other: Columns) -> Columns:
        """The columns of both, row by row."""
        return Columns({**self.raw, **other.raw}, self.rows)

    def none(self) -> Columns:
        """The same columns without any row: enough to learn types."""
        return Columns({key: array.slice(0, 0) for key, array in self.raw.items()}, 0)


def one_chunk(column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    if column.num_chunks == 1:
        return column.chunk(0)
    combined = column.combine_chunks()
    return combined if isinstance(combined, pa.Array) else pa.concat_arrays(combined.chunks)
