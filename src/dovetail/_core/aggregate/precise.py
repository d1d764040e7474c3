"""Arithmetic in twice the precision of a double: a number as the sum of two doubles, the second far smaller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]
    Pair = tuple[Doubles, Doubles]

_SPLIT = 134217729.0
"""2**27 + 1 cuts the 53 bits of a double in two halves."""


def rounded(number: Pair) -> Doubles:
    """The nearest double; infinities and NaN as they came out."""
    total = number[0] + number[1]
    finite = np.isfinite(total)
    return total if finite.all() else np.where(finite, total, number[0])


def square(values: Doubles) -> Pair:
    """The exact square of doubles."""
    return _times(values, values)


def add(one: Pair, other: Pair) -> Pair:
    """The sum of two numbers."""
    total = one[0] + other[0]
    part = total - one[0]
    lost = (one[0] - (total - part)) + (other[0] - part)
    return total, lost + one[1] + other[1]


def squared_over(number: Pair, divisor: Doubles) -> Pair:
    """The square of a number, divided by doubles that are whole and not zero."""
    whole, part = square(number[0])
    part = part + 2 * number[0] * number[1]
    quotient = whole / divisor
    product, error = _times(quotient, divisor)
    return quotient, (((whole - product) - error) + part) / divisor


def _times(one: Doubles, other: Doubles) -> Pair:
    product = one * other
    high, low = _halves(one)
    up, down = _halves(other)
    return product, ((high * up - product) + high * down + low * up) + low * down


def _halves(values: Doubles) -> Pair:
    shifted = _SPLIT * values
    high = shifted - (shifted - values)
    return high, values - high
