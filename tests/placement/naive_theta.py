"""The document's algorithms in plain Python, as its pseudocode has them: slow, and plainly what it says."""

from __future__ import annotations

import operator
from math import ceil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Cells = list[list[Any]]

HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def products(algorithm: str, sign: str, left: list[Any], right: list[Any], p: int, w: int, **steps: bool) -> int:
    """The number of Cartesian products that an algorithm performs for `left <sign> right`."""
    if not left or not right:
        return 0
    return sum(len(one) * len(other) for one, other in _cell_pairs(algorithm, sign, left, right, p, w, **steps))


def _cell_pairs(
    algorithm: str, sign: str, left: list[Any], right: list[Any], p: int, w: int, **steps: bool
) -> list[tuple[list[Any], list[Any]]]:
    if algorithm == "one-bucket":
        return _all(_by_count(left, p), _by_count(right, p))
    if algorithm == "range-based":
        return _all(_by_rank(left, p), _by_rank(right, p))
    if algorithm == "cross-filter":
        ours = [cell for cell in _by_rank(left, p) if _any(sign, cell, right)]
        return _all(ours, [cell for cell in _by_rank(right, p) if _any(sign, left, cell)])
    full = algorithm == "prefap"
    return _prefap(sign, left, right, p, w, **{"prefilter": full, "amalgamate": full, **steps})


def _prefap(
    sign: str, left: list[Any], right: list[Any], p: int, w: int, *, prefilter: bool, amalgamate: bool
) -> list[tuple[list[Any], list[Any]]]:
    if prefilter:
        left, right = [a for a in left if _any(sign, [a], right)], [b for b in right if _any(sign, left, [b])]
    if not left or not right:
        return []
    starts = [[min(side) + k * ((max(side) - min(side)) / p) for k in range(p)] for side in (left, right)]
    if amalgamate:
        starts = [sorted({*starts[0], *starts[1]})] * 2
    ours, theirs = (_again(_by_start(side, own), w) for side, own in zip((left, right), starts, strict=True))
    return [(one, other) for one, other in _all(ours, theirs) if _any(sign, one, other)]


def _any(sign: str, left: list[Any], right: list[Any]) -> bool:
    return any(HOLDS[sign](a, b) for a in left for b in right)


def _all(left: Cells, right: Cells) -> list[tuple[list[Any], list[Any]]]:
    return [(one, other) for one in left for other in right]


def _by_count(values: list[Any], p: int) -> Cells:
    ordered, n = sorted(values), len(values)
    return [cell for k in range(p) if (cell := ordered[k * n // p : (k + 1) * n // p])]


def _by_rank(values: list[Any], p: int) -> Cells:
    ordered = sorted(values)
    return _by_start(values, [ordered[0], *(ordered[k * len(ordered) // p] for k in range(1, p))])


def _by_start(values: list[Any], starts: list[Any]) -> Cells:
    """Left-closed cells from start to start, the last one open upward."""
    ends = [*starts[1:], float("inf")]
    cells = [[v for v in values if a <= v < b] for a, b in zip(starts, ends, strict=True)]
    return [cell for cell in cells if cell]


def _again(cells: Cells, w: int) -> Cells:
    average = w / len(cells)
    found = []
    for cell in cells:
        parts = ceil(len(cell) / average) if len(cell) > average else 1
        width = ceil((max(cell) - min(cell)) / parts)
        found += _by_start(cell, [min(cell) + k * width for k in range(parts)]) if width else [cell]
    return found
