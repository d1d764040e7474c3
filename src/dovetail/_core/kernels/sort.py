"""Sort int64 keys together with the positions they came from."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import kernel
from dovetail._core.kernels.threads import together

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pair = tuple[NDArray[np.int64], NDArray[np.int64]]

DIGIT_BITS = 11
BUCKETS = 1 << DIGIT_BITS
# Below this many rows NumPy's comparison sort beats the fixed cost of the histograms.
SMALL = 4096


@kernel
def ascends(keys: NDArray[np.int64]) -> bool:
    """Tell whether the keys already ascend."""
    for i in range(1, keys.size):  # noqa: SIM110 -- Numba compiles loops, not generators
        if keys[i - 1] > keys[i]:
            return False
    return True


@kernel
def count_digits(keys: NDArray[np.int64], least: np.int64, shift: np.int64, out_count: NDArray[np.int64]) -> None:
    """Count the keys of each digit, taken from `key - least` read as unsigned, so that the full int64 range sorts."""
    for i in range(keys.size):
        out_count[(np.uint64(keys[i] - least) >> np.uint64(shift)) & np.uint64(2047)] += 1


@kernel
def move_by_digit(
    keys: NDArray[np.int64],
    rows: NDArray[np.int64],
    least: np.int64,
    shift: np.int64,
    start: NDArray[np.int64],
    out_keys: NDArray[np.int64],
    out_rows: NDArray[np.int64],
) -> None:
    """Move keys and rows, stably, to where the keys of their digit begin; `start` is moved along."""
    for i in range(keys.size):
        digit = (np.uint64(keys[i] - least) >> np.uint64(shift)) & np.uint64(2047)
        target = start[digit]
        start[digit] = target + 1
        out_keys[target] = keys[i]
        out_rows[target] = rows[i]


def sort_with_rows(
    keys: NDArray[np.int64], rows: NDArray[np.int64], threads: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sort keys stably; return them with the rows that belong to them.

    A least-significant-digit radix sort over the bits that differ: n rows of a b-bit range cost ceil(b / 11) passes,
    each shared by the threads.
    """
    if keys.size <= 1 or ascends(keys):
        return keys, rows
    if keys.size <= SMALL:
        order = np.argsort(keys, kind="stable")
        return keys[order], rows[order]
    least, most = int(keys.min()), int(keys.max())
    source = (keys, rows)
    spare = [(np.empty_like(keys), np.empty_like(rows))]
    for shift in range(0, (most - least).bit_length(), DIGIT_BITS):
        target = spare.pop() if spare else (np.empty_like(keys), np.empty_like(rows))
        if _radix_pass(source, target, least, shift, threads):
            source, target = target, source
        if target[0] is not keys:
            spare.append(target)
    return source


def _radix_pass(source: Pair, target: Pair, least: int, shift: int, threads: int) -> bool:
    """Move keys and rows into the order of one digit; False if that digit is the same everywhere.

    Each thread moves a stretch of the keys; within a digit, earlier stretches come first.
    """
    edges = np.linspace(0, source[0].size, threads + 1).astype(np.int64)
    parts = [slice(int(a), int(b)) for a, b in pairwise(edges)]
    digit = np.int64(least), np.int64(shift)
    counts = np.zeros((threads, BUCKETS), np.int64)
    together(threads, [partial(count_digits, source[0][own], *digit, counts[i]) for i, own in enumerate(parts)])
    if counts.sum(axis=0).max() == source[0].size:
        return False
    starts = np.cumsum(counts.T).reshape(BUCKETS, threads).T - counts
    together(
        threads,
        [
            partial(move_by_digit, source[0][own], source[1][own], *digit, np.ascontiguousarray(starts[i]), *target)
            for i, own in enumerate(parts)
        ],
    )
    return True
