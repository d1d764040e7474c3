"""One cell of an as-of join, from evaluated columns to rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.columns.axis import check_distance, check_offset, steps, ticks
from dovetail._core.columns.order_keys import has_order, keys_with_nulls
from dovetail._core.condition.parse import told
from dovetail._core.plan.choose import COMPARE, Sample
from dovetail._core.sweep.asof_join import TimedSide, Where, asof_pairs
from dovetail._core.sweep.picked import PickedPairs
from dovetail._core.sweep.prepare import pick, prepare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail._core.columns.axis import Steps
    from dovetail._core.condition.values import Comparison, Op
    from dovetail._core.plan.timed import AsOf
    from dovetail._core.sweep.matches import SideKeys
    from dovetail._core.sweep.prepare import SideColumns
    from dovetail._core.sweep.residual import RowTest

    Compared = tuple[Comparison, NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class AsOfCell:
    """Both sides of a cell; the first value of either is its time, on one axis.

    `tolerance` holds the left rows' own tolerances, if they have any; `tie_break` the right columns that order ties.
    """

    asked: AsOf
    left: SideColumns
    right: SideColumns
    tolerance: pa.Array | None
    tie_break: Sequence[pa.Array]
    threads: int = 1

    def check(self) -> None:
        """Refuse an axis that lacks what the call asks of it."""
        kind, text = self.left.values[0].type, told(self.asked.query.condition.comparisons[0].left)
        if self.asked.measures:
            check_distance(kind, "nearest" if self.asked.direction == "nearest" else "tolerance", text)
        if self.asked.tolerance is not None:
            own = None if self.tolerance is None else self.tolerance.type
            check_offset("tolerance", self.asked.tolerance, kind, own)

    def pairs(self, test: RowTest | None) -> PickedPairs:
        """The pairs, as rows of both tables."""
        condition = self.asked.query.condition
        left, right = prepare(self.left, self.right, [key.null_safe for key in condition.keys])
        found = asof_pairs(
            self.asked,
            *self._timed(left, right),
            self._reach(left),
            lambda rows: self._tie_keys(right.rows[rows]),
            self._where(left, right, test),
            self.threads,
        )
        rows = left.at(found.left_rows), right.at(found.right_rows)
        return PickedPairs(*rows, self.left.rows, self.right.rows)

    def _timed(self, left: SideKeys, right: SideKeys) -> tuple[TimedSide, TimedSide]:
        """Both sides as the sweep sees them; ticks only where distances count."""
        if not self.asked.measures:
            return TimedSide(left.codes, left.values[0]), TimedSide(right.codes, right.values[0])
        ours, theirs = ticks(pick(self.left.values[0], left.rows), pick(self.right.values[0], right.rows))
        return TimedSide(left.codes, left.values[0], ours), TimedSide(right.codes, right.values[0], theirs)

    def _reach(self, left: SideKeys) -> Steps | None:
        if self.asked.tolerance is None:
            return None
        own = None if self.tolerance is None else pick(self.tolerance, left.rows)
        return steps(self.asked.tolerance, self.left.values[0].type, own)

    def _tie_keys(self, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """What orders tied rows; columns without an order take no part."""
        index = pa.array(rows)
        ordered = [column.take(index) for column in self.tie_break if has_order(column.type)]
        return [key for column in ordered for key in keys_with_nulls(column)] or [np.zeros(rows.size, np.int64)]

    def _where(self, left: SideKeys, right: SideKeys, test: RowTest | None) -> Where | None:
        """What a pair must pass beyond key and time: the other comparisons, then the residuals."""
        others = list(zip(self.asked.query.condition.comparisons, left.values, right.values, strict=True))[1:]
        if not others and test is None:
            return None

        def holds(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> NDArray[np.bool_]:
            found = np.ones(ours.size, np.bool_)
            for comparison, mine, yours in others:
                found &= COMPARE[comparison.op](mine[ours], yours[theirs])
            if test is not None:
                found[found] = test(left.rows[ours[found]], right.rows[theirs[found]])
            return found

        return Where(holds, _strictest(others))


def _strictest(others: Sequence[Compared]) -> tuple[NDArray[np.int64], Op, NDArray[np.int64]] | None:
    """The comparison that the fewest pairs of a sample pass: by it the most candidates are skipped."""
    if not others:
        return None
    comparisons, ours, theirs = zip(*others, strict=True)
    sample, ops = Sample(ours, theirs), tuple(comparison.op for comparison in comparisons)
    best = min(range(len(ops)), key=lambda i: sample.share(ops, [i])) if len(ops) > 1 else 0
    return ours[best], ops[best], theirs[best]
