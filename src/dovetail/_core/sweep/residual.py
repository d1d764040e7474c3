"""The part of a condition that is tested pair by pair, on the columns of both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from dovetail._core.columns.long_texts import rows_of_longest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from dovetail._core.columns.table import Columns
    from dovetail._core.condition.values import Expression

    RowTest = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]


def residual_test(residuals: Sequence[Expression], left: Columns, right: Columns) -> RowTest | None:
    """A test of pairs of table rows; None if there is nothing to test. Only columns that are read are taken."""
    if not residuals:
        return None
    read = {(column.table, column.name) for own in residuals for column in own.node.find_all(exp.Column)}
    ours, theirs = ([key for key in side.raw if key in read] for side in (left, right))

    room = rows_of_longest([*(left.raw[key] for key in ours), *(right.raw[key] for key in theirs)])

    def test(left_rows: NDArray[np.int64], right_rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        if left_rows.size <= room:
            return passed(left_rows, right_rows)
        stretches = [slice(start, start + room) for start in range(0, left_rows.size, room)]
        return np.concatenate([passed(left_rows[own], right_rows[own]) for own in stretches])

    def passed(left_rows: NDArray[np.int64], right_rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        pairs = left.take(left_rows, ours).beside(right.take(right_rows, theirs))
        holds = _holds(pairs, residuals[0])
        for residual in residuals[1:]:
            holds &= _holds(pairs, residual)
        return holds

    return test


def _holds(pairs: Columns, residual: Expression) -> NDArray[np.bool_]:
    """Where a residual is true; NULL is not."""
    values = pairs.boolean(residual).fill_null(False)  # noqa: FBT003 -- Arrow's own parameter
    return values.to_numpy(zero_copy_only=False).copy()  # type: ignore[no-any-return]
