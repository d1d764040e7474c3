"""Equality keys as words and texts whose equality is Spark's, in whatever process they are looked at.

Order keys of strings and wide decimals are ranks, which mean nothing to a process that has not seen both sides. These
parts do: what fits a word is one, a wide decimal is two, a string is its bytes, and a null-safe key has a word more
that says whether it is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._core.columns.order_keys import decimal_words, order_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Texts:
    """A text for every row: a stretch of one buffer."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    data: NDArray[np.uint8]

    def take(self, rows: NDArray[np.int64]) -> Texts:
        """Those of some rows; the bytes stay where they are."""
        return Texts(self.start[rows], self.end[rows], self.data)


@dataclass(frozen=True, slots=True)
class KeyParts:
    """All keys of some rows; two rows have equal keys if all their words and texts are equal."""

    words: tuple[NDArray[np.int64], ...]
    texts: tuple[Texts, ...]

    @property
    def one_word(self) -> bool:
        """Whether a row's key is one word and nothing else."""
        return len(self.words) == 1 and not self.texts

    def take(self, rows: NDArray[np.int64]) -> KeyParts:
        """The keys of some rows."""
        return KeyParts(tuple(own[rows] for own in self.words), tuple(own.take(rows) for own in self.texts))


def key_parts(keys: Sequence[pa.Array], null_safe: Sequence[bool]) -> KeyParts:
    """Read key columns, of which only null-safe ones hold NULL."""
    words: list[NDArray[np.int64]] = []
    texts: list[Texts] = []
    for array, safe in zip(keys, null_safe, strict=True):
        if safe:
            words.append(pc.is_valid(array).to_numpy(zero_copy_only=False).astype(np.int64))
        if pa.types.is_string(array.type) or pa.types.is_binary(array.type):
            texts.append(_texts(array))
        else:
            words += _words(array)
    return KeyParts(tuple(words), tuple(texts))


def _words(array: pa.Array) -> list[NDArray[np.int64]]:
    """The words of a column of one width, 0 for NULL."""
    there = array.drop_null()
    if pa.types.is_decimal(array.type):
        pairs = decimal_words(there).view(np.int64)
        found = [np.ascontiguousarray(pairs[:, i]) for i in range(pairs.shape[1])]
    else:
        found = order_keys([there])
    if not array.null_count:
        return found
    valid = pc.is_valid(array).to_numpy(zero_copy_only=False)
    spread = [np.zeros(len(array), np.int64) for _ in found]
    for own, values in zip(spread, found, strict=True):
        own[valid] = values
    return spread


def _texts(array: pa.Array) -> Texts:
    """The bytes of a column; NULL has none."""
    if array.null_count:
        array = pc.fill_null(array, "" if pa.types.is_string(array.type) else b"")
    _, offsets, data = array.buffers()
    if len(array) == 0:
        return Texts(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.uint8))
    edges = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    return Texts(edges[:-1], edges[1:], np.frombuffer(data if data is not None else b"", np.uint8))
