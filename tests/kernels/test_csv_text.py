"""Rows, first fields and integers of CSV text, against Python's own reader."""

from __future__ import annotations

import csv
import io

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail._core.kernels.csv_text import (
    NEWLINE,
    count_letter,
    drop_returns,
    fill_lines,
    read_integers,
    row_end,
    split_rows,
)

FIELDS = st.text(alphabet='a1,"\n -', max_size=5)


@settings(max_examples=60)
@given(st.lists(st.tuples(FIELDS, FIELDS, FIELDS), max_size=8))
def test_rows_and_first_fields_are_those_of_pythons_reader(rows: list[tuple[str, str, str]]) -> None:
    sink = io.StringIO()
    csv.writer(sink, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    text = sink.getvalue().encode()
    data = np.frombuffer(text, np.uint8)
    start, key_end, end = (np.empty(count_letter(data, NEWLINE), np.int32) for _ in range(3))
    flags = np.empty(16, np.uint8)
    number, ragged, unclosed = split_rows(
        data, np.int64(3), flags, flags.view(np.uint64), start, key_end, end, np.empty(5, np.int64)
    )
    assert (number, ragged, unclosed) == (len(rows), 0, -1)
    assert [row_end(data, 0, at) for at in end[:number].tolist()] == [at + 1 for at in end[:number].tolist()]
    pieces = [(text[a:b].decode(), text[a:c].decode()) for a, b, c in zip(start, key_end, end, strict=False)][:number]
    keys = [next(csv.reader(io.StringIO(key, newline="")))[0] for key, _ in pieces]
    assert keys == [row[0] for row in rows]
    assert [tuple(next(csv.reader(io.StringIO(row, newline="")))) for _, row in pieces] == rows


def test_ragged_rows_are_counted_and_the_first_noted() -> None:
    data = np.frombuffer(b"1,2\n3\n\n4,5,6\n7,8\n", np.uint8)
    start, key_end, end = (np.empty(count_letter(data, NEWLINE), np.int32) for _ in range(3))
    flags, ragged = np.empty(8, np.uint8), np.zeros(1, np.int64)
    assert split_rows(data, np.int64(2), flags, flags.view(np.uint64), start, key_end, end, ragged) == (4, 2, -1)
    assert ragged.tolist() == [4]


@given(st.text(alphabet='a,"\n', max_size=30).map(lambda text: text + "\n"))
def test_quotes_mean_what_they_mean_to_pythons_reader(text: str) -> None:
    data = np.frombuffer(text.encode(), np.uint8)
    start, key_end, end = (np.empty(count_letter(data, NEWLINE), np.int32) for _ in range(3))
    flags = np.empty(16, np.uint8)
    number, _, unclosed = split_rows(
        data, np.int64(1), flags, flags.view(np.uint64), start, key_end, end, np.empty(5, np.int64)
    )
    ends = end[:number].tolist()
    found = [text[a:b] for a, b in zip(start[:number].tolist(), ends, strict=True)]
    whole = text if unclosed < 0 else text[:unclosed]
    assert [_read(row) for row in found] == [[row] for row in _read(whole)]
    for begin, last in zip(start[:number].tolist(), ends, strict=True):
        assert row_end(data, 0, (begin + last) // 2) == last + 1
    assert unclosed < 0 or row_end(data, 0, unclosed) == len(text)


@given(st.lists(st.tuples(st.text(alphabet='a,"\r\n', max_size=5), st.text(alphabet="a\r\n", max_size=5)), max_size=8))
def test_returns_go_but_for_those_between_quotes(rows: list[tuple[str, str]]) -> None:
    sinks = [io.StringIO(newline=""), io.StringIO(newline="")]
    for sink, end in zip(sinks, ("\r\n", "\n"), strict=True):
        csv.writer(sink, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    text, want = (sink.getvalue().encode() for sink in sinks)
    out = np.empty(len(text), np.uint8)
    assert out[: drop_returns(np.frombuffer(text, np.uint8), out)].tobytes() == want


def _read(text: str) -> list[list[str]]:
    """What Python's reader makes of a text; empty lines are no rows."""
    return [row for row in csv.reader(io.StringIO(text, newline="")) if row]


def test_integers_are_read_and_anything_else_is_not() -> None:
    def read(*texts: str) -> list[int] | None:
        joined, edges = "".join(texts).encode(), np.cumsum([0, *map(len, texts)])
        out = np.empty(len(texts), np.int64)
        fine = read_integers(np.frombuffer(joined, np.uint8), edges[:-1], edges[1:], out)
        return out.tolist() if fine else None

    assert read("0", "-7", "007", "999999999999999999") == [0, -7, 7, 999999999999999999]
    for odd in ("", "-", "1.5", "x", "+1", " 1", "1" * 19):
        assert read("1", odd) is None


def test_lines_are_put_together_while_there_is_room() -> None:
    ours, data = (np.frombuffer(text, np.uint8) for text in (b"1,a2,b", b"1,x\n7,yy\n"))
    edges, start, key_end, end = (np.array(own, np.int32) for own in ([0, 3, 6], [0, 4], [1, 5], [3, 8]))
    no_ours, no_theirs = (np.frombuffer(text, np.uint8) for text in (b",", b",\n"))
    pairs = [np.array(own, np.int32) for own in ([0, 1, -1], [0, -1, 1])]
    lines = []
    out, done = np.empty(7, np.uint8), 0
    while done < 3:
        sides = pairs[0], edges, ours, pairs[1], start, key_end, end, data
        done, size = fill_lines(*sides, no_ours, no_theirs, np.int64(done), out)
        lines.append(out[:size].tobytes())
    assert lines == [b"1,a,x\n", b"2,b,\n", b"7,,yy\n"]
