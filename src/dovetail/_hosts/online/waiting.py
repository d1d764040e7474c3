"""Base rows that wait until the watermark has passed their windows: what they ask for, and their own columns."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.kernels.blocks import LEAST, MAX, MOST, PLAIN
from dovetail._core.sweep.time_travel import Area, Asked, Folds, Rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_LARGE = 65_536
_NUMBER = 0
_ZERO = np.zeros(1, np.int64)


class Chunks:
    """Batches of base rows, numbered through; small neighbours are put together, and emptied ones go."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._starts: list[int] = []
        self._batches: list[pa.RecordBatch] = []
        self._left: list[int] = []
        self.next = 0

    def append(self, batch: pa.RecordBatch) -> Ints:
        """Keep a batch; the numbers of its rows."""
        numbers = np.arange(self.next, self.next + batch.num_rows)
        self._starts.append(self.next)
        self._batches.append(batch)
        self._left.append(batch.num_rows)
        self.next += batch.num_rows
        while self._last_two_fit():
            self._join_last_two()
        return numbers

    def take(self, numbers: Ints, *, keep: bool = False) -> pa.RecordBatch:
        """The rows of some numbers, in their order; unless they are to be kept, they are not asked for again."""
        if not numbers.size:
            return pa.RecordBatch.from_pylist([], self._schema)
        if (numbers[1:] > numbers[:-1]).all():
            return _joined(list(self._parts(numbers, keep=keep)))
        order = np.argsort(numbers, kind="stable")
        parts = list(self._parts(numbers[order], keep=keep))
        back = np.empty(order.size, np.int64)
        back[order] = np.arange(order.size)
        return _joined(parts).take(pa.array(back))

    def _parts(self, ascending: Ints, *, keep: bool) -> Iterator[pa.RecordBatch]:
        begin = 0
        while begin < ascending.size:
            at = bisect_right(self._starts, int(ascending[begin])) - 1
            start, batch = self._starts[at], self._batches[at]
            end = begin + int(np.searchsorted(ascending[begin:], start + batch.num_rows))
            rows = ascending[begin:end] - start
            dense = rows[-1] - rows[0] + 1 == rows.size
            yield batch.slice(int(rows[0]), rows.size) if dense else batch.take(pa.array(rows))
            self._left[at] -= 0 if keep else rows.size
            if not self._left[at]:
                del self._starts[at], self._batches[at], self._left[at]
            begin = end

    def _last_two_fit(self) -> bool:
        """Whether the last two batches are neighbours, and of a size that is worth putting together."""
        if len(self._batches) < 2 or self._starts[-2] + self._batches[-2].num_rows != self._starts[-1]:  # noqa: PLR2004
            return False
        return bool(self._batches[-2].num_rows <= 2 * self._batches[-1].num_rows < _LARGE)

    def _join_last_two(self) -> None:
        batch = pa.concat_batches(self._batches[-2:])
        left = self._left.pop() + self._left.pop()
        del self._starts[-1], self._batches[-2:]
        self._batches.append(batch)
        self._left.append(left)


def _joined(parts: list[pa.RecordBatch]) -> pa.RecordBatch:
    return parts[0] if len(parts) == 1 else pa.concat_batches(parts)


class Waiting:
    """Rows in the order in which they come due, each with words of its own; the first word is its number."""

    def __init__(self, schema: pa.Schema, words: int, *, tracks_least: bool) -> None:
        self._chunks = Chunks(schema)
        self._kinds, self._tracks_least = [PLAIN, *([MAX] if tracks_least else []), *([PLAIN] * words)], tracks_least
        self._clear()

    def __len__(self) -> int:
        return self._area.rows

    @property
    def least(self) -> int:
        """A bound on the least key that any waiting row's windows may look at; MOST if none waits."""
        asked = Asked(_ZERO, np.array([LEAST]), np.array([MOST]), _ZERO)
        out = Folds.none(self._kinds, 0, 1)
        self._area.fold(asked, self._area.find(asked), out, np.zeros(1, np.int64))
        return ~int(out.words[2, 0])

    def append(self, batch: pa.RecordBatch, due: Ints, words: Ints, least: Ints | None) -> None:
        """Keep rows until a bound above what each is due at; `least`, if tracked, is the least key that each reads."""
        numbers = self._chunks.append(batch)
        zeros = np.zeros(due.size, np.int64)
        lanes = [numbers, *([] if least is None else [~least]), *words]
        self._area.insert(Rows(zeros, due, np.stack(lanes), np.empty((0, due.size))), zeros)

    def take(self, bound: int | None) -> tuple[pa.RecordBatch, Ints]:
        """The rows due below a bound (all of them: None) and their words."""
        words = self._area.drain(MOST if bound is None else bound)
        if bound is None and self._area.rows:
            words = np.concatenate([words, self._rest()], axis=1)
        return self._chunks.take(words[_NUMBER]), words[1 + self._tracks_least :]

    def dump(self) -> Iterator[pa.RecordBatch]:
        """All rows in the order in which they come due, then what each is due at and its words."""
        rows = self._area.dump()
        yield self._chunks.take(rows.words[_NUMBER], keep=True)
        words = [pa.array(own) for own in (rows.at, *rows.words[1:])]
        yield pa.RecordBatch.from_arrays(words, names=[str(number) for number in range(len(words))])

    def load(self, batch: pa.RecordBatch, told: pa.RecordBatch) -> None:
        """Take over what was dumped."""
        if batch.num_rows:
            due, *words = (column.to_numpy(zero_copy_only=False) for column in told.columns)
            least = ~words.pop(0) if self._tracks_least else None
            self.append(batch, due, np.stack(words), least)

    def _rest(self) -> Ints:
        """Rows that no watermark makes due."""
        words = self._area.dump().words
        self._clear()
        return words

    def _clear(self) -> None:
        self._area = Area(self._kinds, 0, folds=self._tracks_least)
        self._area.admit(1)
