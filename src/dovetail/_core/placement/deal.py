"""Who does which share of the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Dealing = Literal["largest", "random"]


def deal(
    results: NDArray[np.int64], rows_in: NDArray[np.int64], workers: int, dealing: Dealing = "largest"
) -> NDArray[np.int64]:
    """Give every share an owner, or draw one at random.

    The shares with the most results come first; each goes to the worker whose greater load, of results or of rows, is
    then the least, so that neither piles up anywhere.
    """
    if dealing == "random":
        return np.random.default_rng(0).integers(0, workers, results.size)
    owner = np.zeros(results.size, np.int64)
    out, taken = np.zeros(workers), np.zeros(workers)
    parts = results / max(1, results.sum()), rows_in / max(1, rows_in.sum())
    for share in np.lexsort((-rows_in, -results)):
        worker = int(np.argmin(np.maximum(out + parts[0][share], taken + parts[1][share])))
        owner[share] = worker
        out[worker] += parts[0][share]
        taken[worker] += parts[1][share]
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
