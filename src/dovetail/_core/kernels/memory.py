"""Memory for results and scratch: a page fresh from the system costs more than writing to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def ones(size: int) -> NDArray[np.int64]:
    """An array of whole ones from the same pool."""
    out = empty(size, np.int64)
    out[:] = 1
    return out


def joined(arrays: Sequence[NDArray[T]]) -> NDArray[T]:
    """Several arrays as one; a single one as it is."""
    if len(arrays) == 1:
        return arrays[0]
    out = empty(sum(own.size for own in arrays), arrays[0].dtype)
    return np.concatenate(arrays, out=out) if out.size else out


def numbered(size: int) -> NDArray[np.int64]:
    """The numbers from 0 up to a size, in the pool's memory."""
    out = empty(size, np.int64)
    for start in range(0, size, _PAGEFUL):
        stop = min(start + _PAGEFUL, size)
        out[start:stop] = np.arange(start, stop)
    return out


_PAGEFUL = 1 << 15
