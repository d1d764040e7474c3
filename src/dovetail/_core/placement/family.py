"""The partitioned theta-joins by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail._core.placement.cross_filter import cross_filter
from dovetail._core.placement.fast_theta import fast_theta
from dovetail._core.placement.one_bucket import one_bucket
from dovetail._core.placement.prefap import prefap
from dovetail._core.placement.range_based import range_based

if TYPE_CHECKING:
    from collections.abc import Callable

    from dovetail._core.placement.cell_pairs import CellPairs
    from dovetail._core.placement.line import Line
    from dovetail._core.plan.knobs import Knobs

_PLACEMENTS: dict[str, Callable[..., CellPairs]] = {
    "range-based": range_based,
    "one-bucket": one_bucket,
    "cross-filter": cross_filter,
    "fast-theta": fast_theta,
    "prefap": prefap,
}


def place(low: Line, high: Line, knobs: Knobs, *, strict: bool) -> CellPairs:
    """The cell pairs of one window, by the algorithm that was asked for; both sides have rows."""
    return _PLACEMENTS[knobs.algorithm](low, high, knobs, strict=strict)
