"""The rows of S as they lie in their file, and rows of R that come by: lines of the result, put together from bytes.

Nothing of S is taken apart but its keys, nothing is put in order, and nothing is copied but into the result: that is
what a side gains which stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from dovetail._core.columns.table import one_chunk
from dovetail._core.emit.meeting import Meeting
from dovetail._core.kernels.compile import NO_ROW
from dovetail._core.kernels.csv_text import fill_lines
from dovetail._core.sweep.key_groups import CHUNK, KeyGroups
from dovetail._core.sweep.prepare import SideColumns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dovetail._core.emit.meeting import Part, Stored
    from dovetail._hosts.ring.csv_file import CsvRows

BLOCK = 1 << 20


class Lines(NamedTuple):
    """Some rows of the result as text, to be written before the next are asked for."""

    rows: int
    text: memoryview


class Stretch(NamedTuple):
    """A stretch of S: where its rows lie, and their keys."""

    rows: CsvRows
    keys: pa.Array


@dataclass(frozen=True)
class LineMeeting(Meeting):
    """What every process knows of a join of files of which S stays: also what stands in place of no row of either."""

    no_ours: bytes
    no_theirs: bytes

    def stored_part(self, table: Stretch) -> Stored:
        """Take up a stretch of S."""
        return StoredLines(self, table)


class StoredLines:
    """A stretch of S by the numbers of its keys."""

    def __init__(self, meeting: LineMeeting, stretch: Stretch) -> None:
        self._meeting = meeting
        self._groups = KeyGroups.build(SideColumns(len(stretch.keys), None, (stretch.keys,), ()), [False])
        self._seen = np.zeros(self._groups.numbering.size + 1, np.bool_)
        rows = stretch.rows
        self._theirs = rows.start, rows.key_end, rows.end, np.frombuffer(rows.data, np.uint8)
        self._nothing = np.frombuffer(meeting.no_ours, np.uint8), np.frombuffer(meeting.no_theirs, np.uint8)
        self._out = np.empty(BLOCK, np.uint8)

    def meet(self, part: Part) -> Iterator[Lines]:
        """Yield the pairs with a part, in the order of S, and mark the rows of both."""
        found = self._groups.find(self._meeting.travelling.keys(part.table))
        there = found != NO_ROW
        part.marked[there] = True
        self._seen[found[there]] = True
        texts = _texts(part.table)
        for ours, theirs in self._groups.pairs(found):
            yield from self._lines(texts, ours, theirs)

    def left_over(self, nothing: pa.Table) -> Iterator[Lines]:
        """The unmatched rows of S, if they are wanted."""
        if self._meeting.kept.stored is not None:
            unmatched = np.flatnonzero(~self._seen[self._groups.numbers])
            for rows in _chunks(unmatched):
                yield from self._lines(_texts(nothing), np.full(rows.size, NO_ROW, np.int32), rows)

    def left_over_of(self, part: Part) -> Iterator[Lines]:
        """The rows of a part that are unmatched everywhere."""
        texts = _texts(part.table)
        for rows in _chunks(np.flatnonzero(~part.marked)):
            yield from self._lines(texts, rows, np.full(rows.size, NO_ROW, np.int32))

    def _lines(
        self, texts: tuple[NDArray[Any], NDArray[np.uint8]], ours: NDArray[np.int32], theirs: NDArray[np.int32]
    ) -> Iterator[Lines]:
        done = 0
        while done < ours.size:
            after, size = fill_lines(ours, *texts, theirs, *self._theirs, *self._nothing, np.int64(done), self._out)
            if after == done:  # not even one line has room
                self._out = np.empty(2 * self._out.size, np.uint8)
            else:
                yield Lines(after - done, self._out[:size].data)
            done = after


def _texts(table: pa.Table) -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """Where the rows of R begin and end, and their bytes."""
    array = one_chunk(table.column("p0"))
    kind = np.int64 if pa.types.is_large_binary(array.type) else np.int32
    if len(array) == 0:
        return _read_only(b"\0" * 8, kind)[:1], _read_only(b"", np.uint8)
    _, edges, data = array.buffers()
    return _read_only(edges, kind)[array.offset :], _read_only(data, np.uint8)


def _read_only(data: pa.Buffer | bytes, kind: type[np.generic]) -> NDArray[Any]:
    """Bytes as numbers; read-only whether they came from elsewhere or not, which a kernel takes for two types."""
    values = np.frombuffer(data, kind)
    values.flags.writeable = False
    return values


def _chunks(rows: NDArray[np.int64]) -> Iterator[NDArray[np.int32]]:
    """Rows, some at a time."""
    for start in range(0, rows.size, CHUNK):
        yield rows[start : start + CHUNK].astype(np.int32)
