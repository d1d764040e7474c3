"""Base rows that wait until the watermark has passed their windows: what they ask for, and their own columns.

How          every batch is a *run* in the order in which its rows come due; what is due is the head of some runs.
             Eight small runs that came one after the other become one, so that there are few, and rows seldom move.
State        the rows that wait, in runs of up to 65,536; a run leaves with its last row.
Worst case   a row moves once per merge, log8 of 65,536 times; rows due together that came d rows apart are the heads of
             d / 65,536 runs, and sorted once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from dovetail._core.columns.axis import MOST
from dovetail._core.kernels.sort import ascends

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_TOGETHER = 8
_LARGE = 65_536


class Rows(NamedTuple):
    """Rows that wait: their columns, the bound above which each is due, words of its own, the least key that it reads.

    The last is None where it need not be known.
    """

    batch: pa.RecordBatch
    due: Ints
    words: Ints
    least: Ints | None

    def in_order(self) -> Rows:
        """The same in the order in which they come due; of those due together, in the order of arrival."""
        if ascends(self.due):
            return self
        order = np.argsort(self.due, kind="stable")
        least = None if self.least is None else self.least[order]
        return Rows(self.batch.take(pa.array(order)), self.due[order], self.words[:, order], least)

    def cut(self, begin: int, end: int) -> Rows:
        """Those between two positions."""
        least = None if self.least is None else self.least[begin:end]
        return Rows(self.batch.slice(begin, end - begin), self.due[begin:end], self.words[:, begin:end], least)

    @staticmethod
    def joined(parts: Sequence[Rows]) -> Rows:
        """All rows of some parts, one after the other."""
        if len(parts) == 1:
            return parts[0]
        batches, due, words, least = zip(*parts, strict=True)
        return Rows(
            pa.concat_batches(batches),
            np.concatenate(due),
            np.concatenate(words, axis=1),
            None if least[0] is None else np.concatenate(least),
        )


class Run:
    """Rows in the order in which they come due, and how many have been taken; merged so many times."""

    def __init__(self, rows: Rows, merged: int) -> None:
        self._rows, self.merged = rows, merged
        # Of what is left of a run behind any row.
        self._least = None if rows.least is None else np.minimum.accumulate(rows.least[::-1])[::-1]
        self._head, self._size = 0, rows.due.size
        self.next = int(rows.due[0])

    def __len__(self) -> int:
        return self._size - self._head

    @property
    def least(self) -> int:
        """The least key that any row reads."""
        assert self._least is not None
        return int(self._least[self._head])

    @property
    def left(self) -> Rows:
        """The rows that have not been taken."""
        return self._rows.cut(self._head, self._size)

    def take(self, bound: int) -> Rows:
        """Take the rows due below a bound."""
        begin = self._head
        self._head = int(self._rows.due.searchsorted(bound))
        if self._head < self._size:
            self.next = int(self._rows.due[self._head])
        return self._rows.cut(begin, self._head)


class Waiting:
    """Base rows of one schema, each with so many words."""

    def __init__(self, schema: pa.Schema, words: int, *, tracks_least: bool) -> None:
        self._runs: list[Run] = []
        empty = np.empty(0, np.int64)
        none = pa.RecordBatch.from_pylist([], schema)
        self._none = Rows(none, empty, np.empty((words, 0), np.int64), empty if tracks_least else None)

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    @property
    def least(self) -> int:
        """The least key that any waiting row's windows may look at; MOST if none waits."""
        return min((run.least for run in self._runs), default=MOST)

    def append(self, rows: Rows) -> None:
        """Keep rows until a bound above what each is due at."""
        if not rows.due.size:
            return
        self._runs.append(Run(rows.in_order(), 0))
        while self._last_fit():
            last = self._runs[-_TOGETHER:]
            merged = Rows.joined([run.left for run in last]).in_order()
            self._runs[-_TOGETHER:] = [Run(merged, last[0].merged + 1)]

    def take(self, bound: int | None) -> Rows:
        """The rows due below a bound; all of them: None."""
        if bound is None:
            parts, self._runs = [run.left for run in self._runs], []
        else:
            parts = [run.take(bound) for run in self._runs if run.next < bound]
            self._runs = [run for run in self._runs if len(run)]
        return Rows.joined(parts) if parts else self._none

    def dump(self) -> Iterator[pa.RecordBatch]:
        """All rows in the order in which they come due, then what each is due at and its words."""
        rows = Rows.joined([run.left for run in self._runs] or [self._none]).in_order()
        yield rows.batch
        lanes = [rows.due, *([] if rows.least is None else [~rows.least]), *rows.words]
        yield pa.RecordBatch.from_arrays([pa.array(own) for own in lanes], [str(i) for i in range(len(lanes))])

    def load(self, batch: pa.RecordBatch, told: pa.RecordBatch) -> None:
        """Take over what was dumped."""
        due, *words = (column.to_numpy(zero_copy_only=False) for column in told.columns)
        least = None if self._none.least is None else ~words.pop(0)
        self.append(Rows(batch, due, np.stack(words), least))

    def _last_fit(self) -> bool:
        """Whether the last runs are merged alike, and small enough to become one."""
        last = self._runs[-_TOGETHER:]
        alike = len(last) == _TOGETHER and last[0].merged == last[-1].merged
        return alike and sum(map(len, last)) <= _LARGE
