"""A sorted run of an area's rows: by (code, lead), the lead being what the area's kind says."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.columns.axis import MOST
from dovetail._core.kernels.overlaps import ends_rise
from dovetail._core.kernels.search import SortedIndex
from dovetail._core.kernels.slices import taken
from dovetail._core.kernels.sort import sort_with_order
from dovetail._core.sweep.ranks import PACKED_BITS, dense_ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dovetail._core.sweep.areas.rows import AreaRows

    Keys = NDArray[np.int64]


@dataclass(frozen=True)
class Run:
    """Rows in order, with their packed keys and where each stood before; `distinct` leads if they had to be ranked."""

    rows: AreaRows
    packed: Keys
    order: Keys
    bits: int
    least: int
    most: int
    last_code: int
    exact: bool
    distinct: Keys | None
    longest: dict[tuple[int, int], int] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: AreaRows, lead: Keys) -> Run:
        """Sort some rows, of which there is at least one."""
        codes, exact = rows.codes()
        if codes is None:
            keys, order = sort_with_order(lead)
            return cls(rows.pick(order), keys, order, 0, 0, 0, 0, exact, None)
        distinct = None
        least, most, last_code = int(lead.min()), int(lead.max()), int(codes.max())
        if (most - least).bit_length() + last_code.bit_length() > PACKED_BITS:
            lead, distinct = dense_ranks(lead)
            least, most = 0, distinct.size - 1
        bits = (most - least).bit_length()
        keys, order = sort_with_order((codes << bits) | (lead - least))
        return cls(rows.pick(order), keys, order, bits, least, most, last_code, exact, distinct)

    @cached_property
    def index(self) -> SortedIndex:
        """An index of the packed keys, made once it is asked."""
        return SortedIndex.build(self.packed)

    @cached_property
    def ends_rise(self) -> bool:
        """Whether one key tells rows apart, and of one key, who starts later ends no earlier: as under a window."""
        return self.exact and len(self.rows.keys) == 1 and ends_rise(self.rows.keys[0], self.rows.end)

    @cached_property
    def last_end(self) -> int:
        """The latest end of any row."""
        return int(self.rows.end.max())

    @cached_property
    def lengths(self) -> tuple[int, int]:
        """The least and the greatest length of validity; of one without end, MOST."""
        return spread(self.rows.start, self.rows.end)

    def longest_between(self, start: int, end: int) -> int:
        """The greatest distance from one value to another, of any row."""
        if (start, end) not in self.longest:
            self.longest[start, end] = spread(self.rows.values[start], self.rows.values[end])[1]
        return self.longest[start, end]

    def slices(self, codes: Keys | None, lower: Keys, upper: Keys) -> tuple[Keys, Keys]:
        """Between which positions each probe's candidates lie: leads within closed bounds, of its code."""
        if codes is not None:
            lower, upper = self._packed(codes, lower, upper)
        low, high = np.empty(lower.size, np.int64), np.empty(lower.size, np.int64)
        self.index.below(lower, low)
        self.index.up_to(upper, high)
        return low, np.maximum(low, high)

    def _packed(self, codes: Keys, lower: Keys, upper: Keys) -> tuple[Keys, Keys]:
        if self.distinct is not None:
            upper = np.searchsorted(self.distinct, upper, side="right") - 1
            lower = np.searchsorted(self.distinct, lower)
        none = (lower > upper) | (lower > self.most) | (upper < self.least) | (codes > self.last_code)
        first = (codes << self.bits) + (np.clip(lower, self.least, self.most) - self.least)
        last = (codes << self.bits) + (np.clip(upper, self.least, self.most) - self.least)
        first[none], last[none] = 0, -1
        return first, last

    def after(self, before: int) -> AreaRows:
        """The rows that end later."""
        return self.rows.pick(np.flatnonzero(self.rows.end > before))


def spread(start: Keys, end: Keys) -> tuple[int, int]:
    """The least and the greatest length of intervals, told without overflow."""
    if (end == MOST).any() or int(end.max()) - int(start.min()) > MOST:
        return 0, MOST
    lengths = end - start
    return int(lengths.min()), int(lengths.max())


def fetched(values: Keys, rows: Keys) -> Keys:
    """The values of some rows."""
    found: Keys = taken(values, rows)
    return found
