"""What each table brings to the condition: its keys, values and filters, evaluated."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from dovetail._core.columns.axis import axis_type
from dovetail._core.columns.cast import cast
from dovetail._core.columns.coerce import comparison_type
from dovetail._core.columns.order_keys import has_order
from dovetail._core.columns.types import sql_name
from dovetail._core.condition.parse import told
from dovetail._core.sweep.prepare import SideColumns
from dovetail.errors import UnsupportedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dovetail._core.columns.table import Columns
    from dovetail._core.condition.values import Comparison, Condition, Equality, Expression


def side_columns(condition: Condition, left: Columns, right: Columns) -> tuple[SideColumns, SideColumns]:
    """Evaluate what each side brings to the condition, in the types in which the sides are compared."""
    fits = all_hold(condition.left_filters, left), all_hold(condition.right_filters, right)
    keys = [_both(part, left, right, fits) for part in condition.keys]
    values = [_both(part, left, right, fits) for part in condition.comparisons]
    return (
        SideColumns(left.rows, fits[0], tuple(a for a, _ in keys), tuple(a for a, _ in values)),
        SideColumns(right.rows, fits[1], tuple(b for _, b in keys), tuple(b for _, b in values)),
    )


def timed_columns(condition: Condition, left: Columns, right: Columns) -> tuple[SideColumns, SideColumns]:
    """As `side_columns`, with the first comparison on the axis of a join by time."""
    axis = condition.comparisons[0]
    fits = all_hold(condition.left_filters, left), all_hold(condition.right_filters, right)
    ours, theirs = where_fits(axis.left, left, fits[0]), where_fits(axis.right, right, fits[1])
    kind = axis_type(ours.type, theirs.type, told(axis))
    rest = side_columns(replace(condition, comparisons=condition.comparisons[1:]), left, right)
    return (
        replace(rest[0], values=(cast(ours, kind), *rest[0].values)),
        replace(rest[1], values=(cast(theirs, kind), *rest[1].values)),
    )


def all_hold(filters: Sequence[Expression], columns: Columns) -> pa.Array | None:
    """Whether all filters hold; None without any."""
    held: pa.Array | None = None
    for own in filters:
        values = columns.boolean(own)
        held = values if held is None else pc.and_kleene(held, values)
    return None if held is None else pc.fill_null(held, False)


def _both(
    part: Equality | Comparison, left: Columns, right: Columns, fits: tuple[pa.Array | None, pa.Array | None]
) -> tuple[pa.Array, pa.Array]:
    """Both operands in their common type; rows that fail their side's filters are not even evaluated."""
    ours, theirs = where_fits(part.left, left, fits[0]), where_fits(part.right, right, fits[1])
    common = comparison_type(ours.type, theirs.type)
    if common is None:
        raise UsageError.cannot_compare(told(part), sql_name(ours.type), sql_name(theirs.type))
    if not has_order(common):
        raise UnsupportedError.expression(told(part), f"a comparison of {sql_name(common)}")
    return cast(ours, common), cast(theirs, common)


def where_fits(expression: Expression, columns: Columns, fits: pa.Array | None) -> pa.Array:
    """Evaluate where a mask holds; NULL elsewhere."""
    if fits is None:
        return columns.evaluate(expression)
    mask = fits.to_numpy(zero_copy_only=False)
    read = {column.name for column in expression.node.find_all(exp.Column)}
    needed = [key for key in columns.raw if key[1] in read]
    values = columns.take(np.flatnonzero(mask), needed).evaluate(expression)
    return values.take(pa.array(np.cumsum(mask) - 1, mask=~mask))
