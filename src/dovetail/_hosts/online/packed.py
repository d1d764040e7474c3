"""The columns of base rows that wait: those of 64 bits as words, which NumPy moves at once, others in Arrow batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_WORD, _BYTES = 64, 8
_TESTS = (
    pa.types.is_integer,
    pa.types.is_float64,
    pa.types.is_timestamp,
    pa.types.is_time,
    pa.types.is_date,
    pa.types.is_duration,
)


class Packing:
    """Which columns of a schema become words, behind one that says by its bits which of them are NULL."""

    def __init__(self, schema: pa.Schema) -> None:
        self._kinds = schema.types
        fits = [i for i, field in enumerate(schema) if _is_word(field.type)]
        self._packed = fits[: _WORD - 1]
        self._others = [i for i in range(len(schema.types)) if i not in self._packed]
        self.words = 1 + len(self._packed)

    def pack(self, batch: pa.RecordBatch, out_words: Ints) -> pa.RecordBatch | None:
        """Write the words of a batch; return its other columns, if there are any."""
        out_words[0] = 0
        for bit, number in enumerate(self._packed):
            array = batch.column(number)
            if len(array):
                out_words[1 + bit] = np.frombuffer(array.buffers()[1], np.int64, len(array), _BYTES * array.offset)
            if array.null_count:
                out_words[0] |= array.is_null().to_numpy(zero_copy_only=False).astype(np.int64) << bit
        return batch.select(self._others) if self._others else None

    def unpack(self, words: Ints, others: pa.RecordBatch | None) -> list[pa.Array]:
        """The columns of rows, of what was packed."""
        columns: list[pa.Array] = [None] * len(self._kinds)
        for place, number in enumerate(self._others):
            assert others is not None
            columns[number] = others.column(place)
        nulls = words[0] if self._packed and words[0].any() else None
        for bit, number in enumerate(self._packed):
            null = None if nulls is None else (nulls >> bit) & 1
            columns[number] = _array(words[1 + bit], null, self._kinds[number])
        return columns


def _is_word(kind: pa.DataType) -> bool:
    return any(test(kind) for test in _TESTS) and kind.bit_width == _WORD


def _array(own: Ints, null: Ints | None, kind: pa.DataType) -> pa.Array:
    """A column of words."""
    if null is None:
        return pa.Array.from_buffers(kind, own.size, [None, pa.py_buffer(own)])
    return pa.array(own, pa.int64(), mask=null.astype(np.bool_)).view(kind)
