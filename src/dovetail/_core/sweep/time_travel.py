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

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels import scans
from dovetail._core.kernels.blocks import Rows, dump_rows, expire_rows, insert_rows
from dovetail._core.kernels.memory import empty
from dovetail._core.kernels.pages import BLOCK, HEADER, MOST, ROWS, SPARE, Index, chain_pages, page_layout
from dovetail._core.kernels.seeking import Places, find_windows, prevailing_times
from dovetail._core.kernels.window_distinct import distinct_of_windows
from dovetail._core.kernels.window_ends import ends_of_windows
from dovetail._core.kernels.window_folds import fold_windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail._core.kernels.seeking import Asked
    from dovetail._core.kernels.window_ends import Ends
    from dovetail._core.kernels.window_folds import Folds

    Ints = NDArray[np.int64]

_SIZES = 48
_FIRST_PAGES = 256


class Area:
    """Stored rows of many keys, with lanes of integers that fold in the given ways, and lanes of doubles."""

    def __init__(self, kinds: Sequence[int], doubles: int, *, ordered: bool = True, folds: bool = True) -> None:
        self.ordered, self.folds = ordered, ordered and folds
        nothing, tally = np.empty(0, np.int64), np.zeros(SPARE + _SIZES, np.int64)
        tally[SPARE:] = -1
        keys, lanes = np.empty((0, 4), np.int64), np.array(kinds, np.int64)
        layout = page_layout(kinds, doubles)
        self.index = Index(nothing, nothing.view(np.float64), nothing, keys, tally, lanes, doubles, *layout)
        """What kernels see."""
        self._grow()

    @property
    def rows(self) -> int:
        """How many rows are held."""
        return int(self.index.tally[ROWS])

    @property
    def bytes(self) -> int:
        """How much memory the rows take, free pages included."""
        return int(self.index.pages.nbytes + self.index.slots.nbytes + self.index.keys.nbytes)

    def admit(self, keys: int) -> None:
        """Make room for keys up to a number."""
        have = len(self.index.keys)
        if keys > have:
            more = max(keys, 2 * have, 64) - have
            nothing = np.tile(np.array([-1, 0, 0, 0]), (more, 1))
            self.index = self.index._replace(keys=np.concatenate([self.index.keys, nothing]))

    def insert(self, rows: Rows, order: Ints) -> None:
        """Store some of the rows, those of a key in the order of arrival."""
        begin = 0
        while True:
            begin = insert_rows(self.index, rows, order, begin, self.ordered, self.folds)
            if begin == order.size:
                return
            self._grow()

    def expire(self, bound: int, *, prevails: bool, keys: int = MOST) -> None:
        """Let go what lies below a bound, looking at some keys at a time."""
        expire_rows(self.index, bound, prevails, keys)

    def dump(self) -> Rows:
        """All rows, key by key, in the order in which they stand."""
        words = np.empty((self.index.kinds.size, self.rows), np.int64)
        doubles = np.empty((self.index.doubles, self.rows))
        found = Rows(np.empty(self.rows, np.int64), np.empty(self.rows, np.int64), words, doubles)
        dump_rows(self.index, found)
        return found

    def prevailing(self, asked: Asked, starts: Ints, out_at: Ints) -> None:
        """Raise the time that prevails at each start."""
        raise_times = prevailing_times if self.ordered else scans.scan_prevailing
        raise_times(self.index, asked, starts, out_at)

    def find(self, asked: Asked) -> Places:
        """The windows that hold rows and where they begin and end, for `fold`, `ends` and `distinct`."""
        if not self.ordered:
            return Places(asked.order, asked.order, asked.order)
        found = Places(*(np.empty(asked.codes.size, np.int64) for _ in range(3)))
        return found._replace(order=found.order[: find_windows(self.index, asked, found)])

    def fold(self, asked: Asked, found: Places, out: Folds, out_visited: Ints, thread: int = 0) -> None:
        """Fold windows into their columns; count the rows looked at where that is every one of the key."""
        if self.ordered:
            fold_windows(self.index, asked.codes, found, self.folds, out, asked.codes.size + thread)
        else:
            scans.scan_windows(self.index, asked, out, out_visited)

    def ends(self, asked: Asked, found: Places, lanes: tuple[int, int], out: Ends, *, last: bool) -> None:
        """Find the first or last row of windows that counts; `lanes` are its flag's and its value's."""
        if self.ordered:
            ends_of_windows(self.index, asked.codes, found, *lanes, last, self.folds, out)
        else:
            scans.scan_ends(self.index, asked, *lanes, last, out)

    def distinct(self, asked: Asked, found: Places, lane: int, seen: Ints, out: Ints) -> None:
        """Count different codes, in rows of keys that no other area holds; `seen` has a zero for each code."""
        if self.ordered:
            distinct_of_windows(self.index, asked.codes, found, lane, seen, out)
        else:
            Area.distinct_of_all([self], asked, lane, seen, out)

    @staticmethod
    def distinct_of_all(areas: Sequence[Area], asked: Asked, lane: int, seen: Ints, out: Ints) -> None:
        """Count different codes in the rows of areas that are not ordered, each of which may hold any key."""
        scans.scan_distinct(tuple(area.index for area in areas), asked, lane, seen, out)

    def relabel(self, lane: int, old: Ints, new: Ints) -> None:
        """Put other numbers, in the same order, for those of a lane; `old` ascends."""
        whole = self.index.pages.reshape(-1, self.index.size)
        begin = self.index.times + BLOCK * (1 + lane)
        for words in (whole[:, begin : begin + BLOCK], whole[:, HEADER + lane : HEADER + lane + 1]):
            at = np.minimum(np.searchsorted(old, words), old.size - 1)
            words[:] = np.where(old[at] == words, new[at], words)

    def _grow(self) -> None:
        """Twice as many pages, and as many slots for directories."""
        before, size = self.index, self.index.size
        have = before.pages.size
        pages = empty(max(2 * have, _FIRST_PAGES * size), np.int64)
        pages[:have] = before.pages
        slots = np.empty(4 * (pages.size // size), np.int64)
        slots[: before.slots.size] = before.slots
        self.index = before._replace(pages=pages, numbers=pages.view(np.float64), slots=slots)
        chain_pages(self.index, have)
