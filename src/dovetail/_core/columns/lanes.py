"""A column as two NumPy lanes: the values, and which of them are there.

Dates, timestamps and durations travel as their integers. What stands in the value lane under a NULL is zero, so that
arithmetic on it can neither overflow nor divide by something odd.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._core.columns.types import BIGINT, INT, YEAR_MONTH

Values = npt.NDArray[Any]
Flags = npt.NDArray[np.bool_]

_MONTHS = np.dtype([("months", "<i4"), ("days", "<i4"), ("nanoseconds", "<i8")])


def present(array: pa.Array) -> Flags:
    """Say per row whether the value is not NULL."""
    return np.asarray(array.is_valid().to_numpy(zero_copy_only=False), dtype=np.bool_)


def values(array: pa.Array) -> Values:
    """Return numbers, booleans or the integers behind a temporal column; zero under a NULL."""
    bare = plain(array)
    filled = pc.fill_null(bare, pa.scalar(0, BIGINT).cast(bare.type)) if bare.null_count else bare
    return np.asarray(filled.to_numpy(zero_copy_only=False))


def column(numbers: Values, there: Flags, arrow_type: pa.DataType) -> pa.Array:
    """Build a column of `arrow_type` from the two lanes."""
    mask = None if there.all() else ~there
    if pa.types.is_interval(arrow_type):
        return _months_column(numbers, there)
    if pa.types.is_date32(arrow_type):
        return pa.array(numbers.astype(np.int32), mask=mask).view(arrow_type)
    if pa.types.is_temporal(arrow_type):
        return pa.array(numbers.astype(np.int64), mask=mask).view(arrow_type)
    return pa.array(numbers.astype(arrow_type.to_pandas_dtype()), arrow_type, mask=mask)


def flags(answers: Flags, there: Flags) -> pa.Array:
    """Build a boolean column from the two lanes."""
    return pa.array(answers, pa.bool_(), mask=None if there.all() else ~there)


def is_true(array: pa.Array) -> Flags:
    """Say per row of a boolean column whether it is true, not false and not NULL."""
    return np.asarray(values(array) & present(array), dtype=np.bool_)


def constant(value: object, arrow_type: pa.DataType, rows: int) -> pa.Array:
    """Repeat one value."""
    return pa.repeat(pa.scalar(value, arrow_type), rows)


def plain(array: pa.Array) -> pa.Array:
    """Return a temporal column as its integers, and any other as it is."""
    if array.type == YEAR_MONTH:
        return _months(array)
    if pa.types.is_date32(array.type):
        return array.view(INT)
    return array.view(BIGINT) if pa.types.is_temporal(array.type) else array


def _months(array: pa.Array) -> pa.Array:
    bounds = slice(array.offset, array.offset + len(array))
    months = np.frombuffer(array.buffers()[1], dtype=_MONTHS)["months"][bounds] if len(array) else np.zeros(0, np.int32)
    return pa.array(months, INT, mask=~present(array))


def _months_column(numbers: Values, there: Flags) -> pa.Array:
    cells = np.zeros(len(numbers), dtype=_MONTHS)
    cells["months"] = np.where(there, numbers, 0)
    validity = pa.array(there, pa.bool_()).buffers()[1]
    return pa.Array.from_buffers(YEAR_MONTH, len(numbers), [validity, pa.py_buffer(cells)])
