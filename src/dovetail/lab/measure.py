"""One algorithm on one workload, executed as the document describes it: performed cell pairs are compared in full."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.columns.number_line import places
from dovetail._core.columns.order_keys import order_keys
from dovetail._core.condition.values import Op
from dovetail._core.placement.deal import loads
from dovetail._core.placement.family import place
from dovetail._core.placement.line import Line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail._core.placement.cell_pairs import CellPairs
    from dovetail._core.plan.knobs import Knobs
    from dovetail.lab.workloads import Values

WORKERS = 4
"""The document's machine has four processors."""
TRIES = 3
"""The quickest of so many runs is told."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The document's four metrics, and the number of results."""

    products: int
    results: int
    milliseconds: float
    load_in: float
    load_out: float


def measure(streams: Sequence[Values], signs: Sequence[str], knobs: Knobs, workers: int = WORKERS) -> Measured:
    """Join the streams one after the other, window by window of the first stream's size.

    `signs` stand between the streams, as in R < S <= T. From the second join on, the left side is the result so far,
    cut into windows of that size, each of which meets all of the next stream.
    """
    elapsed, parts = min((_run(streams, signs, knobs) for _ in range(TRIES)), key=lambda run: run[0])
    found = [own.pairs for own in parts]
    rows_in, out = (np.concatenate([getattr(own, name) for own in found]) for name in ("rows_in", "results"))
    balance = loads(out, rows_in, workers, parts[0].dealing)
    return Measured(sum(own.products for own in parts), sum(own.results for own in parts), elapsed, *balance)


def _run(streams: Sequence[Values], signs: Sequence[str], knobs: Knobs) -> tuple[float, list[CellPairs]]:
    """How many milliseconds it took, and the cells of every window of every join."""
    begun = time.perf_counter()
    size, left = streams[0].size, streams[0]
    parts: list[CellPairs] = []
    for right, sign, more in zip(streams[1:], signs, range(len(signs) - 1, -1, -1), strict=True):
        theirs = line(right)
        windows = [left[start : start + size] for start in range(0, left.size, size)]
        step = [_placed(line(window), theirs, Op(sign), knobs) for window in windows]
        assert sum(map(_compared, step)) == sum(own.results for own in step)
        parts += step
        left = _joined(left, right, Op(sign)) if more else left
    return (time.perf_counter() - begun) * 1000, parts


def line(values: Values) -> Line:
    """Values in ascending order, with their keys."""
    array = pa.array(np.sort(values))
    keys = order_keys([array])[0]
    return Line(keys, places(keys, array.type))


def _placed(left: Line, right: Line, op: Op, knobs: Knobs) -> CellPairs:
    return place(*((left, right) if op.rises else (right, left)), knobs, strict=op.strict)


def _compared(cells: CellPairs) -> int:
    """Compare every pair of rows in every performed cell pair; count the matches."""
    matches = 0
    compare = np.less if cells.strict else np.less_equal
    for (first, last), begin in zip(pairwise(cells.low.edges), cells.first, strict=True):
        high = cells.high.line.places[cells.high.edges[begin] : cells.high.edges[-1]]
        matches += int(np.count_nonzero(compare(cells.low.line.places[first:last, None], high[None, :])))
    return matches


def _joined(left: Values, right: Values, op: Op) -> NDArray[np.float64]:
    """The right value of every result, in the order in which a loop over left rows, then right ones, finds them."""
    compare = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}[op.value]
    return right[np.nonzero(compare(left[:, None], right[None, :]))[1]]
