"""Sort int64 keys together with the positions they came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIGIT_BITS = 11
BUCKETS = 1 << DIGIT_BITS
# Below this many rows NumPy's comparison sort beats the fixed cost of the histograms.
SMALL = 4096


@kernel
def ascends(keys: NDArray[np.int64]) -> bool:
    """Tell whether the keys already ascend."""
    for i in range(1, keys.size):
        if keys[i - 1] > keys[i]:
            return False
    return True


@kernel
def radix_pass(
    keys: NDArray[np.int64],
    rows: NDArray[np.int64],
    least: np.int64,
    shift: np.int64,
    out_keys: NDArray[np.int64],
    out_rows: NDArray[np.int64],
) -> bool:
    """Move keys and rows, stably, into the order of one digit; False if that digit is the same everywhere.

    The digit is taken from `key - least`, read as unsigned, so that the full int64 range sorts.
    """
    starts = np.zeros(2048, np.int64)
    for i in range(keys.size):
        starts[(np.uint64(keys[i] - least) >> np.uint64(shift)) & np.uint64(2047)] += 1
    if starts[(np.uint64(keys[0] - least) >> np.uint64(shift)) & np.uint64(2047)] == keys.size:
        return False
    total = 0
    for digit in range(2048):
        count = starts[digit]
        starts[digit] = total
        total += count
    for i in range(keys.size):
        digit = (np.uint64(keys[i] - least) >> np.uint64(shift)) & np.uint64(2047)
        target = starts[digit]
        starts[digit] = target + 1
        out_keys[target] = keys[i]
        out_rows[target] = rows[i]
    return True


def sort_with_rows(keys: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sort keys stably; return them with the rows that belong to them.

    A least-significant-digit radix sort over the bits that differ: n rows of a b-bit range cost ceil(b / 11) passes.
    """
    if keys.size < 2 or ascends(keys):
        return keys, rows
    if keys.size <= SMALL:
        order = np.argsort(keys, kind="stable")
        return keys[order], rows[order]
    least, most = int(keys.min()), int(keys.max())
    source = (keys, rows)
    target = (np.empty_like(keys), np.empty_like(rows))
    spare = None
    for shift in range(0, (most - least).bit_length(), DIGIT_BITS):
        if radix_pass(*source, np.int64(least), np.int64(shift), *target):
            if spare is None:
                spare = (np.empty_like(keys), np.empty_like(rows))
            source, target = target, (spare if source[0] is keys else source)
    return source
