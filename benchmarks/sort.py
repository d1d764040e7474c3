"""Our sort of keys with their rows beside NumPy's sorts of the same keys: `python -m benchmarks.sort`.

NumPy's plain sort is told no rows and is the floor for whoever sorts by it; its index sort answers the same question
as ours.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table

from benchmarks.data import SEED, SPACING
from benchmarks.harness import CONSOLE
from dovetail._core.kernels.sort import sort_with_order

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SIZES = (256, 1_000, 4_000, 30_000, 100_000, 1_000_000, 10_000_000)
REPEAT = 7
WIDE = 1 << 62


def main() -> None:
    """Print milliseconds, best of some runs."""
    rng = np.random.default_rng(SEED)
    table = Table("keys", "rows", "ours, with rows", "np.sort", "np.argsort, stable")
    for name, high in (("close", 0), ("over all of int64", WIDE)):
        for rows in SIZES:
            keys = rng.integers(-high, high or rows * SPACING, rows)
            ways: tuple[Callable[[NDArray[np.int64]], object], ...] = (sort_with_order, np.sort, _argsort)
            table.add_row(name, f"{rows:,}", *(f"{_best(way, keys):.3f}" for way in ways))
    CONSOLE.print(table)


def _argsort(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.argsort(keys, kind="stable")


def _best(way: Callable[[NDArray[np.int64]], object], keys: NDArray[np.int64]) -> float:
    """Milliseconds; the first run, which may compile, does not count."""
    way(keys)
    times = []
    for _ in range(REPEAT):
        begun = time.perf_counter()
        way(keys)
        times.append(time.perf_counter() - begun)
    return min(times) * 1e3


if __name__ == "__main__":
    main()
