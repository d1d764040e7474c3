"""Where each base row's window lies among the probe rows.

Meaning      {(b, p) : b.at - preceding <= p.at <= b.at + following}, within equal keys; ends open or closed.
Needs        nothing of the input's order; sorts the probe side by (key, time), and the base side to walk along it.
How          probe, sorted:  1  3  4  8  9          base 4, preceding 2: positions 1..2
             its window:        [---]               base 7, preceding 2: none, but the prevailing row is position 2
Edges        ends that leave the axis saturate; a window without ends, or reversed, is empty. The prevailing rows are
             those of the greatest time at or before the window's start.
State        the probe order and two positions per base row and window.
Worst case   O((n + m) log(n + m)) for any length of windows.
Source       the online interval join (fourth document, section II-C); its time-travel index finds bounds by position,
             as the sorted probe side does here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.columns.axis import LEAST, MOST, bound, comparable
from dovetail._core.sweep.timeline import Timeline, fitted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail._core.columns.axis import Bound, Steps
    from dovetail._core.sweep.asof_join import TimedSide

    Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Reach:
    """How far the windows of one kind reach: None without end.

    `prevailing` is the distance back to their start, for those that include what prevails there; rows in `reversed_`
    have a window that ends before it begins.
    """

    back: Steps | None
    forward: Steps | None
    prevailing: Steps | None = None
    reversed_: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Placed:
    """The probe rows in order; per kind of window, positions `[low, high)` for each of `rows`, the base in order."""

    line: Timeline
    rows: Positions
    slices: list[tuple[Positions, Positions]]


def window_slices(base: TimedSide, probe: TimedSide, reaches: Sequence[Reach], threads: int = 1) -> Placed:
    """Sort both sides once and find all windows."""
    assert base.ticks is not None
    assert probe.ticks is not None
    ends = [_ends(base, reach) for reach in reaches]
    given = [end for own in ends for end in own if end is not None]
    stored, at, *found = comparable(probe.ticks, base.ticks, *(end.ticks for end in given))
    found = [keys + end.inset for keys, end in zip(found, given, strict=True)]
    (stored, at, *found), (codes, probe_codes) = fitted(stored, [at, *found], (base.codes, probe.codes))
    line, _, rows = Timeline.of(stored, probe_codes, at, codes, threads)
    places = iter([line.places(codes, keys) for keys in found])
    slices = []
    for reach, own in zip(reaches, ends, strict=True):
        lower, upper, start = (None if end is None else next(places) for end in own)
        none = _none(own, reach)
        slices.append(_slices(line, rows, codes, (lower, upper, start), none))
    return Placed(line, rows, slices)


def _ends(base: TimedSide, reach: Reach) -> tuple[Bound | None, Bound | None, Bound | None]:
    """The lower end, the upper one, and the start up to which rows prevail."""
    assert base.ticks is not None
    return (
        None if reach.back is None else bound(base.ticks, reach.back, -1),
        None if reach.forward is None else bound(base.ticks, reach.forward, 1),
        None if reach.prevailing is None else bound(base.ticks, reach.prevailing, -1),
    )


def _none(ends: tuple[Bound | None, ...], reach: Reach) -> NDArray[np.bool_] | None:
    """The rows whose window is empty whatever the probe holds."""
    masks = [end.none for end in ends[:2] if end is not None and end.none is not None]
    masks += [] if reach.reversed_ is None else [reach.reversed_]
    return np.logical_or.reduce(masks) if masks else None


def _slices(
    line: Timeline,
    rows: Positions,
    codes: NDArray[np.int64] | None,
    ends: tuple[NDArray[np.int64] | None, ...],
    none: NDArray[np.bool_] | None,
) -> tuple[Positions, Positions]:
    """Positions of the windows of some base rows, best given in order."""
    everything = [line.places(codes, np.full(rows.size, end)) for end in (LEAST, MOST)]
    low = line.below(everything[0] if ends[0] is None else ends[0], rows)
    high = np.maximum(low, line.up_to(everything[1] if ends[1] is None else ends[1], rows))
    if ends[2] is not None:
        low, high = _with_prevailing(line, low, high, line.up_to(ends[2], rows), line.below(everything[0], rows))
    if none is not None:
        high = np.where(none[rows], low, high)
    return low, high


def _with_prevailing(
    line: Timeline, low: Positions, high: Positions, until: Positions, first: Positions
) -> tuple[Positions, Positions]:
    """Let windows begin with the rows that prevail at their start: the last ones before `until`, within the code."""
    some = np.flatnonzero(until > first)
    low, high = low.copy(), high.copy()
    high[some] = np.where(low[some] < high[some], high[some], until[some])
    low[some] = np.minimum(low[some], line.first_tied(until[some] - 1))
    return low, high
