"""One process of a join of CSV files: its stretch of either file in, its rows of the result out."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    from collections.abc import Sequence
    from multiprocessing.connection import Connection

    from dovetail._core.plan.query import How
    from dovetail._hosts.ring.csv_file import CsvRows
    from dovetail._hosts.ring.processes import CsvJoin

LOOPBACK = "127.0.0.1"
BLOCK = 4 << 20


def joined(rank: int, job: CsvJoin, part: Path, secret: bytes, line: Connection[Any, Any]) -> Done:
    before = _forget_peak()
    stretches = line.recv()
    links = SocketLinks(LOOPBACK, secret, job.patience)
    try:
        sides = [own.rows(stretch) for own, stretch in zip((job.travelling, job.stored), stretches, strict=True)]
        keys = [own.keys() for own in sides]
        line.send((links.place, [own.type for own in keys]))
        places, kinds, common = line.recv()
        links.join(rank, places)
        known = [_typed(*own, common) for own in zip(sides, keys, kinds, strict=True)]
        worker = worker_of(job.how, sides, known)
        del sides, keys, known
        rows = _written(job, part, worker, links)
    finally:
        links.close()
    return Done(rows, max(0, _peak() - before))


def _typed(rows: CsvRows, keys: pa.Array, kind: pa.DataType, common: pa.DataType) -> pa.Array:
    """Keys in the type in which both files are compared."""
    return cast(keys if keys.type == kind else rows.keys(kind), common)


def worker_of(how: How, sides: Sequence[CsvRows], keys: Sequence[pa.Array]) -> Worker:
    """What a process needs to know of the join; a row of S is told apart from its key only if it may stand alone."""
    inputs = Inputs(Input("R", ("key",)), Input("S", ("key",)))
    readers = Projected("R", ("row",), ("p0",)), Projected("S", ("rest", "key"), ("p0", "p1"))
    meeting = Meeting(read_condition("R.key = S.key", inputs), *readers, Kept.of(how, "left"))
    theirs = sides[1].key_texts() if how == "full" else pa.nulls(len(keys[1]), pa.large_binary())
    stored = pa.table({"k0": keys[1], "p0": sides[1].rests(), "p1": theirs})
    return Worker(meeting, pa.table({"k0": keys[0], "p0": sides[0].texts()}), stored)


def _written(job: CsvJoin, part: Path, worker: Worker, links: SocketLinks) -> int:
    """Join and write; all processes append to one file, whole rows at a time."""
    no_ours = b"," * (len(job.travelling.columns) - 1)
    no_theirs = b"," * (len(job.stored.columns) - 1) + b"\n"
    rows, waiting = 0, []
    with part.open("ab", buffering=0) as file:
        for batch in ALGORITHMS[job.algorithm](worker, links):
            rows += batch.num_rows
            waiting.append(_lines(batch, no_ours, no_theirs))
            if sum(map(len, waiting)) >= BLOCK:
                _append(file.fileno(), waiting)
                waiting = []
        _append(file.fileno(), waiting)
    return rows


def _lines(batch: pa.RecordBatch, no_ours: bytes, no_theirs: bytes) -> memoryview:
    """Rows of the result as text."""
    ours, rests, keys = batch.columns
    if ours.null_count:
        ours = pc.coalesce(ours, side_by_side(keys, no_ours))
    if rests.null_count:
        rests = pc.fill_null(rests, pa.scalar(no_theirs, pa.large_binary()))
    return bytes_of(side_by_side(ours, rests))


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
