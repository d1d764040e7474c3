"""The rows that areas remember, by number: what a stream join shows of them, and what they bring to links.

Rows come in batches and leave when they have ended; a batch whose rows have mostly left is made smaller, small ones are
put together. Numbers ascend.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.columns.dictionaries import lean_batch, one_array, one_batch
from dovetail._core.columns.long_texts import heaviest
from dovetail._core.emit.rows import numbered_rows
from dovetail._core.kernels.memory import joined
from dovetail._core.kernels.slices import taken
from dovetail._core.sweep.links import changed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail._core.sweep.links import BroughtKeys
    from dovetail._core.sweep.stream_join import Arrived

    Keys = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows: their numbers, ends, what they bring to links, their columns, and what the texts of one can weigh."""

    number: Keys
    end: Keys
    links: dict[int, BroughtKeys]
    batch: pa.RecordBatch
    heaviest: int

    def pick(self, rows: Keys) -> Chunk:
        """Some of the rows."""
        links = {i: changed(both, lambda own: taken(own, rows)) for i, both in self.links.items()}
        batch = lean_batch(self.batch.take(pa.array(rows)))
        return Chunk(taken(self.number, rows), taken(self.end, rows), links, batch, heaviest(batch.columns))

    def beside(self, other: Chunk) -> Chunk:
        """These rows, then others."""
        links = {
            i: (_joined(keys, other.links[i][0]), _joined(values, other.links[i][1]))
            for i, (keys, values) in self.links.items()
        }
        batch = one_batch([self.batch, other.batch])
        number, end = (joined(own) for own in ((self.number, other.number), (self.end, other.end)))
        return Chunk(number, end, links, batch, max(self.heaviest, other.heaviest))


@dataclass(slots=True)
class Store:
    """Remembered rows of one input."""

    schema: pa.Schema
    chunks: list[Chunk] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many rows are held."""
        return sum(chunk.number.size for chunk in self.chunks)

    @property
    def heaviest(self) -> int:
        """What the texts of a row can weigh."""
        return max((chunk.heaviest for chunk in self.chunks), default=0)

    def add(self, rows: Arrived, batch: pa.RecordBatch) -> None:
        """Remember rows, with their columns."""
        new = Chunk(rows.number, rows.end, rows.links, batch, heaviest(batch.columns))
        while self.chunks and self.chunks[-1].number.size < 2 * new.number.size:
            new = self.chunks.pop().beside(new)
        self.chunks.append(new)

    def expire(self, before: int) -> None:
        """Forget rows that end at or before an instant, as soon as that is worth the work."""
        kept = []
        for chunk in self.chunks:
            live = np.flatnonzero(chunk.end > before)
            if 2 * live.size > chunk.number.size:
                kept.append(chunk)
            elif live.size:
                kept.append(chunk.pick(live))
        self.chunks = kept

    def take(self, columns: Sequence[str], numbers: Keys) -> list[pa.Array]:
        """Columns of some rows."""
        if len(self.chunks) == 1 and _follow(self.chunks[0].number):
            first, batch = int(self.chunks[0].number[0]), self.chunks[0].batch
            return [numbered_rows(batch.column(name), numbers, first) for name in columns]
        index = pa.array(self._positions(numbers))
        return [_in_one(self._column(name).take(index)) for name in columns]

    def brought(self, link: int, numbers: Keys) -> BroughtKeys:
        """The keys and values that some rows bring to a link."""
        at = self._positions(numbers)
        keys, values = zip(*(chunk.links[link] for chunk in self.chunks), strict=True)
        return _taken(keys, at), _taken(values, at)

    def _column(self, name: str) -> pa.ChunkedArray:
        kind = self.schema.field(name).type
        return pa.chunked_array([chunk.batch.column(name) for chunk in self.chunks], kind)

    def _positions(self, numbers: Keys) -> Keys:
        """Where rows stand; as long as none but the oldest have left, a subtraction tells."""
        every = [chunk.number for chunk in self.chunks]
        known = joined(every or [np.empty(0, np.int64)])
        if _follow(known):
            return np.asarray(numbers - known[0], np.int64)
        return np.asarray(np.searchsorted(known, numbers), np.int64)


def _follow(numbers: Keys) -> bool:
    """Whether numbers, which ascend, leave none out."""
    return bool(numbers.size) and int(numbers[-1]) - int(numbers[0]) == numbers.size - 1


def _joined(ours: tuple[Keys, ...], theirs: tuple[Keys, ...]) -> tuple[Keys, ...]:
    return tuple(joined(own) for own in zip(ours, theirs, strict=True))


def _taken(parts: Sequence[tuple[Keys, ...]], rows: Keys) -> tuple[Keys, ...]:
    return tuple(taken(joined(own), rows) for own in zip(*parts, strict=True))


def _in_one(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 0:
        return pa.nulls(0, column.type)
    return column.chunk(0) if column.num_chunks == 1 else one_array(column.chunks)
