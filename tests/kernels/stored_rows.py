"""Rows of a few keys in a time-travel index, more or less out of order, and windows over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.blocks import Rows
from dovetail._core.kernels.pages import MAX, SUM
from dovetail._core.kernels.seeking import Asked
from dovetail._core.sweep.time_travel import Area

if TYPE_CHECKING:
    from numpy.typing import NDArray

KINDS = [SUM, MAX]
EVERY, EVEN, ODD = slice(None), slice(0, None, 2), slice(1, None, 2)


def some_rows(size: int, disorder: int, keys: int = 2) -> Rows:
    dice = np.random.default_rng(size + disorder)
    at = np.arange(size) // 2 + dice.integers(0, disorder + 1, size)
    words = np.stack([dice.integers(0, 9, size), dice.integers(-99, 99, size)])
    return Rows(dice.integers(0, keys, size), at, words, dice.random((1, size)))


def area_of(rows: Rows, part: slice = EVERY, **options: bool) -> Area:
    area = Area(KINDS, 1, **options)
    area.admit(2)
    area.insert(rows, np.arange(*part.indices(rows.at.size)))
    return area


def some_windows() -> Asked:
    upper = np.arange(0, 1200, 37)
    lower = upper - np.where(upper % 2, 500, 20)
    codes = np.arange(upper.size) % 3  # key 2 has no rows
    return Asked(codes, lower, upper, np.lexsort((lower, codes)))


def inside(rows: Rows, asked: Asked, i: int) -> NDArray[np.bool_]:
    ours: NDArray[np.bool_] = (rows.codes == asked.codes[i]) & (rows.at >= asked.lower[i]) & (rows.at <= asked.upper[i])
    return ours
