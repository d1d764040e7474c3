"""Base rows that wait until the watermark has passed their windows: what they ask for, and their own columns.

How          every batch is a *run*; eight that came one after the other are put together, so that there are few. A run
             is sorted by when its rows come due once the first of them does, a large one as it comes, so that no later
             push has to wait for that; what is due is the head of some runs.
State        the rows that wait, in runs of up to 65,536; a run leaves with its last row.
Worst case   a row moves log8 of 65,536 times, and once more when it is due; rows due together that came d rows apart
             are the heads of d / 65,536 runs.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from dovetail._core.columns.axis import MOST
from dovetail._core.columns.dictionaries import one_batch
from dovetail._core.kernels.sort import ascends, extent, sort_with_order
from dovetail._hosts.arrow.plain import no_rows
from dovetail._hosts.online.packed import Packing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

DUE, CODE, AT, ARRIVED, OWN = 0, 1, 2, 3, 4
"""The words of a row: a bound above which it is due, its key's number, its time, when it arrived; then, where rows have
distances of their own, the least key that it reads and three words for each window; last its columns."""
_TOGETHER = 8
_LARGE = 65_536


class WaitingRows(NamedTuple):
    """Rows that wait: the words of each side by side, and those of their columns that are no words."""

    words: Ints
    others: pa.RecordBatch | None

    def by(self, word: int) -> WaitingRows:
        """The same in the order of a word; those that are equal stay as they are."""
        own = self.lane(word)
        return self if ascends(own) else self.pick(sort_with_order(own)[1])

    def lane(self, word: int) -> Ints:
        """One word of all rows."""
        return np.ascontiguousarray(self.words[:, word])

    def pick(self, rows: Ints) -> WaitingRows:
        """Some of them, by their positions."""
        return WaitingRows(
            self.words.take(rows, axis=0), None if self.others is None else self.others.take(pa.array(rows))
        )

    @staticmethod
    def joined(parts: Sequence[WaitingRows]) -> WaitingRows:
        """All rows of some parts, one after the other."""
        if len(parts) == 1:
            return parts[0]
        others = [part.others for part in parts]
        words = np.concatenate([part.words for part in parts])
        return WaitingRows(words, None if others[0] is None else one_batch(others))


class WaitingRun:
    """A run: rows that came together, or in runs that were `merged` so many times; some of them have been let go."""

    def __init__(self, rows: WaitingRows, merged: int) -> None:
        self.merged = merged
        self._hold(rows)

    def _hold(self, rows: WaitingRows) -> None:
        self._rows = rows
        self._head, self._size = 0, len(rows.words)
        due = rows.lane(DUE)
        self.next = int(extent(due)[0])
        self._sorted = sort_with_order(due) if self._size >= _LARGE // _TOGETHER else None
        self._least: Ints | None = None

    def __len__(self) -> int:
        return self._size - self._head

    @property
    def left(self) -> WaitingRows:
        """The rows that have not been let go, in the order of arrival."""
        return self._rows.pick(np.sort(self._by_due()[1][self._head :])) if self._head else self._rows

    @property
    def least(self) -> int:
        """The least key that any of them reads."""
        if self._least is None:
            self._least = np.minimum.accumulate(self._rows.words[self._by_due()[1], OWN][::-1])[::-1]
        found: int = self._least[self._head].item()
        return found

    def end(self, bound: int | None) -> int:
        """Where the rows due below a bound end, in the order in which they come due; without a bound, all do."""
        return self._size if bound is None else int(self._by_due()[0].searchsorted(bound))

    def until(self, end: int) -> WaitingRows:
        """The rows up to an end that have not been let go."""
        return self._rows.pick(self._by_due()[1][self._head : end])

    def let_go(self, end: int) -> None:
        """Let the rows up to an end go; a few that stay do not hold all that came with them."""
        self._head = end
        self.next = int(self._by_due()[0][end]) if end < self._size else MOST
        if 0 < _TOGETHER * len(self) <= self._size:
            self._hold(self.left)

    def _by_due(self) -> tuple[Ints, Ints]:
        """When the rows come due, in that order, and which they are."""
        if self._sorted is None:
            self._sorted = sort_with_order(self._rows.lane(DUE))
        return self._sorted


class Due(NamedTuple):
    """The columns and words of rows that are due, and the heads of runs that they are."""

    columns: list[pa.Array]
    words: Ints
    runs: list[WaitingRun]
    ends: list[int]


class Waiting:
    """Base rows of one schema; `own` says how many words of its own each brings."""

    def __init__(self, schema: pa.Schema, own: int) -> None:
        self._schema, self._packing = schema, Packing(schema)
        self._columns = OWN + own
        self._runs: list[WaitingRun] = []

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    @property
    def least(self) -> int:
        """The least key that any waiting row's windows may look at; MOST if none waits."""
        return min((run.least for run in self._runs), default=MOST)

    def room(self, rows: int) -> Ints:
        """A place for the words of some rows, word by word."""
        return np.empty((rows, self._columns + self._packing.words), np.int64).T

    def append(self, batch: pa.RecordBatch, words: Ints) -> None:
        """Keep rows, the words of which have been written but for those of their columns."""
        if not batch.num_rows:
            return
        others = self._packing.pack(batch, words[self._columns :])
        self._runs.append(WaitingRun(WaitingRows(words.T, others), 0))
        while self._last_fit():
            last = self._runs[-_TOGETHER:]
            self._runs[-_TOGETHER:] = [WaitingRun(WaitingRows.joined([run.left for run in last]), last[0].merged + 1)]

    def due(self, bound: int | None) -> Due | None:
        """The rows due below a bound (all of them: None), by their times; None without any. They stay."""
        runs = [run for run in self._runs if bound is None or run.next < bound]
        if not runs:
            return None
        ends = [run.end(bound) for run in runs]
        parts = [run.until(end) for run, end in zip(runs, ends, strict=True)]
        return Due(*self._unpacked(WaitingRows.joined(parts).by(AT)), runs, ends)

    def let_go(self, due: Due) -> None:
        """Keep rows no longer that were due."""
        for run, end in zip(due.runs, due.ends, strict=True):
            run.let_go(end)
        if not all(map(len, due.runs)):
            self._runs = [run for run in self._runs if len(run)]

    def dump(self) -> Iterator[pa.RecordBatch]:
        """All rows in the order in which they come due, then their words."""
        empty = WaitingRows(self.room(0).T, self._packing.pack(no_rows(self._schema), self.room(0)))
        columns, words = self._unpacked(WaitingRows.joined([run.left for run in self._runs] or [empty]).by(DUE))
        yield pa.RecordBatch.from_arrays(columns, schema=self._schema)
        yield pa.RecordBatch.from_arrays([pa.array(own) for own in words], [str(i) for i in range(len(words))])

    def load(self, batch: pa.RecordBatch, told: pa.RecordBatch) -> None:
        """Take over what was dumped; the rows arrive now, as the clock that timed them was of another process."""
        words = self.room(batch.num_rows)
        for lane, own in enumerate(told.columns):
            words[lane] = own.to_numpy(zero_copy_only=False)
        words[ARRIVED] = time.perf_counter_ns()
        self.append(batch, words)

    def _unpacked(self, rows: WaitingRows) -> tuple[list[pa.Array], Ints]:
        words = np.ascontiguousarray(rows.words.T)
        return self._packing.unpack(words[self._columns :], rows.others), words[: self._columns]

    def _last_fit(self) -> bool:
        """Whether the last runs are merged alike, and small enough to become one."""
        last = self._runs[-_TOGETHER:]
        alike = len(last) == _TOGETHER and last[0].merged == last[-1].merged
        return alike and sum(map(len, last)) <= _LARGE
