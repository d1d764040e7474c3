"""Hash keys of any width to one word, the same in every process, and tell whether the keys behind two words are equal.

A text is a stretch of bytes between two positions of one buffer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Odd constants with even bits all over, as multiplicative hashing wants them.
_STEP = np.uint64(0x9E37_79B9_7F4A_7C15)
_TURN = np.uint64(0xBF58_476D_1CE4_E5B9)
_LAST = np.uint64(0x94D0_49BB_1331_11EB)


@kernel
def hash_words(words: NDArray[np.int64], hashes: NDArray[np.uint64]) -> None:
    """Fold a word of every row into the row's hash."""
    for row in range(words.size):
        value = hashes[row] ^ (np.uint64(words[row]) + _STEP + (hashes[row] << np.uint64(6)))
        value = (value ^ (value >> np.uint64(30))) * _TURN
        value = (value ^ (value >> np.uint64(27))) * _LAST
        hashes[row] = value ^ (value >> np.uint64(31))


@kernel
def hash_texts(
    start: NDArray[np.int64], end: NDArray[np.int64], data: NDArray[np.uint8], hashes: NDArray[np.uint64]
) -> None:
    """Fold a text of every row, and its length, into the row's hash."""
    for row in range(start.size):
        value = hashes[row] ^ (np.uint64(end[row] - start[row]) * _STEP)
        for at in range(start[row], end[row]):
            value = (value ^ np.uint64(data[at])) * _TURN
            value ^= value >> np.uint64(29)
        value *= _LAST
        hashes[row] = value ^ (value >> np.uint64(31))


@kernel
def unequal_texts(
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    data: NDArray[np.uint8],
    other_start: NDArray[np.int64],
    other_end: NDArray[np.int64],
    other_data: NDArray[np.uint8],
    out_unequal: NDArray[np.bool_],
) -> None:
    """Note the rows whose texts differ; rows that are noted already stay so."""
    for row in range(start.size):
        size = end[row] - start[row]
        if out_unequal[row] or size != other_end[row] - other_start[row]:
            out_unequal[row] = True
            continue
        for at in range(size):
            if data[start[row] + at] != other_data[other_start[row] + at]:
                out_unequal[row] = True
                break
