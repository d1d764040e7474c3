"""Sums that cannot overflow on the way: integers and decimals as lanes of 32-bit limbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.aggregate.lanes import Lane
from dovetail._core.columns.order_keys import decimal_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

LIMB = 32
MASK = np.int64(0xFFFF_FFFF)
_DIGITS_OF_SPARK = 38
_LIMBS_OF_SPARK = 4
_TOO_LARGE = 10**_DIGITS_OF_SPARK


def integer_lanes(values: NDArray[np.int64]) -> list[Lane]:
    """One lane if no sum of these values can overflow, else a low and a high one."""
    most = int(max(-int(values.min(initial=0)), int(values.max(initial=0))))
    if most * values.size < 1 << 63:
        return [Lane("sum", values)]
    return [Lane("sum", values & MASK), Lane("sum", values >> LIMB)]


def decimal_lanes(array: pa.Array) -> list[Lane]:
    """The limbs of unscaled values, the lowest first; the last one carries the sign."""
    words = decimal_words(array)
    limbs: list[NDArray[np.int64]] = []
    for number in range(words.shape[1]):
        word = words[:, number].view(np.int64)
        limbs += [word & MASK, (word >> LIMB) if number == words.shape[1] - 1 else (word >> LIMB) & MASK]
    return [Lane("sum", limb) for limb in limbs]


def integer_total(limbs: list[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Put limbs together; and where the total does not fit 64 bits."""
    if len(limbs) == 1:
        return limbs[0], np.zeros(limbs[0].size, np.bool_)
    high = limbs[1] + (limbs[0] >> LIMB)
    outside = (high >= 1 << 31) | (high < -(1 << 31))
    return (high << LIMB) | (limbs[0] & MASK), outside


def decimal_total(limbs: list[NDArray[np.int64]], scale: int) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Put limbs together as decimals of 38 digits; and where a total has more."""
    carry = np.zeros(limbs[0].size, np.int64)
    tidy = []
    for number in range(max(len(limbs), _LIMBS_OF_SPARK)):
        total = carry + limbs[number] if number < len(limbs) else carry
        tidy.append(total & MASK)
        carry = total >> LIMB
    sign = -(tidy[_LIMBS_OF_SPARK - 1] >> (LIMB - 1))
    beyond = carry != sign
    for limb in tidy[_LIMBS_OF_SPARK:]:
        beyond |= limb != sign & MASK
    words = np.empty((limbs[0].size, 2), np.int64)
    words[:, 0], words[:, 1] = tidy[0] | (tidy[1] << LIMB), tidy[2] | (tidy[3] << LIMB)
    kind = pa.decimal128(_DIGITS_OF_SPARK, scale)
    array = pa.Array.from_buffers(kind, limbs[0].size, [None, pa.py_buffer(words.tobytes())])
    return array, beyond | _has_more_digits(words)


def _has_more_digits(words: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where a number of two words, the least first, has more digits than Spark's decimals; no word is rounded."""
    low, high = words[:, 0].view(np.uint64), words[:, 1]
    above, below = divmod(_TOO_LARGE, 1 << 64), divmod(-_TOO_LARGE, 1 << 64)
    large: NDArray[np.bool_] = (high > above[0]) | ((high == above[0]) & (low >= np.uint64(above[1])))
    small: NDArray[np.bool_] = (high < below[0]) | ((high == below[0]) & (low <= np.uint64(below[1])))
    return large | small
