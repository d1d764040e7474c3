"""Who does which share of the work."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Dealing = Literal["largest", "random"]


def deal(
    results: NDArray[np.int64], rows_in: NDArray[np.int64], workers: int, dealing: Dealing = "largest"
) -> NDArray[np.int64]:
    """Give every share an owner: the largest output first, always to the worker with the least so far; or by chance."""
    if dealing == "random":
        return np.random.default_rng(0).integers(0, workers, results.size)
    owner = np.zeros(results.size, np.int64)
    loads = [(0, 0, worker) for worker in range(workers)]
    for share in np.lexsort((-rows_in, -results)):
        out, taken, worker = loads[0]
        owner[share] = worker
        heapq.heapreplace(loads, (out + int(results[share]), taken + int(rows_in[share]), worker))
    return owner


def loads(
    results: NDArray[np.int64], rows_in: NDArray[np.int64], workers: int, dealing: Dealing
) -> tuple[float, float]:
    """The greatest load over the mean, 1.0 being perfect: rows in, results out."""
    owner = deal(results, rows_in, workers, dealing)
    return _balance(rows_in, owner, workers), _balance(results, owner, workers)


def _balance(sizes: NDArray[np.int64], owner: NDArray[np.int64], workers: int) -> float:
    held = np.bincount(owner, weights=sizes, minlength=workers)
    return float(held.max() / held.mean()) if held.any() else 1.0
