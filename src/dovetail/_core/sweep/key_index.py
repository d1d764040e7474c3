"""Rows by their equality keys, sorted once; rows that come later, from wherever, find their partners by position.

Meaning      {(p, s) : key(p) = key(s)}, for probing rows p that come in any number of parts.
Needs        keys in the types in which both sides are compared; nothing of any order.
How          keys    b  a  b  c     hash 7 2 7 9     sorted 2 7 7 9     probe b: hash 7 -> positions 1..2, b = b: stays
                                                                        probe x: hash 9 -> position 3, x <> c: empty
Edges        two different keys of one hash: the stored rows are hashed anew with another seed until there are none;
             of a probing row, the key itself is compared, with the first row of its slice. One word needs no hash.
State        a word and a position for each row, and the keys.
Worst case   O(n log n) to build, O(log n) a probe in a skewed bucket; two cache lines in an even one.
Source       our own; the third document hashes its large table once in the same place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.columns.key_parts import KeyParts, key_parts
from dovetail._core.kernels.hashing import hash_texts, hash_words, unequal_texts
from dovetail._core.kernels.search import SortedIndex
from dovetail._core.kernels.sort import sort_with_order
from dovetail._core.sweep.bounds import Slices
from dovetail._core.sweep.prepare import can_match, pick

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail._core.sweep.prepare import SideColumns


@dataclass(frozen=True, slots=True)
class KeyIndex:
    """The rows of a side that can match, in the order of their hashes; `parts` are their keys in that order.

    `positions` are 0, 1, ..., for all who need them.
    """

    rows: NDArray[np.int64]
    positions: NDArray[np.int64]
    parts: KeyParts
    index: SortedIndex
    seed: int
    null_safe: tuple[bool, ...]

    @classmethod
    def build(cls, side: SideColumns, null_safe: Sequence[bool], seed: int = 0) -> KeyIndex:
        """Sort a side by its keys."""
        rows, parts = keyed(side, null_safe)
        while True:
            words, order = sort_with_order(hashes(parts, seed))
            ordered = KeyParts((words,), ()) if parts.one_word else parts.take(order)
            if parts.one_word or not _mixed(words, ordered):
                placed = order if rows.size == side.rows else rows[order]
                return cls(placed, np.arange(rows.size), ordered, SortedIndex.build(words), seed, tuple(null_safe))
            seed += 1

    def probe(self, side: SideColumns) -> tuple[Slices, NDArray[np.int64]]:
        """Where the partners of another side's rows stand, and which rows of that side these are."""
        rows, parts = keyed(side, self.null_safe)
        words = hashes(parts, self.seed)
        low, high = np.empty(rows.size, np.int64), np.empty(rows.size, np.int64)
        self.index.below(words, low)
        self.index.up_to(words, high)
        if not parts.one_word:
            found = np.flatnonzero(low < high)
            other = found[unequal(parts.take(found), self.parts.take(low[found]))]
            high[other] = low[other]
        return Slices(self.positions, np.arange(rows.size), low, high), rows


def side_hashes(side: SideColumns, null_safe: Sequence[bool]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows that can match, and a hash of each one's key, equal wherever the key is."""
    rows, parts = keyed(side, null_safe)
    size = rows.size
    hashed = hashes(parts, 0)
    spread = np.zeros(size, np.uint64)
    hash_words(hashed, spread)
    return rows, spread.view(np.int64)


def hashes(parts: KeyParts, seed: int) -> NDArray[np.int64]:
    """A word for every row: its key if that is one, else a hash of it."""
    if parts.one_word:
        return parts.words[0]
    size = parts.words[0].size if parts.words else parts.texts[0].start.size
    out = np.full(size, seed, np.uint64)
    for words in parts.words:
        hash_words(words, out)
    for texts in parts.texts:
        hash_texts(texts.start, texts.end, texts.data, out)
    return out.view(np.int64)


def keyed(side: SideColumns, null_safe: Sequence[bool]) -> tuple[NDArray[np.int64], KeyParts]:
    """The rows that can match, and their keys."""
    rows = can_match(side, null_safe)
    return rows, key_parts([pick(key, rows) for key in side.keys], null_safe)


def _mixed(words: NDArray[np.int64], parts: KeyParts) -> bool:
    """Whether two different keys share a hash; `words` ascend."""
    alike = np.flatnonzero(words[1:] == words[:-1])
    return bool(unequal(parts.take(alike), parts.take(alike + 1)).any())


def unequal(one: KeyParts, other: KeyParts) -> NDArray[np.bool_]:
    """Row by row, whether two keys differ."""
    size = one.words[0].size if one.words else one.texts[0].start.size
    out = np.zeros(size, np.bool_)
    for ours, theirs in zip(one.words, other.words, strict=True):
        out |= ours != theirs
    for text, its in zip(one.texts, other.texts, strict=True):
        unequal_texts(text.start, text.end, text.data, its.start, its.end, its.data, out)
    return out
