"""Rows as an area sees them: numbers, intervals of validity, and order keys for what the area looks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.memory import joined
from dovetail._core.kernels.slices import taken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Keys = NDArray[np.int64]

SMALL_BITS = 24
"""Keys below this many bits are their own codes; all others share as many buckets."""


@dataclass(frozen=True, slots=True)
class AreaRows:
    """Rows that are valid in `[start, end)`; `keys` must be equal in a pair, `values` are compared.

    `number` is what the caller calls each row.
    """

    number: Keys
    start: Keys
    end: Keys
    keys: tuple[Keys, ...] = ()
    values: tuple[Keys, ...] = ()

    @property
    def size(self) -> int:
        """How many rows."""
        return self.number.size

    @property
    def columns(self) -> list[Keys]:
        """All arrays, the number first."""
        return [self.number, self.start, self.end, *self.keys, *self.values]

    def like(self, columns: Sequence[Keys]) -> AreaRows:
        """The same kind of rows out of other columns."""
        keys = 3 + len(self.keys)
        return AreaRows(columns[0], columns[1], columns[2], tuple(columns[3:keys]), tuple(columns[keys:]))

    def pick(self, rows: Keys) -> AreaRows:
        """Some of the rows."""
        return self.like([taken(column, rows) for column in self.columns])

    def beside(self, others: Sequence[AreaRows]) -> AreaRows:
        """These rows and more."""
        return self.like([joined(own) for own in zip(*(part.columns for part in (self, *others)), strict=True)])

    def codes(self) -> tuple[Keys | None, bool]:
        """Numbers of few bits that are equal where all keys are; and whether they are equal nowhere else.

        The same keys have the same code whenever they come, which ranks could not promise of rows still to come.
        """
        if not self.keys:
            return None, True
        first = self.keys[0]
        if len(self.keys) == 1 and (first.size == 0 or (first.min() >= 0 and int(first.max()) >> SMALL_BITS == 0)):
            return first, True
        codes = (mixed_keys(self.keys) >> np.uint64(64 - SMALL_BITS)).view(np.int64)
        if len(self.keys) == 1:
            small = (first >= 0) & (first >> SMALL_BITS == 0)
            codes = np.where(small, first, codes + (1 << SMALL_BITS))
        return codes, False


def mixed_keys(keys: Sequence[Keys]) -> NDArray[np.uint64]:
    """A hash of all keys of each row."""
    mixed = np.zeros(keys[0].size, np.uint64)
    for key in keys:
        mixed = _mixed(mixed ^ key.view(np.uint64))
    return mixed


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread every bit over the whole word (the finaliser of splitmix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


@dataclass(frozen=True, slots=True)
class Probes:
    """Rows that look for partners: those valid at `at` or later that have started by `until`."""

    rows: AreaRows
    at: Keys
    until: Keys

    def pick(self, rows: Keys) -> Probes:
        """Some of the probes."""
        return Probes(self.rows.pick(rows), taken(self.at, rows), taken(self.until, rows))
