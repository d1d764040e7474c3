"""FTJ, FastThetaJoin: each side cut by its own values, oversized cells again, hopeless cell pairs skipped.

Meaning      p ranges of equal width a side, those above the average size cut again; a cell pair is performed if its
             members' own extremes allow one match.
Needs        both sides in order.
How          R > S: cell {3 4 5} meets {0 1 3} and {4 6}, for 5 > 4, and not {8 9 11 12}
Edges        empty cells are dropped; NaN and the infinities lie in the outermost cells. `cuts="quantile"` cuts each
             side at its quantiles instead.
State        about 2 p cells a side.
Worst case   rows of one side times rows of the other, where one cell holds nearly all rows of a skewed side.
Source       first document, section 2.3 and figure 2D; its cells and filter are Prefap's, algorithm 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail._core.placement.prefap import prefap

if TYPE_CHECKING:
    from dovetail._core.placement.cell_pairs import CellPairs
    from dovetail._core.placement.line import Line
    from dovetail._core.plan.knobs import Knobs


def fast_theta(low: Line, high: Line, knobs: Knobs, *, strict: bool) -> CellPairs:
    """Prefap without its two steps: neither prefilter nor amalgamated boundaries."""
    return prefap(low, high, knobs.without_prefap(), strict=strict)
