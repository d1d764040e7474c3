"""Rows by the number of their equality key; rows that come later meet them in the order in which they are stored.

Meaning      {(p, s) : key(p) = key(s)}, for probing rows p that come in any number of parts; s ascends in every part.
Needs        keys in the types in which both sides are compared; nothing of any order.
How          stored b a b c: numbers 0 1 0 2      probe [c b b]: numbers 2 0 0, chains 0: 1, 2 and 2: 0
             pairs of that part, by stored row    (1, 0) (2, 0) (1, 2) (2, 2) (0, 3)
Edges        a key of several words or texts goes by a hash; two different keys of one hash: the stored rows are hashed
             anew with another seed until there are none, and of a probing row the key itself is compared.
State        a number for each stored row, and a table of the distinct keys, unless they are integers close together.
Worst case   O(n) to build; O(n + part + pairs) a part: for results that are written from where the stored rows lie,
             reading them in their order saves more than passing over those without a partner costs.
Source       our own; the third document hashes its large table once in the same place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from dovetail._core.kernels.compile import NO_ROW
from dovetail._core.kernels.groups import chain_rows, next_pairs
from dovetail._core.sweep.key_index import hashes, keyed, unequal
from dovetail._core.sweep.numbering import Numbering

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from dovetail._core.columns.key_parts import KeyParts
    from dovetail._core.sweep.prepare import SideColumns

T = TypeVar("T", bound=np.generic)
CHUNK = 1 << 13
"""So many rows are looked at together: what is known of them stays in the cache of a core."""


@dataclass(frozen=True, slots=True)
class KeyGroups:
    """The number of each stored row, NO_ROW for one that cannot match.

    `firsts` has the key behind each number, unless that is the very word that was numbered.
    """

    numbers: NDArray[np.int32]
    numbering: Numbering | Distances
    firsts: KeyParts | None
    seed: int
    null_safe: tuple[bool, ...]

    @classmethod
    def build(cls, side: SideColumns, null_safe: Sequence[bool], seed: int = 0) -> KeyGroups:
        """Number the keys of a side."""
        rows, parts = keyed(side, null_safe)
        while True:
            numbering, given = _numbered(hashes(parts, seed), hashed=not parts.one_word)
            firsts = None if parts.one_word else parts.take(_first_rows(given))
            if firsts is None or not unequal(parts, firsts.take(given.astype(np.int64))).any():
                return cls(_placed(given, rows, side.rows), numbering, firsts, seed, tuple(null_safe))
            seed += 1

    def find(self, side: SideColumns) -> NDArray[np.int64]:
        """The number of each row of another side; NO_ROW for one without a partner."""
        rows, parts = keyed(side, self.null_safe)
        found = self.numbering.find(hashes(parts, self.seed))
        if self.firsts is not None:
            known = np.flatnonzero(found != NO_ROW)
            found[known[unequal(parts.take(known), self.firsts.take(found[known]))]] = NO_ROW
        return _placed(found, rows, side.rows)

    def pairs(self, found: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
        """Yield rows of the other side, whose numbers were found, and their partners; to be used before the next."""
        first, following = np.full(self.numbering.size + 1, NO_ROW, np.int32), np.empty(found.size, np.int32)
        chain_rows(found, first, following)
        ours, theirs = np.empty(CHUNK, np.int32), np.empty(CHUNK, np.int32)
        row, partner = np.int64(0), np.int64(NO_ROW)
        while row < self.numbers.size:
            size, row, partner = next_pairs(self.numbers, first, following, row, partner, ours, theirs)
            yield ours[:size], theirs[:size]


@dataclass(frozen=True, slots=True)
class Distances:
    """Words that lie close together, numbered by their distance from the least."""

    least: int
    most: int

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return self.most - self.least + 1

    def find(self, words: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of each word; NO_ROW for one that lies elsewhere."""
        return np.where((words >= self.least) & (words <= self.most), words - self.least, NO_ROW)


def _numbered(words: NDArray[np.int64], *, hashed: bool) -> tuple[Numbering | Distances, NDArray[np.int32]]:
    """Number words by their distance, or chunk by chunk, so that the table grows with the distinct ones."""
    if words.size and not hashed:
        near = Distances(int(words.min()), int(words.max()))
        if near.size <= words.size:
            return near, (words - near.least).astype(np.int32)
    numbering, given = Numbering(), np.empty(words.size, np.int32)
    for start in range(0, words.size, CHUNK):
        given[start : start + CHUNK] = numbering.give(words[start : start + CHUNK])
    return numbering, given


def _first_rows(numbers: NDArray[np.int32]) -> NDArray[np.int64]:
    """The first row of each number; they were given in this order."""
    return np.flatnonzero(np.diff(np.maximum.accumulate(numbers), prepend=NO_ROW))


def _placed(numbers: NDArray[T], rows: NDArray[np.int64], size: int) -> NDArray[T]:
    """The numbers of some rows among all rows."""
    if rows.size == size:
        return numbers
    out = np.full(size, NO_ROW, numbers.dtype)
    out[rows] = numbers
    return out
