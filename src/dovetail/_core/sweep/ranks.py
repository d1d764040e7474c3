"""Small integers in place of large ones: ranks of values, and codes for combinations of equality keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.kernels.memory import empty
from dovetail._core.kernels.sort import sort_with_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

CODE_BITS = 40
PACKED_BITS = 62
"""Two numbers, one above the other, may share so many bits of an int64: a step beyond the greatest does not wrap."""


def dense_ranks(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the distinct values in their order; return the number of each, and the distinct values."""
    keys, order = sort_with_order(values)
    new = np.empty(keys.size, np.bool_)
    new[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    ranks = np.empty(keys.size, np.int64)
    ranks[order] = np.cumsum(new) - 1
    return ranks, keys[new]


def equality_codes(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Number combinations of key values: equal rows get equal codes from 0 up, in at most 40 bits or as dense ranks."""
    codes, bits = _from_zero(columns[0])
    for column in columns[1:]:
        own, own_bits = _from_zero(column)
        if bits + own_bits > PACKED_BITS:
            codes, bits = _ranked(codes)
        if bits + own_bits > PACKED_BITS:
            own, own_bits = _ranked(own)
        codes, bits = (codes << own_bits) | own, bits + own_bits
    return codes if bits <= CODE_BITS else _ranked(codes)[0]


def leaving_room(codes: Sequence[NDArray[np.int64]], bits: int) -> list[NDArray[np.int64]]:
    """Codes that leave so many bits to a number below them: as they are, or ranked over all of them."""
    most = max(int(own.max(initial=0)) for own in codes)
    if most.bit_length() + bits <= PACKED_BITS:
        return list(codes)
    return np.split(dense_ranks(np.concatenate(codes))[0], np.cumsum([own.size for own in codes])[:-1])


def value_codes(columns: Sequence[pa.Array], rows: int) -> NDArray[np.int64] | None:
    """Number combinations of values, told apart bit by bit, NULL one of them; None if a type has no numbers."""
    codes = [np.zeros(rows, np.int64)]
    for column in columns:
        own = _numbered(column)
        if own is None:
            return None
        codes.append(own)
    return equality_codes(codes)


def _numbered(column: pa.Array) -> NDArray[np.int64] | None:
    """Number the values of one column; NULL is -1, and in a dictionary one more of its values."""
    if pa.types.is_dictionary(column.type):
        known = _numbered(column.dictionary)
        return None if known is None else np.append(known, -1)[_whole(column.indices)]
    bits = column.view(f"int{column.type.bit_width}") if pa.types.is_floating(column.type) else column
    try:
        return _whole(bits.dictionary_encode(null_encoding="encode").indices)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return None


def _whole(indices: pa.Array) -> NDArray[np.int64]:
    """Indices as numbers; NULL is -1."""
    found: NDArray[np.int64] = indices.cast(pa.int64()).fill_null(-1).to_numpy()
    return found


def _from_zero(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Values from 0 up: as they are, shifted, or ranked if they spread too wide; and the bits that they need."""
    if values.size == 0:
        return values, 0
    least, most = int(values.min()), int(values.max())
    if (most - least).bit_length() > CODE_BITS:
        return _ranked(values)
    if least >= 0 and most.bit_length() <= CODE_BITS:
        return values, most.bit_length()
    return np.subtract(values, least, out=empty(values.size, np.int64)), (most - least).bit_length()


def _ranked(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    ranks, distinct = dense_ranks(values)
    return ranks, distinct.size.bit_length()
