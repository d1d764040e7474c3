"""Joiners side by side: who stores which probe row, who joins which base row, and what they find.

`key`     a key's rows belong to one joiner, for good; every window scans the key's rows.
`split`   probe rows are dealt to all joiners by turns; each scans its part for every base row; the parts are merged.
`scale`   rows go to the key's team; whoever joins a base row reads the index of every member.
Inserting and joining take turns batch by batch, so that no reader meets a writer.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dovetail._core.aggregate.stored import Found, StoredEnd, StoredExtreme
from dovetail._core.kernels.dealing import group_by_owner
from dovetail._core.kernels.pages import LEAST
from dovetail._core.kernels.seeking import Asked
from dovetail._core.kernels.sort import SMALL, ascends, extent, sort_with_order
from dovetail._core.kernels.threads import together
from dovetail._core.kernels.window_ends import Ends
from dovetail._core.kernels.window_folds import Folds, clear_one, merge_columns
from dovetail._core.sweep.teams import Teams, unbalancedness
from dovetail._core.sweep.time_travel import Area

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail._core.aggregate.stored import Layout
    from dovetail._core.kernels.blocks import Rows
    from dovetail._core.kernels.seeking import Places
    from dovetail._core.plan.online import Choices

    Ints = NDArray[np.int64]

_WORTH_THREADS = 1_000_000
"""So many looks at a row take about a millisecond; less is done before a second thread has got going."""
_LOOKS = 64
"""What a row of an index takes, in looks."""
_MANY_ROWS = 32
_KEYS_AT_ONCE = 4096
_FEW_KEYS = 1 << 16


class OneRow(NamedTuple):
    """One base row and what its window holds."""

    asked: Asked
    found: Found
    visited: Ints


class Joiners:
    """The areas of all joiners, and the teams that share them."""

    def __init__(self, choices: Choices, layout: Layout) -> None:
        self._choices, self._layout = choices, layout
        make = partial(Area, layout.kinds, layout.doubles, ordered=choices.index, folds=choices.incremental)
        self.areas = [make() for _ in range(choices.joiners)]
        self.teams = Teams(choices.joiners, delta=choices.delta, decay=choices.decay)
        self._since, self._turn, self._keys = 0, 0, 1
        self._is_split = choices.algorithm == "split"
        # Different values cannot be told from counts of parts, so keys whose values are counted are not shared.
        self._schedules = choices.schedule and choices.joiners > 1 and not layout.counted
        for key, own in layout.families.items():
            if isinstance(own, (StoredExtreme, StoredEnd)):
                own.labels.on_relabel(partial(self._relabel, layout.lanes[key][0] + 1, own))

    @property
    def rows(self) -> int:
        """How many probe rows are held."""
        return sum(area.rows for area in self.areas)

    @property
    def unbalancedness(self) -> float:
        """Of the rows that each joiner has handled."""
        return unbalancedness(self.teams.handled)

    def insert(self, rows: Rows, keys: int) -> None:
        """Store probe rows; numbers of keys lie below `keys`."""
        # An index takes rows key by key, if a key has many: its blocks stay at hand.
        many = self._choices.index and rows.codes.size >= _MANY_ROWS * keys
        order = _by_key(rows.codes) if many else np.arange(rows.codes.size)
        self._keys = max(1, keys)
        parts = [order] if len(self.areas) == 1 else self._parts(order, self._owners(rows.codes))
        for area in self.areas:
            area.admit(keys)
        calls = [partial(area.insert, rows, part) for area, part in zip(self.areas, parts, strict=True)]
        together(len(self.areas) if rows.at.size * _LOOKS >= _WORTH_THREADS else 1, calls)

    def expire(self, bound: int, *, prevails: bool) -> None:
        """Let go what lies below a bound."""
        for area in self.areas:
            area.expire(bound, prevails=prevails, keys=_KEYS_AT_ONCE)

    def fold(self, codes: Ints, lower: Ints, upper: Ints, starts: Ints | None) -> tuple[Found, Ints | None]:
        """What the windows of base rows hold, and how many rows were looked at for each; None if no others were.

        Where rows prevail at the `starts` of windows, these begin with them.
        """
        order = _by_key_and_time(codes, lower)
        asked = Asked(codes, lower, upper, order)
        if starts is not None:
            asked = self._with_prevailing(asked, starts)
        out = self._nothing(codes.size)
        visited = np.zeros(codes.size, np.int64)
        if self._is_split:
            self._fold_split(asked, out, visited)
        else:
            self._fold_owned(asked, out, visited)
        return out, None if self._choices.index else visited

    def one_row(self) -> OneRow:
        """What `fold_row` works in."""
        return OneRow(Asked(*(np.zeros(1, np.int64) for _ in range(4))), self._nothing(1), np.zeros(1, np.int64))

    def fold_row(self, code: int, lower: int, upper: int, start: int | None, at: OneRow) -> Found:
        """What the window of one base row holds, in arrays that are used again."""
        asked, out = at.asked, at.found
        asked.codes[0], asked.lower[0], asked.upper[0] = code, lower, upper
        if start is not None:
            asked = self._with_prevailing(asked, np.array([start]))
        clear_one(self.areas[0].index.kinds, out.folds)
        for ends in out.ends.values():
            ends.flag[0] = 0
        for area in self.areas:
            found = area.find(asked)
            area.fold(asked, found, out.folds, at.visited)
            self._ends(area, asked, found, out)
        return out

    def _fold_owned(self, asked: Asked, out: Found, visited: Ints) -> None:
        """Each joiner folds its own base rows over the areas of their teams."""
        owners = self._owners(asked.codes)
        if self._threads(asked.codes.size) == 1:
            self._fold_part(asked, self.areas, 0, out, visited)
            return
        calls = []
        for number, part in enumerate(self._parts(asked.order, owners)):
            areas = self.areas if self.teams.shared else self.areas[number : number + 1]
            calls.append(partial(self._fold_part, asked._replace(order=part), areas, number, out, visited))
        together(len(self.areas), calls)

    def _fold_part(self, asked: Asked, areas: Sequence[Area], number: int, out: Found, visited: Ints) -> None:
        """Fold base rows over areas: where one holds nothing of a row's key, it adds nothing."""
        for area in areas:
            found = area.find(asked)
            area.fold(asked, found, out.folds, visited, number)
            self._ends(area, asked, found, out)
            self._distinct(area, asked, found, out)

    def _fold_split(self, asked: Asked, out: Found, visited: Ints) -> None:
        """Every joiner folds all base rows over its own area; what they found is merged."""
        founds = [out, *(self._nothing(asked.codes.size) for _ in self.areas[1:])]
        counts = [visited, *(np.zeros(asked.codes.size, np.int64) for _ in self.areas[1:])]
        self.teams.handled += asked.codes.size
        calls = [
            partial(area.fold, asked, area.find(asked), own.folds, count)
            for area, own, count in zip(self.areas, founds, counts, strict=True)
        ]
        together(self._threads(asked.codes.size), calls)
        for own, count in zip(founds[1:], counts[1:], strict=True):
            merge_columns(self.areas[0].index.kinds, own.folds, asked.codes.size, out.folds)
            visited += count
        for area in self.areas:
            self._ends(area, asked, area.find(asked), out)
        for key, different in out.distinct.items():
            Area.distinct_of_all(self.areas, asked, self._layout.lanes[key][0], self._unseen(key), different)

    def _ends(self, area: Area, asked: Asked, found: Places, out: Found) -> None:
        for key, ends in out.ends.items():
            first = self._layout.lanes[key][0]
            area.ends(asked, found, (first, first + 1), ends, last=self._layout.ended[key].last)

    def _distinct(self, area: Area, asked: Asked, found: Places, out: Found) -> None:
        for key, counts in out.distinct.items():
            area.distinct(asked, found, self._layout.lanes[key][0], self._unseen(key), counts)

    def _unseen(self, key: Any) -> Ints:
        """A zero for each of the values that are told apart."""
        return np.zeros(self._layout.counted[key].numbers.size, np.int64)

    def _with_prevailing(self, asked: Asked, starts: Ints) -> Asked:
        """Windows that begin with the rows of the last time at or before their start."""
        at = np.full(starts.size, LEAST)
        for area in self.areas:
            area.prevailing(asked, starts, at)
        some = starts > LEAST  # where nothing prevails, no row lies at or before the start, and LEAST adds none
        lower = np.where(some, np.minimum(asked.lower, at), asked.lower)
        return asked._replace(lower=lower, upper=np.where(some, np.maximum(asked.upper, starts), asked.upper))

    def _nothing(self, size: int) -> Found:
        return Found(
            size,
            Folds.none(self._layout.kinds, self._layout.doubles, size, len(self.areas)),
            {key: Ends.none(size) for key in self._layout.ended},
            {key: np.zeros(size, np.int64) for key in self._layout.counted},
        )

    def _parts(self, order: Ints, owners: Ints) -> list[Ints]:
        """The rows of each joiner, in some order of all."""
        ends = np.cumsum(np.bincount(owners, minlength=len(self.areas)))
        begins, rows = np.append(0, ends[:-1]), np.empty(order.size, np.int64)
        group_by_owner(order, owners, begins, rows)
        return np.split(rows, ends[:-1])

    def _owners(self, codes: Ints) -> Ints:
        """The joiner of each row; a row without a key belongs to the first."""
        joiners = len(self.areas)
        if joiners == 1:
            return np.zeros(codes.size, np.int64)
        if self._is_split:
            self._turn += codes.size
            owners = (np.arange(codes.size) + self._turn) % joiners
            self.teams.handled += np.bincount(owners, minlength=joiners)
            return owners
        owners = self.teams.deal(codes)
        self._since += codes.size
        if self._schedules and self._since >= self._choices.period:
            self._since = 0
            self.teams.schedule()
        return owners

    def _threads(self, rows: int) -> int:
        """How many threads are worth the windows of so many rows: without an index, each looks at all of its key."""
        looks = _LOOKS if self._choices.index else self.rows // self._keys
        return len(self.areas) if rows * looks >= _WORTH_THREADS else 1

    def _relabel(self, lane: int, own: StoredExtreme | StoredEnd, old: Ints, new: Ints) -> None:
        """Put new labels for old ones, in every area."""
        turned = isinstance(own, StoredExtreme) and not own.greatest
        for area in self.areas:
            area.relabel(lane, *((~old[::-1], ~new[::-1]) if turned else (old, new)))


def _by_key_and_time(codes: Ints, lower: Ints) -> Ints:
    """Rows in the order of key and time."""
    if ascends(lower):
        return _by_key(codes)
    by_time = sort_with_order(lower)[1]
    return by_time[_by_key(codes[by_time])]


def _by_key(codes: Ints) -> Ints:
    """Rows in the order of their keys, otherwise as they are; NumPy sorts a few rows of a few keys by counting."""
    if codes.size > SMALL or extent(codes)[1] >= _FEW_KEYS:
        return sort_with_order(codes)[1]
    return np.argsort(codes.astype(np.uint16), kind="stable")
