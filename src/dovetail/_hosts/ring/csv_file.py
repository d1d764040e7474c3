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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from dovetail._core.columns.types import canonicalise
from dovetail._core.kernels.csv_text import (
    NEWLINE,
    RETURN,
    count_letter,
    drop_returns,
    read_integers,
    row_end,
    split_rows,
)
from dovetail._files import WIDE_WHOLE, are_whole
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SHOWN_LINES = 5
FLAGS = 1 << 12
"""So many letters are looked at together; it makes no difference to the answer."""


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
            begin = len(BYTE_ORDER_MARK) if data[:3] == BYTE_ORDER_MARK else 0
            end = row_end(np.frombuffer(data, np.uint8), begin, begin)
            line = _text(path, data[begin:end]).strip("\r\n")
        columns = _names(line)
        if not all(columns) or len(set(columns)) < len(columns) or any(map(_is_number, columns)):
            raise UsageError.no_table(path, f"its first line is no header: {line[:80]!r}")
        return cls(path, columns, end, size)

    def stretches(self, number: int) -> list[tuple[int, int]]:
        """So many stretches of whole rows, of about as many bytes each."""
        with Path(self.path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            edges, letters = [self.begin], np.frombuffer(data, np.uint8)
            quoted = data.find(b'"', self.begin) >= 0
            for i in range(1, number):
                at = max(edges[-1], self.begin + (self.size - self.begin) * i // number)
                seen_from = edges[-1] if quoted else at  # without quotes, any line end is a row's
                edges.append(row_end(letters, seen_from, at) if at > edges[-1] else at)
            del letters  # it would keep the file open
        return list(pairwise([*edges, self.size]))

    def rows(self, stretch: tuple[int, int]) -> CsvRows:
        """The rows of a stretch; refuse those with too few or too many fields."""
        begin, end = stretch
        with Path(self.path).open("rb") as file:
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))[begin:end]
        rows, odd = split(data, len(self.columns))
        if odd.unclosed is not None:
            raise UsageError.open_quote(self.path, *self._lines(begin, rows, [odd.unclosed]))
        if odd.ragged:
            lines = self._lines(begin, rows, odd.first)
            raise UsageError.ragged_rows(self.path, lines, odd.ragged - len(lines), len(self.columns))
        return rows

    def _lines(self, begin: int, rows: CsvRows, starts: list[int]) -> list[int]:
        """The numbers of the lines that start at these places of a stretch."""
        data = rows.data.to_pybytes()
        with Path(self.path).open("rb") as file:
            before = file.read(begin).count(b"\n")
        return [before + data.count(b"\n", 0, start) + 1 for start in starts]


def _names(line: str) -> tuple[str, ...]:
    """The fields of a header; none if it is not one line, as where lines end with carriage returns alone."""
    try:
        return tuple(next(csv.reader([line]), []))
    except csv.Error:
        return ("",)


def _text(path: str, line: bytes) -> str:
    """A header as text; a compressed file has none."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        text = "\0"
    if any(letter < " " and letter not in "\t\r\n" for letter in text):
        raise UsageError.no_table(path, "its first line is no UTF-8 text, as if it were compressed")
    return text


@dataclass(frozen=True, slots=True)
class CsvRows:
    """Rows of a file: `[start, end)` without the line's end, of which `[start, key_end)` is the first field."""

    data: pa.Buffer
    start: NDArray[Any]
    key_end: NDArray[Any]
    end: NDArray[Any]

    def texts(self) -> pa.Array:
        """Whole rows, without their ends."""
        return _pieces(self.data, self.start, self.end).take(_every_second(self.start.size))

    def key_texts(self) -> pa.Array:
        """The first fields as they are written."""
        return _pieces(self.data, self.start, self.key_end).take(_every_second(self.start.size))

    def rests(self) -> pa.Array:
        """What follows the first fields, with the line's end."""
        return _pieces(self.data, self.key_end, self.end + 1).take(_every_second(self.start.size))

    def keys(self, kind: pa.DataType | None = None) -> pa.Array:
        """The first fields as values, of a type of their own or of the one asked for; empty ones are NULL."""
        if self.start.size == 0:
            return pa.nulls(0, kind or pa.null())
        if kind is None or pa.types.is_int64(kind):
            out = np.empty(self.start.size, np.int64)
            if read_integers(np.frombuffer(self.data, np.uint8), self.start, self.key_end, out):
                return pa.array(out)
        return self._parsed(kind)

    def _parsed(self, kind: pa.DataType | None) -> pa.Array:
        data = bytes_of(side_by_side(self.key_texts(), b"", between=b"\n"))
        read = arrow_csv.ReadOptions(use_threads=False, column_names=["key"], block_size=data.nbytes + 1)
        convert = arrow_csv.ConvertOptions(
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            column_types=None if kind is None else {"key": kind},
        )
        parse = arrow_csv.ParseOptions(ignore_empty_lines=False, newlines_in_values=True)
        table = arrow_csv.read_csv(pa.BufferReader(pa.py_buffer(data)), read, parse, convert)
        found = canonicalise(table.column(0).combine_chunks())
        if kind is None and pa.types.is_floating(found.type) and are_whole(self.key_texts()):
            return self._parsed(WIDE_WHOLE)
        return found


class Odd(NamedTuple):
    """Rows that are none: how many are ragged, where the first of them begin, and where one does that has no end."""

    ragged: int
    first: list[int]
    unclosed: int | None


def split(data: memoryview | bytes | NDArray[np.uint8], columns: int) -> tuple[CsvRows, Odd]:
    """The rows of a text, and what is odd about some."""
    letters = np.frombuffer(data, np.uint8)
    if letters.size and (letters[-1] != NEWLINE or count_letter(letters, RETURN)):
        data = letters = _with_plain_ends(letters)
    place = np.int32 if len(data) < np.iinfo(np.int32).max else np.int64
    start, key_end, end = (np.empty(count_letter(letters, NEWLINE), place) for _ in range(3))
    ragged = np.empty(SHOWN_LINES, np.int64)
    flags = np.empty(FLAGS, np.uint8)
    rows, number, unclosed = split_rows(
        letters, np.int64(columns), flags, flags.view(np.uint64), start, key_end, end, ragged
    )
    odd = Odd(number, ragged[:number].tolist(), unclosed if unclosed >= 0 else None)
    return CsvRows(pa.py_buffer(data), start[:rows], key_end[:rows], end[:rows]), odd


def _with_plain_ends(letters: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A text in which every row ends with a line end alone; what stands between quotes stays as it is."""
    out = np.empty(letters.size + 1, np.uint8)
    size = drop_returns(letters, out)
    out[size] = NEWLINE
    return out[: size + (out[size - 1] != NEWLINE)]


def _pieces(data: pa.Buffer, start: NDArray[Any], end: NDArray[Any]) -> pa.Array:
    """Stretches of one buffer as values, each followed by what lies before the next."""
    edges = np.empty(2 * start.size + 1, start.dtype)
    edges[0:-1:2], edges[1::2], edges[-1] = start, end, end[-1] if end.size else 0
    kind = pa.binary() if edges.dtype == np.int32 else pa.large_binary()
    return pa.Array.from_buffers(kind, 2 * start.size, [None, pa.py_buffer(edges), data])


def _every_second(number: int) -> pa.Array:
    return pa.array(np.arange(0, 2 * number, 2))


def side_by_side(*texts: pa.Array | bytes, between: bytes = b"") -> pa.Array:
    """Texts joined row by row."""
    kind = next(own.type for own in texts if isinstance(own, pa.Array))
    same = [pa.scalar(own, kind) if isinstance(own, bytes) else own.cast(kind) for own in (*texts, between)]
    return pc.binary_join_element_wise(*same)


def bytes_of(lines: pa.Array) -> memoryview:
    """The bytes of joined texts, one after the other."""
    return memoryview(lines.buffers()[2])[: _used(lines)] if len(lines) and _used(lines) else memoryview(b"")


def _used(lines: pa.Array) -> int:
    """How many bytes the values take together."""
    return int(pc.sum(pc.binary_length(lines)).as_py())


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
    numbers = (pa.types.is_integer, pa.types.is_decimal, pa.types.is_floating)
    for tests in (numbers, (pa.types.is_date, pa.types.is_timestamp)):
        if all(any(test(kind) for test in tests) for kind in known):
            return max(known, key=lambda kind: [test(kind) for test in reversed(tests)])
    return pa.string()
