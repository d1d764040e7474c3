"""Arrow values to int64 keys whose order and equality are Spark's.

Integers, dates, times and timestamps stay as they are; booleans are 0 and 1; doubles are read by their bits, with -0.0
as 0.0 and NaN greatest; decimals are unscaled values on a common scale; strings, binary and what does not fit 64 bits
are ranked over all the arrays together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_WORD = pa.int64()
_ALL_BUT_SIGN = np.int64(0x7FFF_FFFF_FFFF_FFFF)
_PLAIN = (pa.types.is_integer, pa.types.is_date, pa.types.is_time, pa.types.is_timestamp, pa.types.is_duration)


def order_keys(arrays: Sequence[pa.Array]) -> list[NDArray[np.int64]]:
    """Map arrays of one type to keys that compare, across all of them, as Spark compares the values.

    The arrays hold no nulls: those rows were set aside before.
    """
    kind = arrays[0].type
    if kind == _WORD or any(test(kind) for test in _PLAIN):
        return [_int64(array) for array in arrays]
    if pa.types.is_boolean(kind):
        return [_int64(array.cast(pa.int8())) for array in arrays]
    if pa.types.is_floating(kind):
        return [float_keys(array.to_numpy(zero_copy_only=False)) for array in arrays]
    if pa.types.is_decimal(kind):
        return _decimal_keys(arrays)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return _ranks(arrays)
    if pa.types.is_null(kind):
        return [np.zeros(len(array), np.int64) for array in arrays]
    raise InternalError.no_order(kind)


def keys_with_nulls(array: pa.Array) -> list[NDArray[np.int64]]:
    """Keys that order one array with its nulls first: whether a value is there, if some are not, then the value."""
    if not array.null_count:
        return order_keys([array])
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    keys = np.zeros(len(array), np.int64)
    keys[valid] = order_keys([array.filter(pa.array(valid))])[0]
    return [valid.astype(np.int64), keys]


def is_plain(kind: pa.DataType) -> bool:
    """Whether keys of a type are its values, so that `from_keys` can turn them back."""
    return any(test(kind) for test in (*_PLAIN, pa.types.is_floating))


def value_keys(array: pa.Array) -> NDArray[np.int64]:
    """Keys that tell -0.0, as the lesser, from 0.0: what `from_keys` gives back is one of the values."""
    if not pa.types.is_floating(array.type):
        return order_keys([array])[0]
    return _by_bits(array.to_numpy(zero_copy_only=False).astype(np.float64))


def from_keys(keys: NDArray[np.int64], none: NDArray[np.bool_], kind: pa.DataType) -> pa.Array:
    """The values of keys of a plain type, NULL where there are none."""
    if pa.types.is_floating(kind):
        return pa.array(floats_of(keys), mask=none).cast(kind, safe=False)
    if pa.types.is_integer(kind):
        return pa.array(np.where(none, 0, keys).astype(kind.to_pandas_dtype()), kind, mask=none)
    width = np.int64 if kind.bit_width == 64 else np.int32  # noqa: PLR2004
    return pa.array(np.where(none, 0, keys).astype(width), mask=none).view(kind)


def has_order(kind: pa.DataType) -> bool:
    """Whether values of a type can become order keys."""
    tests = (*_PLAIN, pa.types.is_boolean, pa.types.is_floating, pa.types.is_decimal, pa.types.is_string)
    return any(test(kind) for test in (*tests, pa.types.is_binary, pa.types.is_null))


def _int64(array: pa.Array) -> NDArray[np.int64]:
    """Read a fixed-width integer-like array."""
    if array.type == _WORD:
        return cast("NDArray[np.int64]", array.to_numpy(zero_copy_only=False))
    width = array.type.bit_width
    plain = array.view(pa.int64() if width == 64 else pa.int32()) if not pa.types.is_integer(array.type) else array  # noqa: PLR2004
    return cast("NDArray[np.int64]", plain.to_numpy(zero_copy_only=False)).astype(np.int64, copy=False)


def float_keys(numbers: NDArray[np.floating]) -> NDArray[np.int64]:
    """Read doubles by their bits: negative numbers have all other bits turned, so that integers order as they do."""
    return _by_bits(numbers.astype(np.float64) + 0.0)


def _by_bits(values: NDArray[np.float64]) -> NDArray[np.int64]:
    values[np.isnan(values)] = np.nan
    return _turned(values.view(np.int64))


def floats_of(keys: NDArray[np.int64]) -> NDArray[np.float64]:
    """The doubles whose keys these are."""
    return _turned(keys).view(np.float64)


def _turned(bits: NDArray[np.int64]) -> NDArray[np.int64]:
    """All bits but the sign turned, where it is set: from a double's bits to its key, and back."""
    return cast("NDArray[np.int64]", bits ^ ((bits >> 63) & _ALL_BUT_SIGN))


def _decimal_keys(arrays: Sequence[pa.Array]) -> list[NDArray[np.int64]]:
    """Take the unscaled values if they all fit 64 bits, else rank them word by word."""
    words = [decimal_words(array) for array in arrays]
    if all(_fits_one_word(own) for own in words):
        return [np.ascontiguousarray(own[:, 0]).view(np.int64) for own in words]
    together = np.concatenate(words)
    rank = np.zeros(len(together), np.int64)
    # From the least word to the greatest: each step orders by (word, rank so far); the top word is signed.
    for number in range(together.shape[1]):
        word = together[:, number].view(np.int64)
        signed = word if number == together.shape[1] - 1 else word ^ np.int64(np.iinfo(np.int64).min)
        rank = _dense(np.lexsort((rank, signed)), rank, signed)
    return np.split(rank, np.cumsum([len(own) for own in words])[:-1])


def decimal_words(array: pa.Array) -> NDArray[np.uint64]:
    """The 64-bit words of decimals, least first, one row per value."""
    number = array.type.bit_width // 64
    if number == 0:
        array, number = array.cast(pa.decimal128(array.type.precision, array.type.scale)), 2
    if len(array) == 0:
        return np.empty((0, number), np.uint64)
    words = np.frombuffer(array.buffers()[1], np.uint64, number * (array.offset + len(array)))
    return words.reshape(-1, number)[array.offset :]


def _fits_one_word(words: NDArray[np.uint64]) -> bool:
    """Whether the upper words only repeat the sign of the lowest."""
    sign = words[:, 0].view(np.int64) >> 63 if len(words) else np.empty(0, np.int64)
    return all(bool((words[:, i].view(np.int64) == sign).all()) for i in range(1, words.shape[1]))


def _dense(order: NDArray[np.int64], *columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number the distinct rows in an order that sorts them."""
    changes = np.zeros(len(order), np.int64)
    for column in columns:
        own = column[order]
        changes[1:] |= own[1:] != own[:-1]
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.cumsum(changes)
    return ranks


def _ranks(arrays: Sequence[pa.Array]) -> list[NDArray[np.int64]]:
    """Rank strings or binary by their bytes, over all arrays."""
    binary = [array.cast(pa.large_binary()) for array in arrays]
    encoded = pa.concat_arrays(binary).dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy(zero_copy_only=False)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    ranks = rank[encoded.indices.to_numpy(zero_copy_only=False)]
    return np.split(ranks, np.cumsum([len(array) for array in arrays])[:-1])
