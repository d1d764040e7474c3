"""Sums that cannot overflow on the way: integers and decimals as lanes of 32-bit limbs, huge doubles scaled down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.aggregate.lanes import Lane
from dovetail._core.aggregate.precise import add, rounded
from dovetail._core.columns.order_keys import decimal_words
from dovetail._core.columns.types import MAX_PRECISION
from dovetail._core.kernels.adding import reaches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dovetail._core.aggregate.precise import Pair

LIMB = 32
MASK = np.int64(0xFFFF_FFFF)
_LIMBS_OF_SPARK = 4
_TOO_LARGE = 10**MAX_PRECISION
_HUGE = 2.0**900
"""So many doubles below this one as there can be rows do not overflow, nor do all doubles times the scale."""
_SCALE = 2.0**-100


def integer_lanes(values: NDArray[np.int64], *, alike: bool = False) -> list[Lane]:
    """One lane if no sum of these values can overflow, else a low and a high one; `alike`: these in any case."""
    most = int(max(-int(values.min(initial=0)), int(values.max(initial=0))))
    if most * values.size < 1 << 63 and not alike:
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


def double_lanes(values: NDArray[np.float64], *, alike: bool = False) -> list[Lane]:
    """One lane if no sum of these values can overflow, else the huge ones scaled down in a lane of their own.

    `alike` asks for two lanes in any case.
    """
    if not alike and not reaches(values, _HUGE):
        return [Lane("total", values)]
    sizes = np.abs(values)
    huge = sizes >= _HUGE
    if not alike and not np.isfinite(sizes[huge]).any():
        return [Lane("total", values)]
    return [Lane("total", np.where(huge, 0.0, values)), Lane("total", np.where(huge, values * _SCALE, 0.0))]


def integer_total(limbs: list[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Put limbs together; and where the total does not fit 64 bits."""
    if len(limbs) == 1:
        return limbs[0], np.zeros(limbs[0].size, np.bool_)
    high = limbs[1] + (limbs[0] >> LIMB)
    outside = (high >= 1 << 31) | (high < -(1 << 31))
    return (high << LIMB) | (limbs[0] & MASK), outside


def double_total(parts: list[Pair]) -> NDArray[np.float64]:
    """Put the sums of lanes together, the huge ones scaled up again: only what is too large in the end overflows."""
    if len(parts) == 1:
        return rounded(parts[0])
    (rest, rest_lost), huge = parts
    with np.errstate(over="ignore", invalid="ignore"):
        both = rounded(add(huge, (rest * _SCALE, rest_lost * _SCALE))) / _SCALE
    return np.where((huge[0] == 0) & (huge[1] == 0), rounded(parts[0]), both)


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
    kind = pa.decimal128(MAX_PRECISION, scale)
    array = pa.Array.from_buffers(kind, limbs[0].size, [None, pa.py_buffer(words.tobytes())])
    return array, beyond | _has_more_digits(words)


def _has_more_digits(words: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where a number of two words, the least first, has more digits than Spark's decimals; no word is rounded."""
    low, high = words[:, 0].view(np.uint64), words[:, 1]
    above, below = divmod(_TOO_LARGE, 1 << 64), divmod(-_TOO_LARGE, 1 << 64)
    large: NDArray[np.bool_] = (high > above[0]) | ((high == above[0]) & (low >= np.uint64(above[1])))
    small: NDArray[np.bool_] = (high < below[0]) | ((high == below[0]) & (low <= np.uint64(below[1])))
    return large | small
