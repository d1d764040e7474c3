"""The rows on which an expression is evaluated, and how results of parts of them come together again.

Branches are lazy, as in Spark: a branch sees only the rows that take it. `Scope.only` narrows the rows, `merged` puts
the parts back in place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from dovetail._core.columns.cast import cast
from dovetail._core.columns.lanes import present
from dovetail._core.columns.types import STRING, sql_name
from dovetail._core.condition.dialect import AsWritten
from dovetail._core.condition.parse import told
from dovetail.errors import UnsupportedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dovetail._core.columns.lanes import Flags, Values

    Handler = Callable[[exp.Expr, "Scope"], pa.Array]


@dataclass(frozen=True, slots=True)
class Scope:
    """Some rows of the input: where their columns come from, and who evaluates an expression on them."""

    source: Callable[[exp.Column], pa.Array]
    rows: int
    run: Handler
    picked: Values | None = None

    def value(self, node: exp.Expr) -> pa.Array:
        """Evaluate an expression on these rows."""
        return self.run(node, self)

    def column(self, node: exp.Column) -> pa.Array:
        """Return a column's values on these rows."""
        array = self.source(node)
        return array if self.picked is None else array.take(pa.array(self.picked))

    def only(self, mask: Flags) -> Scope:
        """Narrow to the rows where `mask` is true."""
        if mask.all():
            return self
        rows = np.flatnonzero(mask)
        return replace(self, rows=len(rows), picked=rows if self.picked is None else self.picked[rows])

    def none(self) -> Scope:
        """Narrow to no row: enough to learn types."""
        return replace(self, rows=0, picked=np.empty(0, np.int64))


def merged(parts: Sequence[tuple[Flags, pa.Array]], arrow_type: pa.DataType, rows: int) -> pa.Array:
    """Put the results of disjoint parts of the rows in place, as `arrow_type`; rows of no part are NULL."""
    if len(parts) == 1 and parts[0][0].all():
        return cast(parts[0][1], arrow_type)
    sources = [cast(array, arrow_type) for _, array in parts]
    positions = np.zeros(rows, dtype=np.int64)
    start = 0
    for mask, array in parts:
        positions[mask] = np.arange(start, start + len(array))
        start += len(array)
    taken = np.logical_or.reduce([mask for mask, _ in parts]) if parts else np.zeros(rows, dtype=np.bool_)
    if not sources:
        return pa.nulls(rows, arrow_type)
    return pa.concat_arrays(sources).take(pa.array(positions, mask=~taken))


def operands(node: exp.Expr, scope: Scope) -> tuple[pa.Array, pa.Array]:
    """Evaluate the left operand, and the right one where the left is not NULL: Spark looks no further there."""
    left = scope.value(node.this)
    return left, _where(left, node.expression, scope)


def operands_from_right(node: exp.Expr, scope: Scope) -> tuple[pa.Array, pa.Array]:
    """Evaluate the right operand first, as Spark does for divisions, and the left one where it is not NULL."""
    right = scope.value(node.expression)
    return _where(right, node.this, scope), right


def _where(known: pa.Array, node: exp.Expr, scope: Scope) -> pa.Array:
    if known.null_count == 0 or isinstance(node, exp.Literal):
        return scope.value(node)
    if isinstance(node, exp.Column):
        return _hidden(known, scope.value(node))
    there = present(known)
    part = scope.only(there).value(node)
    return merged([(there, part)], part.type, scope.rows)


def _hidden(known: pa.Array, array: pa.Array) -> pa.Array:
    """A column cannot fail, but a string in it may when it has to become what it meets."""
    if array.type != STRING or known.type == STRING:
        return array
    return pc.if_else(known.is_valid(), array, pa.scalar(None, STRING))


def text_of(node: exp.Expr) -> str:
    """Return the expression as Spark SQL, for messages."""
    return told(node.sql(dialect=AsWritten))


def refused(node: exp.Expr, *arrays: pa.Array) -> UsageError:
    """Say that Spark takes no operands of these types here."""
    return UsageError.operand_types(text_of(node), [sql_name(array.type) for array in arrays])


def overflown(node: exp.Expr, arrow_type: pa.DataType) -> UsageError:
    """Say that the value does not fit its type."""
    return UsageError.result_overflow(text_of(node), sql_name(arrow_type))


def unsupported(node: exp.Expr, what: str) -> UnsupportedError:
    """Say that Spark can do this and we cannot."""
    return UnsupportedError.expression(text_of(node), what)


def arguments(node: exp.Expr, names: Iterable[str]) -> list[exp.Expr]:
    """Return a call's arguments by the names that the parser gives them, absent ones left out, lists opened."""
    found: list[exp.Expr] = []
    for name in names:
        value = node.args.get(name)
        found.extend(value if isinstance(value, list) else [] if value is None else [value])
    return found
