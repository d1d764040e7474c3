"""Prefap: prefilter, amalgamated boundaries, oversized cells again, hopeless cell pairs skipped.

Meaning      rows that the other side's extreme cannot match are dropped; the starts of p intervals of equal width a
             side, merged, cut both sides; a cell pair is performed if its members' own extremes allow one match.
Needs        both sides in order (the document needs none; ours are sorted for the kernel anyway).
How          R > S, p = 3: R 1..9 and S 0..8 are left, the merged starts are 0, 1, 2.67, 3.67, 5.33, 6.33
Edges        both extremes are those of the inputs as given; empty cells are dropped; NaN and the infinities lie in the
             outermost cells. `cuts="quantile"` merges the quantiles of both sides, whatever the skew.
State        about 4 p cells a side.
Worst case   rows of one side times rows of the other, by width, where one cell holds nearly all rows; by quantile,
             results + (rows of both sides)^2 / 8 p.
Source       first document, section 3, algorithms 1 to 3; `cuts="quantile"` is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.placement.cell_pairs import CellPairs
from dovetail._core.placement.cuts import at_keys, at_places, evened, oversized_again, quantile_starts, width_starts

if TYPE_CHECKING:
    from dovetail._core.placement.line import Line, Strip
    from dovetail._core.plan.knobs import Knobs

    Span = tuple[int, int]


def prefap(low: Line, high: Line, knobs: Knobs, *, strict: bool) -> CellPairs:
    """Steps 1 to 4 of the document; performing the pairs is the sweep's."""
    ours, theirs = _prefiltered(low, high, strict=strict) if knobs.prefilter else ((0, low.size), (0, high.size))
    cells = (_by_quantile if knobs.cuts == "quantile" else _by_width)(low, high, ours, theirs, knobs)
    return CellPairs.that_may_match(*cells, strict=strict)


def _prefiltered(low: Line, high: Line, *, strict: bool) -> tuple[Span, Span]:
    """The low rows below the greatest high value, and the high rows above the least low one."""
    last = np.searchsorted(low.keys, high.keys[-1], side="left" if strict else "right")
    first = np.searchsorted(high.keys, low.keys[0], side="right" if strict else "left")
    return (0, int(last)), (int(first), high.size)


def _by_width(low: Line, high: Line, ours: Span, theirs: Span, knobs: Knobs) -> tuple[Strip, Strip]:
    starts = [width_starts(line.part(*span).places, knobs.parts) for line, span in ((low, ours), (high, theirs))]
    if knobs.amalgamate:
        starts = [np.union1d(*starts)] * 2
    strips = at_places(low, starts[0], *ours), at_places(high, starts[1], *theirs)
    return oversized_again(strips[0], knobs.window or low.size), oversized_again(strips[1], knobs.window or high.size)


def _by_quantile(low: Line, high: Line, ours: Span, theirs: Span, knobs: Knobs) -> tuple[Strip, Strip]:
    starts = [quantile_starts(line.part(*span).keys, knobs.parts) for line, span in ((low, ours), (high, theirs))]
    if knobs.amalgamate:
        starts = [np.union1d(*starts)] * 2
    strips = at_keys(low, starts[0], *ours), at_keys(high, starts[1], *theirs)
    return evened(strips[0], knobs.parts), evened(strips[1], knobs.parts)
