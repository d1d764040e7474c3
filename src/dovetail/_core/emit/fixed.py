"""Columns whose values all have one width, as plain memory: they are spread over pairs without an index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORDS = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


@dataclass(frozen=True, slots=True)
class Fixed:
    """The bits of a column without NULL."""

    type: pa.DataType
    values: NDArray[Any]

    @classmethod
    def of(cls, column: pa.Array) -> Fixed | None:
        """Read a column; None if it has NULL, or values of another width than a machine word's."""
        if column.null_count or not pa.types.is_primitive(column.type) or column.type.bit_width not in _WORDS:
            return None
        if len(column) == 0:
            return cls(column.type, np.empty(0, _WORDS[column.type.bit_width]))
        words = np.frombuffer(column.buffers()[1], _WORDS[column.type.bit_width], column.offset + len(column))
        return cls(column.type, words[column.offset :])

    def column(self, values: NDArray[Any]) -> pa.Array:
        """Bits of this kind as a column."""
        return pa.Array.from_buffers(self.type, values.size, [None, pa.py_buffer(values)])
