"""The rows that one joiner holds, by key and time: the time-travel index, or buffers in the order of arrival.

Meaning      the stored rows of a base row's key whose time lies in [lower, upper], folded lane by lane.
Needs        nothing of the order of arrival; single writer, many readers, never both at once.
How          key 7:  [1 3 4 8] [9 9 12 20] [21 ...]     window 4..20: the tail of the first block, the whole second one
             folds:     16         50                   a node over every 16 blocks, another over every 16 nodes
Edges        rows of one time stand together, in the order of arrival; a window whose lower end lies above its upper one
             is empty; what prevails is found before, as a time.
State        the rows inserted and not yet expired, in blocks of 64; whole blocks leave, when their last time lies below
             the bound (with prevailing rows, when the next block begins at or below it).
Worst case   O(log n) to insert and to find, plus 64 moves; splits move the directory behind them: d / 64 slots for
             disorder d, once in 32 rows. A window folds two edges and O(log n) nodes; without the index, every row.
Source       the online interval join (fourth document): section V-A, lines 233 to 322; V-C, lines 421 to 440.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dovetail._core.kernels import scans
from dovetail._core.kernels.blocks import dump_rows, expire_rows, insert_rows
from dovetail._core.kernels.memory import empty
from dovetail._core.kernels.pages import BLOCK, HEADER, LEAST, MAX, MOST, ROWS, SPARE, chain_pages, page_shape
from dovetail._core.kernels.seeking import find_windows, prevailing_times
from dovetail._core.kernels.window_distinct import distinct_of_windows
from dovetail._core.kernels.window_ends import ends_of_windows
from dovetail._core.kernels.window_folds import fold_windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Doubles = NDArray[np.float64]

_SIZES = 48
_FIRST_PAGES = 256


class Rows(NamedTuple):
    """Rows to store: the number of each one's key, its time, and its lanes."""

    codes: Ints
    at: Ints
    words: Ints
    doubles: Doubles


class Asked(NamedTuple):
    """Windows to fold: each one's key, ends, and the order of key and time in which to go through some of them."""

    codes: Ints
    lower: Ints
    upper: Ints
    order: Ints


class Places(NamedTuple):
    """Where windows begin and end in an index, for those base rows, in the order asked for, whose windows hold rows."""

    begins: Ints
    ends: Ints
    order: Ints


class Folds(NamedTuple):
    """What windows fold to, a column each: rows and lanes of integers; sums of doubles and what they have lost.

    Behind them come columns to work in, one for each thread.
    """

    words: Ints
    high: Doubles
    low: Doubles

    @classmethod
    def none(cls, kinds: Sequence[int], doubles: int, size: int, threads: int = 1) -> Folds:
        """The fold of nothing for every window."""
        words = np.zeros((1 + len(kinds), size + threads), np.int64)
        for lane, kind in enumerate(kinds):
            if kind == MAX:
                words[1 + lane] = LEAST
        return cls(words, np.zeros((doubles, size + threads)), np.zeros((doubles, size + threads)))


class Ends(NamedTuple):
    """The first or last row of each window: time, flag (0: none, 1: NULL, 2: a value) and value."""

    at: Ints
    flag: Ints
    value: Ints

    @classmethod
    def none(cls, size: int) -> Ends:
        """No row for any window."""
        return cls(*(np.zeros(size, np.int64) for _ in range(3)))


class Area:
    """Stored rows of many keys, with lanes of integers that fold in the given ways, and lanes of doubles."""

    def __init__(self, kinds: Sequence[int], doubles: int, *, ordered: bool = True, folds: bool = True) -> None:
        self.ordered, self.folds = ordered, ordered and folds
        self._shape = page_shape(list(kinds), doubles)
        self._pages = np.empty(0, np.int64)
        self._numbers = self._pages.view(np.float64)
        self._keys = np.empty(0, np.int64)
        self._slots = np.empty(0, np.int64)
        self._tally = np.zeros(SPARE + _SIZES, np.int64)
        self._tally[SPARE:] = -1
        self._grow()

    @property
    def shape(self) -> Ints:
        """What kernels know of the lanes."""
        return self._shape

    @property
    def rows(self) -> int:
        """How many rows are held."""
        return int(self._tally[ROWS])

    @property
    def bytes(self) -> int:
        """How much memory the rows take, free pages included."""
        return int(self._pages.nbytes + self._slots.nbytes + self._keys.nbytes)

    def admit(self, keys: int) -> None:
        """Make room for keys up to a number."""
        have = self._keys.size // 4
        if keys > have:
            more = max(keys, 2 * have, 64) - have
            self._keys = np.append(self._keys, np.tile(np.array([-1, 0, 0, 0]), more))

    def insert(self, rows: Rows, order: Ints) -> None:
        """Store some of the rows, those of a key in the order of arrival."""
        begin = 0
        while True:
            begin = insert_rows(*self._all, self._tally, *rows, order, begin, self.ordered, self.folds)
            if begin == order.size:
                return
            self._grow()

    def expire(self, bound: int, *, prevails: bool, keys: int = MOST) -> None:
        """Let go what lies below a bound, looking at some keys at a time."""
        expire_rows(*self._times, self._tally, bound, prevails, keys)

    def dump(self) -> Rows:
        """All rows, key by key, in the order in which they stand."""
        words, doubles = np.empty((self._shape[0], self.rows), np.int64), np.empty((self._shape[1], self.rows))
        found = Rows(np.empty(self.rows, np.int64), np.empty(self.rows, np.int64), words, doubles)
        dump_rows(*self._all, *found)
        return found

    def prevailing(self, asked: Asked, starts: Ints, out_at: Ints) -> None:
        """Raise the time that prevails at each start."""
        raise_times = prevailing_times if self.ordered else scans.scan_prevailing
        raise_times(*self._times, asked.codes, starts, asked.order, out_at)

    def find(self, asked: Asked) -> Places:
        """The windows that hold rows and where they begin and end, for `fold`, `ends` and `distinct`."""
        if not self.ordered:
            return Places(asked.order, asked.order, asked.order)
        begins, ends, some = (np.empty(asked.codes.size, np.int64) for _ in range(3))
        count = find_windows(*self._times, *asked, begins, ends, some)
        return Places(begins, ends, some[:count])

    def fold(self, asked: Asked, found: Places, out: Folds, out_visited: Ints, thread: int = 0) -> None:
        """Fold windows into their columns; count the rows looked at where that is every one of the key."""
        if self.ordered:
            scratch = asked.codes.size + thread
            state = self._pages, self._numbers, self._shape, self._keys, self._slots
            fold_windows(*state, asked.codes, *found, self.folds, out.words, out.high, out.low, scratch)
        else:
            scans.scan_windows(*self._all, *asked, *out, out_visited)

    def ends(self, asked: Asked, found: Places, lanes: tuple[int, int], out: Ends, *, last: bool) -> None:
        """Find the first or last row of windows that counts; `lanes` are its flag's and its value's."""
        if self.ordered:
            ends_of_windows(*self._times, asked.codes, *found, *lanes, last, self.folds, *out)
        else:
            scans.scan_ends(*self._times, *asked, *lanes, last, *out)

    def distinct(self, asked: Asked, found: Places, lane: int, seen: Ints, out: Ints) -> None:
        """Count different codes, in rows of keys that no other area holds; `seen` has a zero for each code."""
        if self.ordered:
            distinct_of_windows(*self._times, asked.codes, *found, lane, seen, out)
        else:
            Area.distinct_of_all([self], asked, lane, seen, out)

    @staticmethod
    def distinct_of_all(areas: Sequence[Area], asked: Asked, lane: int, seen: Ints, out: Ints) -> None:
        """Count different codes in the rows of areas that are not ordered, each of which may hold any key."""
        pages, shapes, keys, slots = zip(*(area._times for area in areas), strict=True)  # noqa: SLF001 -- our own
        scans.scan_distinct(pages, shapes[0], keys, slots, *asked, lane, seen, out)

    def relabel(self, lane: int, old: Ints, new: Ints) -> None:
        """Put other numbers, in the same order, for those of a lane; `old` ascends."""
        whole = self._pages.reshape(-1, int(self._shape[2]))
        begin = int(self._shape[3]) + BLOCK * (1 + lane)
        for words in (whole[:, begin : begin + BLOCK], whole[:, HEADER + lane : HEADER + lane + 1]):
            at = np.minimum(np.searchsorted(old, words), old.size - 1)
            words[:] = np.where(old[at] == words, new[at], words)

    @property
    def _all(self) -> tuple[Ints, Doubles, Ints, Ints, Ints]:
        return self._pages, self._numbers, self._shape, self._keys, self._slots

    @property
    def _times(self) -> tuple[Ints, Ints, Ints, Ints]:
        """What kernels read that look at no doubles."""
        return self._pages, self._shape, self._keys, self._slots

    def _grow(self) -> None:
        """Twice as many pages, and as many slots for directories."""
        have, page = self._pages.size, int(self._shape[2])
        pages = empty(max(2 * have, _FIRST_PAGES * page), np.int64)
        pages[:have] = self._pages
        self._pages, self._numbers = pages, pages.view(np.float64)
        chain_pages(pages, self._shape, self._tally, have)
        slots = np.empty(4 * (pages.size // page), np.int64)
        slots[: self._slots.size] = self._slots
        self._slots = slots
