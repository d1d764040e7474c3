"""The write-ahead log: every call that changes the engine, written before it is carried out.

A file begins with a head: the join it belongs to and the number of its first record. A record is a mark, the length and
the checksum of what follows: the kind of call, its number, what is told of it, and the rows that it was given, late
ones too, as Arrow messages. A record that was not written to its end, or whose checksum fails with no whole one behind
it, is a *torn tail*: the process died while writing it, the caller never heard that it was kept, and it is cut off.
Anything else that is wrong is refused.
"""

from __future__ import annotations

import json
import os
import struct
import time
import zlib
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import finalize

from dovetail._hosts.online.claim import claim
from dovetail._hosts.online.files import read_bytes, reason, sync_folder, write_whole
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dovetail._hosts.online.claim import Claim

HEAD, MARK = b"DVTLLOG2", b"DVTR"
_LENGTHS = struct.Struct("<4sII")
_CALL = struct.Struct("<BQI")
_OFTEN = 1.0
"""Seconds between two syncs of `sync="interval"`."""


class Kind(IntEnum):
    """What was called."""

    PUSH = 0
    INSERT = 1
    ADVANCE = 2
    CLOSE = 3


class Record(NamedTuple):
    """One call: its kind and number, and the bytes of the rows that it was given, batch by batch.

    `watermark` is the one before the call and `tick` the one that it gave; `owing` says that results of calls before it
    had not been handed over yet.
    """

    kind: Kind
    number: int
    watermark: Any
    owing: bool
    tick: Any = None
    rows: Sequence[bytes] = ()


class Log:
    """A log that is written to."""

    def __init__(self, path: Path, sync: str, held: Claim) -> None:
        self.path, self._sync = path, sync
        self._held: Claim | None = held
        self._synced = time.monotonic()
        self._open()

    @classmethod
    def create(cls, path: Path, call: str, sync: str) -> Log:
        """Begin a log where there is none; its first record has the number 1."""
        held = claim(path)
        if path.exists() and path.stat().st_size:
            raise UsageError.log_exists(path)
        write_whole(path, _head(call, 0))
        return cls(path, sync, held)

    @property
    def _is_ours(self) -> bool:
        """Whether it is as we left it: no other engine has written to it or begun it anew, and it was not let go."""
        if self._held is None:
            return False
        found = os.fstat(self._file)
        return found.st_size == self._size and found.st_nlink > 0

    def append(self, record: Record) -> None:
        """Write a record; a disk that takes no more leaves the log as it was."""
        if not self._is_ours:
            raise UsageError.log_taken_over(self.path)
        framed = _framed(_body(record), MARK)
        try:
            _write_all(self._file, framed)
            self._bring_to_disk(at_once=record.kind is Kind.CLOSE)
        except BaseException as error:  # Ctrl-C, too: what comes next must not stand behind half a record
            os.ftruncate(self._file, self._size)
            if isinstance(error, OSError):
                raise UsageError.unwritable_state(self.path, reason(error)) from None
            raise
        self._size += len(framed)

    def restart(self, call: str, after: int) -> None:
        """Begin anew behind a record: a snapshot holds all up to it. A log that is no longer ours is left alone."""
        if not self._is_ours:
            return
        write_whole(self.path, _head(call, after))
        let_go = self._let_go
        self._open()
        let_go()

    def close(self) -> None:
        """Let go of the file; the record of the last call has brought everything to the disk."""
        self._let_go()
        self._held = None

    def _open(self) -> None:
        self._file = _opened(self.path)
        self._let_go = finalize(self, os.close, self._file)
        self._size = os.fstat(self._file).st_size

    def _bring_to_disk(self, *, at_once: bool) -> None:
        now = time.monotonic()
        at_once = at_once or now - self._synced >= _OFTEN
        if self._sync == "always" or (self._sync == "interval" and at_once):
            os.fsync(self._file)
            self._synced = now


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_APPEND)
    except OSError as error:
        raise UsageError.unwritable_state(path, reason(error)) from None


def _write_all(file: int, content: bytes) -> None:
    """Write everything, however little the system takes at a time."""
    view = memoryview(content)
    while view:
        view = view[os.write(file, view) :]


def read_log(path: Path) -> tuple[str, int, list[Record], int]:
    """The call and first number of a log, its records, and how many bytes of a torn tail were cut off."""
    content = read_bytes(path)
    head, at = _frame(content, 0, HEAD)
    if head is None:
        raise UsageError.no_snapshot(path, "it is no log of this version")
    told = json.loads(head)
    records = []
    while at < len(content):
        body, end = _frame(content, at, MARK)
        if body is None:
            break
        records.append(_record(body))
        at = end
    torn = len(content) - at
    if torn and _any_record(content, at + 1):
        raise UsageError.no_snapshot(path, f"record {len(records) + 1} is damaged, and others follow it")
    if torn:
        _cut(path, at)
    return told["call"], told["after"], records, torn


def _cut(path: Path, size: int) -> None:
    file = _opened(path)
    try:
        os.ftruncate(file, size)
        os.fsync(file)
    finally:
        os.close(file)
    sync_folder(path)


def _framed(body: bytes, mark: bytes) -> bytes:
    return _LENGTHS.pack(mark[:4], len(body), zlib.crc32(body)) + mark[4:] + body


def _frame(content: bytes, at: int, mark: bytes) -> tuple[bytes | None, int]:
    """The body of a whole frame and where it ends; None if it is not whole."""
    begin = at + _LENGTHS.size + len(mark) - 4
    if begin > len(content):
        return None, at
    found, length, checksum = _LENGTHS.unpack_from(content, at)
    body = content[begin : begin + length]
    whole = found == mark[:4] and content[begin - len(mark) + 4 : begin] == mark[4:] and len(body) == length
    if not whole or zlib.crc32(body) != checksum:
        return None, at
    return body, begin + length


def _any_record(content: bytes, at: int) -> bool:
    """Whether a whole record lies anywhere behind a place."""
    found = content.find(MARK, at)
    while found >= 0:
        if _frame(content, found, MARK)[0] is not None:
            return True
        found = content.find(MARK, found + 1)
    return False


def _head(call: str, after: int) -> bytes:
    return _framed(json.dumps({"call": call, "after": after}).encode(), HEAD)


def _body(record: Record) -> bytes:
    told = json.dumps([record.watermark, record.owing, record.tick, [len(own) for own in record.rows]]).encode()
    return b"".join([_CALL.pack(record.kind, record.number, len(told)), told, *record.rows])


def _record(body: bytes) -> Record:
    kind, number, length = _CALL.unpack_from(body)
    at = _CALL.size + length
    watermark, owing, tick, lengths = json.loads(body[_CALL.size : at])
    rows = []
    for size in lengths:
        rows.append(body[at : at + size])
        at += size
    return Record(Kind(kind), number, watermark, owing, tick, rows)
