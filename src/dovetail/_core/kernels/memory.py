"""Memory for results and scratch: a page fresh from the system costs more than writing to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)


def empty(size: int, dtype: type[T] | np.dtype[T]) -> NDArray[T]:
    """An array of unset values from Arrow's pool, which hands out again what was freed."""
    if size == 0:
        return np.empty(0, dtype)
    return np.frombuffer(pa.allocate_buffer(size * np.dtype(dtype).itemsize), dtype)


def zeros(size: int, dtype: type[T] | np.dtype[T]) -> NDArray[T]:
    """An array of zeros from the same pool."""
    out = empty(size, dtype)
    out[:] = np.zeros((), dtype)
    return out
