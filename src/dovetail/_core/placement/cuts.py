"""Where to cut a line into cells: at ranks, at equal counts, at equal widths, at quantiles; and oversized cells again.

A cut is a position in the line, or a *start*: a value at which a left-closed cell begins.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.placement.line import Strip

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from dovetail._core.placement.line import Line

MOST_KEY = np.iinfo(np.int64).max


def ranks(size: int, parts: int) -> NDArray[np.int64]:
    """The positions that begin the second and every later one of `parts` equal counts."""
    return np.arange(1, parts, dtype=np.int64) * size // parts


def at_sampled_ranks(line: Line, parts: int) -> Strip:
    """Cells that begin at the values of sampled ranks; equal values stay together."""
    return Strip.cut(line, np.searchsorted(line.keys, line.keys[ranks(line.size, parts)], side="left"))


def at_equal_counts(line: Line, parts: int) -> Strip:
    """Cells of equal counts, whatever the values."""
    return Strip.cut(line, ranks(line.size, parts))


def width_starts(places: NDArray[np.float64], parts: int) -> NDArray[np.float64]:
    """The starts of `parts` intervals of equal width between the least and the greatest finite place."""
    finite = places[np.isfinite(places)]
    if finite.size == 0:
        return np.empty(0)
    least = float(finite[0])
    return np.asarray(least + np.arange(parts) * _width(least, float(finite[-1]), parts))


def _width(least: float, most: float, parts: int) -> float:
    """A part's width; of a range that no double holds, the difference of the ends' parts."""
    width = (most - least) / parts
    return width if np.isfinite(width) else most / parts - least / parts


def at_places(line: Line, starts: NDArray[np.float64], first: int = 0, last: int | None = None) -> Strip:
    """Left-closed cells from start to start, the last one open upward; empty ones are dropped."""
    return Strip.cut(line, np.searchsorted(line.places, np.sort(starts)[1:], side="left"), first, last)


def quantile_starts(keys: NDArray[np.int64], parts: int) -> NDArray[np.int64]:
    """The keys at `parts` equal ranks; a key that fills half a cell gets one to itself.

    Equal widths leave most rows of a skewed side in one cell; ranks do not.
    """
    if keys.size == 0:
        return keys
    starts = np.unique(keys[np.arange(parts) * keys.size // parts])
    often = np.searchsorted(keys, starts, side="right") - np.searchsorted(keys, starts, side="left")
    hot = starts[(often * 2 * parts >= keys.size) & (starts < MOST_KEY)]
    return np.union1d(starts, hot + 1)


def at_keys(line: Line, starts: NDArray[np.int64], first: int = 0, last: int | None = None) -> Strip:
    """Left-closed cells from key to key; empty ones are dropped."""
    return Strip.cut(line, np.searchsorted(line.keys, starts, side="left"), first, last)


def evened(strip: Strip, parts: int) -> Strip:
    """Cut every cell of more than its share of the rows into equal counts: equal values can be shared out, too."""
    share = max(1, strip.line.size // parts)
    again = [
        first + ranks(last - first, ceil((last - first) / share)) for first, last in pairwise(strip.edges.tolist())
    ]
    return Strip.cut(strip.line, _joined([strip.edges, *again]), *_ends(strip))


def oversized_again(strip: Strip, window: int) -> Strip:
    """Cut every cell above the average size into as many parts as it has averages, of equal whole width."""
    if strip.cells == 0:
        return strip
    average = window / strip.cells
    again = [_parts(strip.line, first, last, average) for first, last in pairwise(strip.edges.tolist())]
    return Strip.cut(strip.line, _joined(again), *_ends(strip))


def _ends(strip: Strip) -> tuple[int, int]:
    return int(strip.edges[0]), int(strip.edges[-1])


def _parts(line: Line, first: int, last: int, average: float) -> NDArray[np.int64]:
    """Where a cell begins, and where its parts begin if it is larger than the average."""
    begins = np.array([first])
    places = line.places[first:last]
    finite = places[np.isfinite(places)]
    if last - first <= average or finite.size == 0:
        return begins
    parts = ceil((last - first) / average)
    width = np.ceil(_width(float(finite[0]), float(finite[-1]), parts))
    starts = finite[0] + np.arange(1, parts) * width
    return np.concatenate([begins, first + np.searchsorted(places, starts, side="left")])


def _joined(parts: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([*parts, np.empty(0, np.int64)])
