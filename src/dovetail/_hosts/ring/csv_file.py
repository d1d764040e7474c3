"""A CSV file as raw rows: where each begins, where its first field ends, and what that field means.

Only the first field is ever read as a value. The rest of a row is bytes that go out as they came in, so that a number
or a quoted text looks in the result as it did in the file.
"""

from __future__ import annotations

import csv
import mmap
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from dovetail._core.columns.types import canonicalise
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

COMMA, NEWLINE, QUOTE = b',\n"'
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SHOWN_LINES = 5


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A file, its columns, and where its rows begin."""

    path: str
    columns: tuple[str, ...]
    begin: int
    size: int

    @classmethod
    def open(cls, path: str) -> CsvFile:
        """Read the header; refuse what has none."""
        try:
            size = Path(path).stat().st_size
            with Path(path).open("rb") as file:
                if size == 0:
                    raise UsageError.no_table(path, "it is empty")
                return cls._read(path, file.fileno(), size)
        except OSError as error:
            raise UsageError.no_table(path, (error.strerror or "it cannot be read").lower()) from None

    @classmethod
    def _read(cls, path: str, file: int, size: int) -> CsvFile:
        with mmap.mmap(file, 0, access=mmap.ACCESS_READ) as data:
            end = _row_end(data, 0)
            line = data[:end].removeprefix(BYTE_ORDER_MARK).decode(errors="replace").strip("\r\n")
        columns = tuple(next(csv.reader([line]), []))
        if not all(columns) or len(set(columns)) < len(columns) or any(map(_is_number, columns)):
            raise UsageError.no_table(path, f"its first line is no header: {line[:80]!r}")
        return cls(path, columns, end, size)

    def stretches(self, number: int) -> list[tuple[int, int]]:
        """So many stretches of whole rows, of about as many bytes each."""
        with Path(self.path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            edges, quotes, counted = [self.begin], 0, self.begin
            for i in range(1, number):
                at = max(edges[-1], self.begin + (self.size - self.begin) * i // number)
                quotes, counted = quotes + data[counted:at].count(b'"'), at
                edges.append(_row_end(data, at, inside=quotes % 2 == 1) if at > edges[-1] else at)
        return list(pairwise([*edges, self.size]))

    def rows(self, stretch: tuple[int, int]) -> CsvRows:
        """The rows of a stretch; refuse those with too few or too many fields."""
        begin, end = stretch
        with Path(self.path).open("rb") as file:
            file.seek(begin)
            data = file.read(end - begin)
        rows = CsvRows.of(data)
        ragged = np.flatnonzero(rows.separators + 1 != len(self.columns))
        if ragged.size:
            raise self._ragged(begin, rows.data.to_pybytes(), rows.start[ragged])
        return rows

    def _ragged(self, begin: int, data: bytes, starts: NDArray[np.int64]) -> UsageError:
        with Path(self.path).open("rb") as file:
            before = sum(
                chunk.count(b"\n") for chunk in iter(lambda: file.read(min(1 << 20, begin - file.tell())), b"")
            )
        lines = [before + data.count(b"\n", 0, int(start)) + 1 for start in starts[:SHOWN_LINES]]
        return UsageError.ragged_rows(self.path, lines, max(0, starts.size - SHOWN_LINES), len(self.columns))


@dataclass(frozen=True, slots=True)
class CsvRows:
    """Rows of a file: `[start, end)` without the line's end, of which `[start, key_end)` is the first field.

    `separators` are the commas between fields.
    """

    data: pa.Buffer
    start: NDArray[np.int64]
    key_end: NDArray[np.int64]
    end: NDArray[np.int64]
    separators: NDArray[np.int64]

    @classmethod
    def of(cls, data: bytes) -> CsvRows:
        """Find rows and first fields; commas and line ends between quotes are part of a field."""
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
        if data and not data.endswith(b"\n"):
            data += b"\n"
        letters = np.frombuffer(data, np.uint8)
        ends, commas, quotes = (np.flatnonzero(letters == own) for own in (NEWLINE, COMMA, QUOTE))
        if quotes.size:
            ends, commas = (own[np.searchsorted(quotes, own) % 2 == 0] for own in (ends, commas))
        start = np.concatenate([np.zeros(min(1, ends.size), np.int64), ends[:-1] + 1])
        there = ends > start
        start, ends = start[there], ends[there]
        first, last = np.searchsorted(commas, start), np.searchsorted(commas, ends)
        key_end = np.where(first < last, np.append(commas, 0)[first], ends)
        return cls(pa.py_buffer(data), start, key_end, ends, last - first)

    def texts(self) -> pa.Array:
        """Whole rows, without their ends."""
        return _stretches(self.data, self.start, self.end)

    def key_texts(self) -> pa.Array:
        """The first fields as they are written."""
        return _stretches(self.data, self.start, self.key_end)

    def rests(self) -> pa.Array:
        """What follows the first field, with the line's end."""
        return _stretches(self.data, self.key_end, self.end + 1)

    def keys(self, kind: pa.DataType | None = None) -> pa.Array:
        """The first fields as values, of a type of their own or of the one asked for; empty ones are NULL."""
        lines = side_by_side(self.key_texts(), b"", between=b"\n")
        data = bytes_of(lines)
        if not data.nbytes:
            return pa.nulls(0, kind or pa.null())
        read = arrow_csv.ReadOptions(use_threads=False, column_names=["key"], block_size=data.nbytes + 1)
        convert = arrow_csv.ConvertOptions(
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            column_types=None if kind is None else {"key": kind},
        )
        parse = arrow_csv.ParseOptions(ignore_empty_lines=False, newlines_in_values=True)
        table = arrow_csv.read_csv(pa.BufferReader(pa.py_buffer(data)), read, parse, convert)
        return canonicalise(table.column(0).combine_chunks())


def _stretches(data: pa.Buffer, start: NDArray[np.int64], end: NDArray[np.int64]) -> pa.Array:
    """Stretches of one buffer as values; those between them are left out by taking every second."""
    if start.size == 0:
        return pa.array([], pa.large_binary())
    edges = np.empty(2 * start.size + 1, np.int64)
    edges[0:-1:2], edges[1::2], edges[-1] = start, end, end[-1]
    pieces = pa.Array.from_buffers(pa.large_binary(), 2 * start.size, [None, pa.py_buffer(edges), data])
    return pieces.take(pa.array(np.arange(0, 2 * start.size, 2)))


def side_by_side(*texts: pa.Array | bytes, between: bytes = b"") -> pa.Array:
    """Texts joined row by row."""
    same = [pa.scalar(own, pa.large_binary()) if isinstance(own, bytes) else own for own in (*texts, between)]
    return pc.binary_join_element_wise(*same)


def bytes_of(lines: pa.Array) -> memoryview:
    """The bytes of joined texts, one after the other."""
    return memoryview(lines.buffers()[2])[: _used(lines)] if len(lines) and _used(lines) else memoryview(b"")


def _used(lines: pa.Array) -> int:
    """How many bytes the values take together."""
    return int(pc.sum(pc.binary_length(lines)).as_py())


def _row_end(data: mmap.mmap, at: int, *, inside: bool = False) -> int:
    """The first byte after the row in which `at` lies; `inside` says whether that is between quotes."""
    while True:
        found = data.find(b"\n", at)
        if found < 0:
            return len(data)
        inside ^= data[at:found].count(b'"') % 2 == 1
        at = found + 1
        if not inside:
            return at


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def common_kind(kinds: list[pa.DataType]) -> pa.DataType:
    """The type that holds what several stretches of one column hold."""
    known = [kind for kind in kinds if not pa.types.is_null(kind)]
    if not known or len(set(known)) == 1:
        return known[0] if known else pa.null()
    for tests in ((pa.types.is_integer, pa.types.is_floating), (pa.types.is_date, pa.types.is_timestamp)):
        if all(any(test(kind) for test in tests) for kind in known):
            return next(kind for kind in known if tests[1](kind))
    return pa.string()
