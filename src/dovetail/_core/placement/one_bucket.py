"""OBT, one-bucket theta: both sides cut into equal counts, every cell with every cell, dealt by chance.

Meaning      p cells of equal counts a side; all cell pairs are performed, each by a worker drawn at random.
Needs        both sides in order.
How          p = 3, nine rows: first to third, fourth to sixth, seventh to ninth
Edges        equal values may lie in different cells; with fewer rows than cells there are fewer cells.
State        p cells a side.
Worst case   always: rows of one side times rows of the other.
Source       first document, section 2.2 and figure 2B.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail._core.placement.cell_pairs import CellPairs
from dovetail._core.placement.cuts import at_equal_counts

if TYPE_CHECKING:
    from dovetail._core.placement.line import Line
    from dovetail._core.plan.knobs import Knobs


def one_bucket(low: Line, high: Line, knobs: Knobs, *, strict: bool) -> CellPairs:
    """Cut both sides into equal counts and perform every pair of cells, dealt at random."""
    cells = at_equal_counts(low, knobs.parts), at_equal_counts(high, knobs.parts)
    return CellPairs.all_of(*cells, strict=strict, dealing="random")
