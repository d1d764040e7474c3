"""CFS, the cross filter strategy: cut as range-based, without the cells that the whole other side cannot match.

Meaning      the cells of both sides that could match some value of the other side; all pairs of these are performed.
Needs        both sides in order.
How          R > S, greatest R 9: the S cell [9, 12] is dropped; the R cell [0, 2] stays, for 1 > 0
Edges        a cell with one row that can match is kept whole.
State        p cells a side.
Worst case   rows of one side times rows of the other, where every cell can match something.
Source       first document, section 2.3 and figure 2C.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.placement.cell_pairs import CellPairs
from dovetail._core.placement.cuts import at_sampled_ranks

if TYPE_CHECKING:
    from dovetail._core.placement.line import Line
    from dovetail._core.plan.knobs import Knobs


def cross_filter(low: Line, high: Line, knobs: Knobs, *, strict: bool) -> CellPairs:
    """Drop the cells that no value of the other side can match; perform every pair of the rest."""
    ours, theirs = at_sampled_ranks(low, knobs.parts), at_sampled_ranks(high, knobs.parts)
    alive = int(np.searchsorted(ours.least, high.keys[-1], side="left" if strict else "right"))
    dead = int(np.searchsorted(theirs.most, low.keys[0], side="right" if strict else "left"))
    return CellPairs.all_of(ours.keep(0, alive), theirs.keep(dead, theirs.cells), strict=strict)
