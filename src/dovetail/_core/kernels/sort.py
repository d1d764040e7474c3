"""Sort int64 keys and tell where each came from.

A key and its row share one word: the key's leading bits above, the row below. Words are dealt into piles by some bits
of the key at a time, the lowest first, which keeps rows of one key in order (radix sort). Where the key does not fit
beside the row, its last bits are left out and neighbours put right afterwards, which on most data has nothing to do.

NumPy's sort of a million keys that lie close, without their rows, takes as long at best, and six times as long where
the processor is slow at the instructions that NumPy chooses; of keys over all of int64, 0.6 to three times as long
(benchmarks/sort.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail._core.kernels.compile import kernel
from dovetail._core.kernels.memory import empty, numbered
from dovetail._core.kernels.slices import taken

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORD_BITS = 64
SMALL = 4096
"""Below this many rows NumPy's own index sort beats the passes around a sort of words."""
DIGIT_BITS = 10
"""With more piles than this many bits tell apart, the places where they grow no longer stay in the cache."""


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
        out_words[i] = np.int64(lead << np.uint64(row_bits)) | i


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
        out_keys[i] = np.int64(np.uint64(word) >> np.uint64(row_bits)) + least
        out_order[i] = word & mask


@kernel
def count_digits(words: NDArray[np.int64], low: np.int64, width: np.int64, out_counts: NDArray[np.int64]) -> None:
    """Count, in a row for each digit of `width` bits from bit `low` up, how often the digit has each value."""
    mask = np.uint64((np.int64(1) << width) - 1)
    for i in range(words.size):
        rest = np.uint64(words[i]) >> np.uint64(low)
        for digit in range(out_counts.shape[0]):
            out_counts[digit, np.int64(rest & mask)] += 1
            rest >>= np.uint64(width)


@kernel
def deal_words(
    words: NDArray[np.int64], low: np.int64, places: NDArray[np.int64], out_words: NDArray[np.int64]
) -> None:
    """Write each word to the next place of its digit from bit `low` up; `places` holds the first, and is used up."""
    mask = np.uint64(places.size - 1)
    for i in range(words.size):
        word = words[i]
        digit = np.int64((np.uint64(word) >> np.uint64(low)) & mask)
        out_words[places[digit]] = word
        places[digit] += 1


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
        words, ordered = _sorted_words(keys, least, 0, bits), empty(keys.size, np.int64)
        unpack(words, np.int64(least), np.int64(WORD_BITS - room), ordered, words)
        return ordered, words
    order = _order(keys, least, bits - room, room)
    ordered = taken(keys, order)
    if not put_right(ordered, order):
        below = _order(keys, least, 0, room)
        order = taken(below, _order(taken(keys, below), least, room, bits - room))
        ordered = taken(keys, order)
    return ordered, order


def sort_words(words: NDArray[np.int64], low: int, bits: int) -> NDArray[np.int64]:
    """Sort words stably by `bits` bits from bit `low` up; the words given may be overwritten."""
    digits = max(1, -(-bits // DIGIT_BITS))
    width = -(-bits // digits)
    counts = np.zeros((digits, 1 << width), np.int64)
    count_digits(words, np.int64(low), np.int64(width), counts)
    spare: NDArray[np.int64] | None = None
    for digit, count in enumerate(counts):
        if count.max() == words.size:  # all have the same
            continue
        dealt = empty(words.size, np.int64) if spare is None else spare
        deal_words(words, np.int64(low + digit * width), np.cumsum(count) - count, dealt)
        words, spare = dealt, words
    return words


def _order(keys: NDArray[np.int64], least: int, drop: int, bits: int) -> NDArray[np.int64]:
    """The rows in the order of `bits` bits of `key - least`, above the last `drop`."""
    words = _sorted_words(keys, least, drop, bits)
    words &= (1 << (keys.size - 1).bit_length()) - 1
    return words


def _sorted_words(keys: NDArray[np.int64], least: int, drop: int, bits: int) -> NDArray[np.int64]:
    words, row_bits = empty(keys.size, np.int64), (keys.size - 1).bit_length()
    pack(keys, np.int64(least), np.int64(drop), np.int64(row_bits), words)
    return sort_words(words, row_bits, bits)
