"""Sort int64 keys and tell where each came from.

NumPy sorts plain words several keys at a time, but only words. So a key and its row share one: the key's leading bits
above, the row below. Where the key does not fit beside the row, its last bits are left out and neighbours put right
afterwards, which on most data has nothing to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail._core.kernels.compile import kernel
from dovetail._core.kernels.memory import empty, numbered
from dovetail._core.kernels.slices import taken

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORD_BITS = 63
"""Of a signed word that stays positive."""
# Below this many rows NumPy's own index sort beats the passes around a sort of words.
SMALL = 4096


@kernel
def ascends(keys: NDArray[np.int64]) -> bool:
    """Tell whether the keys already ascend."""
    for i in range(1, keys.size):  # noqa: SIM110 -- Numba compiles loops, not generators
        if keys[i - 1] > keys[i]:
            return False
    return True


@kernel
def extent(keys: NDArray[np.int64]) -> tuple[Any, Any]:
    """Return the least and the greatest of some keys; the greatest and the least of all numbers if there are none."""
    least = np.int64(0x7FFF_FFFF_FFFF_FFFF)
    greatest = -least - 1
    for i in range(keys.size):
        least = min(least, keys[i])
        greatest = max(greatest, keys[i])
    return least, greatest


@kernel
def pack(
    keys: NDArray[np.int64], least: np.int64, drop: np.int64, row_bits: np.int64, out_words: NDArray[np.int64]
) -> None:
    """Write `key - least`, without its last `drop` bits, above the row."""
    for i in range(keys.size):
        lead = np.uint64(keys[i] - least) >> np.uint64(drop)
        out_words[i] = np.int64((lead << np.uint64(row_bits)) & np.uint64(0x7FFF_FFFF_FFFF_FFFF)) | i


@kernel
def unpack(
    words: NDArray[np.int64],
    least: np.int64,
    row_bits: np.int64,
    out_keys: NDArray[np.int64],
    out_order: NDArray[np.int64],
) -> None:
    """Read whole keys and their rows; `out_order` may be `words`."""
    mask = (np.int64(1) << row_bits) - 1
    for i in range(words.size):
        word = words[i]
        out_keys[i] = (word >> row_bits) + least
        out_order[i] = word & mask


@kernel
def put_right(keys: NDArray[np.int64], order: NDArray[np.int64]) -> bool:
    """Sort what is nearly sorted by moving rows back, stably; False if that took more moves than there are rows."""
    moves = 0
    for i in range(1, keys.size):
        key, row, at = keys[i], order[i], i
        while at > 0 and keys[at - 1] > key:
            keys[at], order[at] = keys[at - 1], order[at - 1]
            at -= 1
        keys[at], order[at] = key, row
        moves += i - at
        if moves > keys.size:
            return False
    return True


def sort_with_order(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sort keys stably; return them with the position that each had."""
    if keys.size <= 1 or ascends(keys):
        return keys, numbered(keys.size)
    if keys.size <= SMALL:
        order = np.argsort(keys, kind="stable")
        return keys[order], order
    least = int(keys.min())
    bits = (int(keys.max()) - least).bit_length()
    room = WORD_BITS - (keys.size - 1).bit_length()
    if bits <= room:
        words, ordered = _sorted_words(keys, least, 0), empty(keys.size, np.int64)
        unpack(words, np.int64(least), np.int64(WORD_BITS - room), ordered, words)
        return ordered, words
    order = _order(keys, least, bits - room)
    ordered = taken(keys, order)
    if not put_right(ordered, order):
        below = _order(keys, least, 0)
        order = taken(below, _order(taken(keys, below), least, room))
        ordered = taken(keys, order)
    return ordered, order


def _order(keys: NDArray[np.int64], least: int, drop: int) -> NDArray[np.int64]:
    """The rows in the order of those bits of `key - least` above `drop` that fit a word."""
    words = _sorted_words(keys, least, drop)
    words &= (1 << (keys.size - 1).bit_length()) - 1
    return words


def _sorted_words(keys: NDArray[np.int64], least: int, drop: int) -> NDArray[np.int64]:
    words = empty(keys.size, np.int64)
    pack(keys, np.int64(least), np.int64(drop), np.int64((keys.size - 1).bit_length()), words)
    words.sort()
    return words
