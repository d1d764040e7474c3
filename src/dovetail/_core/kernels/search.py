"""Find where values fall in a sorted array, through a table of buckets instead of a full binary search.

The table maps the leading bits of a value to the first position that can hold it, so that a look-up in an evenly spread
array touches two cache lines where a binary search touches twenty. Skew only lengthens the search inside a bucket.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import kernel
from dovetail._core.kernels.memory import empty
from dovetail._core.kernels.merge import walk_below, walk_up_to

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

MAX_BUCKET_BITS = 18


@kernel
def fill_buckets(keys: NDArray[np.int64], least: np.int64, shift: np.int64, out_first: NDArray[np.int32]) -> None:
    """Write, per bucket, the position of the first key at or above its lower edge; `keys` ascend."""
    bucket = np.int64(0)
    for position in range(keys.size):
        own = np.int64(np.uint64(keys[position] - least) >> np.uint64(shift))
        while bucket <= own:
            out_first[bucket] = position
            bucket += 1
    while bucket < out_first.size:
        out_first[bucket] = keys.size
        bucket += 1


@kernel
def count_below(
    keys: NDArray[np.int64],
    first: NDArray[np.int32],
    shift: np.int64,
    values: NDArray[np.int64],
    out_count: NDArray[np.int64],
) -> None:
    """Write, per value, how many keys lie below it; `keys` ascend and are not empty."""
    least = keys[0]
    most = keys[keys.size - 1]
    for i in range(values.size):
        value = values[i]
        if value <= least:
            out_count[i] = 0
            continue
        if value > most:
            out_count[i] = keys.size
            continue
        bucket = np.int64(np.uint64(value - least) >> np.uint64(shift))
        low = np.int64(first[bucket])
        high = np.int64(first[bucket + 1])
        while low < high:
            middle = (low + high) >> 1
            if keys[middle] < value:
                low = middle + 1
            else:
                high = middle
        out_count[i] = low


@kernel
def count_up_to(
    keys: NDArray[np.int64],
    first: NDArray[np.int32],
    shift: np.int64,
    values: NDArray[np.int64],
    out_count: NDArray[np.int64],
) -> None:
    """Write, per value, how many keys lie below it or on it; `keys` ascend and are not empty."""
    least = keys[0]
    most = keys[keys.size - 1]
    for i in range(values.size):
        value = values[i]
        if value < least:
            out_count[i] = 0
            continue
        if value >= most:
            out_count[i] = keys.size
            continue
        bucket = np.int64(np.uint64(value - least) >> np.uint64(shift))
        low = np.int64(first[bucket])
        high = np.int64(first[bucket + 1])
        while low < high:
            middle = (low + high) >> 1
            if keys[middle] <= value:
                low = middle + 1
            else:
                high = middle
        out_count[i] = low


@kernel
def step(values: NDArray[np.int64], by: np.int64, end: np.int64, out: NDArray[np.int64]) -> bool:
    """Write each value moved by one; what stands at the end stays there, and the answer tells whether anything does."""
    stood = False
    for i in range(values.size):
        moves = values[i] != end
        out[i] = values[i] + by * np.int64(moves)
        stood |= not moves
    return stood


@dataclass(frozen=True, slots=True)
class SortedIndex:
    """A sorted array with its bucket table."""

    keys: NDArray[np.int64]
    first: NDArray[np.int32]
    shift: int

    @classmethod
    def build(cls, keys: NDArray[np.int64]) -> SortedIndex:
        """Index keys that already ascend."""
        if keys.size == 0:
            return cls(keys, np.zeros(2, np.int32), 0)
        spread = int(keys[-1]) - int(keys[0])
        bits = min(MAX_BUCKET_BITS, max(1, keys.size.bit_length()))
        shift = max(0, spread.bit_length() - bits)
        first = empty((spread >> shift) + 2, np.int32)
        fill_buckets(keys, keys[0], np.int64(shift), first)
        return cls(keys, first, shift)

    def below(self, values: NDArray[np.int64], out: NDArray[np.int64]) -> None:
        """Count, per value, the keys below it: the position of the first key at or above."""
        self._count(count_below, values, out)

    def up_to(self, values: NDArray[np.int64], out: NDArray[np.int64]) -> None:
        """Count, per value, the keys below it or on it: the position of the first key above."""
        self._count(count_up_to, values, out)

    def _count(self, count: Callable[..., None], values: NDArray[np.int64], out: NDArray[np.int64]) -> None:
        if self.keys.size:
            count(self.keys, self.first, np.int64(self.shift), values, out)
        else:
            out[:] = 0


@dataclass(frozen=True, slots=True)
class Walk:
    """A sorted array, for values that ascend, too: one walk over both finds them, and there is nothing to build."""

    keys: NDArray[np.int64]

    def below(self, values: NDArray[np.int64], out: NDArray[np.int64]) -> None:
        """Count, per value, the keys below it."""
        walk_below(self.keys, values, out)

    def up_to(self, values: NDArray[np.int64], out: NDArray[np.int64]) -> None:
        """Count, per value, the keys below it or on it."""
        walk_up_to(self.keys, values, out)
