"""RBM, the range-based method: both sides cut by value at sampled ranks, every cell with every cell.

Meaning      p cells a side, from the value at rank k n / p to the next; all cell pairs are performed.
Needs        both sides in order.
How          p = 3, R = 0 1 2 3 4 5 6 7 9: cut below 3 and 6 into (-inf, 3) [3, 6) [6, inf)
Edges        equal values share a cell, so skew makes cells uneven, and fewer.
State        p cells a side.
Worst case   always: rows of one side times rows of the other.
Source       first document, section 2.1 and figure 2A.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail._core.placement.cell_pairs import CellPairs
from dovetail._core.placement.cuts import at_sampled_ranks

if TYPE_CHECKING:
    from dovetail._core.placement.line import Line
    from dovetail._core.plan.knobs import Knobs


def range_based(low: Line, high: Line, knobs: Knobs, *, strict: bool) -> CellPairs:
    """Cut both sides at sampled ranks and perform every pair of cells."""
    parts = knobs.parts
    return CellPairs.all_of(at_sampled_ranks(low, parts), at_sampled_ranks(high, parts), strict=strict)
