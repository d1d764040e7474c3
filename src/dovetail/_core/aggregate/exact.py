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
    for limb in limbs:
        total = limb + carry
        tidy.append(total & MASK)
        carry = total >> LIMB
    negative = carry < 0
    while len(tidy) < 4:  # noqa: PLR2004 -- 128 bits
        tidy.append(np.where(negative, MASK, 0))
    beyond = carry != np.where(tidy[3] >> 31, -1, 0) if len(limbs) == 4 else np.zeros(carry.size, np.bool_)  # noqa: PLR2004
    words = np.empty((limbs[0].size, 2), np.int64)
    words[:, 0], words[:, 1] = tidy[0] | (tidy[1] << LIMB), tidy[2] | (tidy[3] << LIMB)
    size = np.abs(words[:, 1].astype(np.float64)) * 2.0**64
    kind = pa.decimal128(_DIGITS_OF_SPARK, scale)
    array = pa.Array.from_buffers(kind, limbs[0].size, [None, pa.py_buffer(words.tobytes())])
    return array, beyond | (size >= 10.0**_DIGITS_OF_SPARK)
