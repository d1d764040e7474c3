"""One process of a join of CSV files: its stretch of either file in, its rows of the result out."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._core.columns.cast import cast
from dovetail._core.condition.inputs import Input, Inputs
from dovetail._core.condition.split import read_condition
from dovetail._core.emit.stored import Meeting
from dovetail._core.plan.outer import Kept
from dovetail._hosts.ring.csv_file import bytes_of, side_by_side
from dovetail._hosts.ring.processes import Done
from dovetail._hosts.ring.reader import Projected
from dovetail._hosts.ring.sockets import SocketLinks
from dovetail._hosts.ring.worker import ALGORITHMS, Worker

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection

    from dovetail._core.plan.query import How
    from dovetail._hosts.ring.csv_file import CsvRows
    from dovetail._hosts.ring.processes import CsvJoin

LOOPBACK = "127.0.0.1"
BLOCK = 1 << 20
TEXT_ROWS = 1 << 14


def joined(rank: int, job: CsvJoin, part: Path, secret: bytes, line: Connection[Any, Any]) -> Done:
    """Load, agree with the others on the type of the key, join, write."""
    pa.set_memory_pool(pa.system_memory_pool())  # which gives back what is freed
    before = _forget_peak()
    stretches = line.recv()
    links = SocketLinks(LOOPBACK, secret, job.patience)
    try:
        sides = [own.rows(stretch) for own, stretch in zip((job.travelling, job.stored), stretches, strict=True)]
        keys = [own.keys() for own in sides]
        line.send((links.place, [own.type for own in keys]))
        places, kinds, common = line.recv()
        links.join(rank, places)
        keys = [_typed(*own, common) for own in zip(sides, keys, kinds, strict=True)]
        write = Lines(job, sides[1], part)
        batches = ALGORITHMS[job.algorithm](worker_of(job.how, job.algorithm, sides, keys), links)
        del sides, keys
        rows = write(batches)
    except BaseException:
        links.abort()
        raise
    links.close()
    return Done(rows, max(0, _peak() - before))


def _typed(rows: CsvRows, keys: pa.Array, kind: pa.DataType, common: pa.DataType) -> pa.Array:
    """Keys in the type in which both files are compared."""
    return cast(keys if keys.type == kind else rows.keys(kind), common)


def worker_of(how: How, algorithm: str, sides: Sequence[CsvRows], keys: Sequence[pa.Array]) -> Worker:
    """What a process needs to know of the join.

    Where S stays, its rows are numbers, and their text is read where it lies; where it moves, the text moves with it.
    """
    inputs = Inputs(Input("R", ("key",)), Input("S", ("key",)))
    ours, theirs = sides
    if algorithm != "redistribute":
        stored = {"p0": pa.array(np.arange(len(keys[1]), dtype=np.int32))}
    elif how == "full":
        stored = {"p0": theirs.rests().all(), "p1": theirs.key_texts()}
    else:
        stored = {"p0": theirs.rests().all()}
    readers = Projected("R", ("row",), ("p0",)), Projected("S", tuple(stored), tuple(stored))
    meeting = Meeting(read_condition("R.key = S.key", inputs), *readers, Kept.of(how, "left"))
    return Worker(meeting, pa.table({"k0": keys[0], "p0": ours.texts()}), pa.table({"k0": keys[1], **stored}))


class Lines:
    """The rows of the result as text; all processes append to one file, whole rows at a time."""

    def __init__(self, job: CsvJoin, stored: CsvRows, part: Path) -> None:
        self._part = part
        self._no_ours = b"," * (len(job.travelling.columns) - 1)
        self._no_theirs = b"," * (len(job.stored.columns) - 1) + b"\n"
        self._stays = job.algorithm != "redistribute"
        self._rests = stored.rests() if self._stays else None
        self._keys = stored.key_texts() if self._stays and job.how == "full" else None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> int:
        """Write all batches; return how many rows they had."""
        rows, size = 0, 0
        waiting: list[memoryview] = []
        with self._part.open("ab", buffering=0) as file:
            for piece in (some for batch in batches for some in _pieces(batch)):
                waiting.append(self._text(piece))
                rows, size = rows + piece.num_rows, size + len(waiting[-1])
                if size >= BLOCK:
                    _append(file.fileno(), waiting)
                    waiting, size = [], 0
            _append(file.fileno(), waiting)
        return rows

    def _text(self, batch: pa.RecordBatch) -> memoryview:
        ours, *theirs = batch.columns
        rests = theirs[0] if self._rests is None else self._rests.of(theirs[0])
        if ours.null_count:
            keys = theirs[1] if self._keys is None else self._keys.take(theirs[0])
            ours = pc.coalesce(ours, side_by_side(keys, self._no_ours))
        if rests.null_count:
            rests = pc.fill_null(rests, pa.scalar(self._no_theirs, rests.type))
        return bytes_of(side_by_side(ours, rests))


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """A batch in pieces whose text stays in the cache of a core."""
    for start in range(0, batch.num_rows, TEXT_ROWS):
        yield batch.slice(start, TEXT_ROWS)


def _append(file: int, blocks: Sequence[memoryview]) -> None:
    """Write blocks at the end of a file that others write to as well."""
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        for block in blocks:
            left = block
            while left.nbytes:
                left = left[os.write(file, left) :]
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _forget_peak() -> int:
    """Have the system count the peak from now on, where it can; return the bytes in use."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _peak() -> int:
    return _status("VmHWM")


def _status(name: str) -> int:
    """A figure of this process; 0 where the system does not tell."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
    return 0
