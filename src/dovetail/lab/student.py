"""Student's t-test, one-sided and paired: how likely chance alone makes one series so much less than another."""

from __future__ import annotations

from math import exp, lgamma, log, log1p, sqrt
from statistics import mean, stdev
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

STEPS = 200
TINY = 1e-300
SIGNIFICANT = 0.05
"""Below this probability, chance is not believed."""


def less_by_chance(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The probability of differences as great as these if the two were alike; near 0: ours are really less.

    >>> round(less_by_chance([1, 2, 3, 4], [2, 4, 4, 6]), 4)
    0.0069
    """
    gaps = [b - a for a, b in zip(ours, theirs, strict=True)]
    spread = stdev(gaps)
    if spread == 0:
        return 0.0 if mean(gaps) > 0 else 1.0
    return _upper_tail(mean(gaps) / (spread / sqrt(len(gaps))), len(gaps) - 1)


def _upper_tail(t: float, freedom: int) -> float:
    """How much of Student's distribution lies above t."""
    half = 0.5 * _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))
    return half if t > 0 else 1 - half


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)) / a
    fraction, upper, lower = 1.0, 1.0, 0.0
    for step in range(STEPS):
        k = step // 2
        if step == 0:
            term = 1.0
        elif step % 2 == 0:
            term = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
        else:
            term = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
        lower = 1 / (1 + term * lower or TINY)
        upper = 1 + term / upper or TINY
        fraction *= upper * lower
    return front * (fraction - 1)
