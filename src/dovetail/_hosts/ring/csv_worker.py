"""One process of a join of CSV files: its stretch of either file in, its rows of the result out."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from dovetail._core.columns.cast import cast
from dovetail._core.condition.inputs import Input, Inputs
from dovetail._core.condition.split import read_condition
from dovetail._core.emit.meeting import Meeting
from dovetail._core.plan.outer import Kept
from dovetail._hosts.ring.csv_file import bytes_of, side_by_side
from dovetail._hosts.ring.csv_lines import LineMeeting, Lines, Stretch
from dovetail._hosts.ring.processes import Done
from dovetail._hosts.ring.projection import Projection
from dovetail._hosts.ring.sockets import SocketLinks
from dovetail._hosts.ring.worker import ALGORITHMS, Worker

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection

    from dovetail._core.condition.values import Condition
    from dovetail._hosts.ring.csv_file import CsvRows
    from dovetail._hosts.ring.processes import CsvJoin

LOOPBACK = "127.0.0.1"
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
        pieces = ALGORITHMS[job.algorithm](worker_of(job, sides, keys), links)
        del sides, keys
        rows = _write(lines_of(job, pieces), part)
    except BaseException:
        links.abort()
        raise
    links.close()
    return Done(rows, max(0, _peak() - before))


def _typed(rows: CsvRows, keys: pa.Array, kind: pa.DataType, common: pa.DataType) -> pa.Array:
    """Keys in the type in which both files are compared."""
    return cast(keys if keys.type == kind else rows.keys(kind), common)


def worker_of(job: CsvJoin, sides: Sequence[CsvRows], keys: Sequence[pa.Array]) -> Worker:
    """What a process needs to know of the join.

    Where S stays, its rows are read where they lie; where it moves, they move as values of their own.
    """
    kept, rows = Kept.of(job.how, "left"), sides[1]
    ours, travelling = Projection("R", ("row",), ("p0",)), pa.table({"k0": keys[0], "p0": sides[0].texts()})
    if job.algorithm != "redistribute":
        stays = LineMeeting(_same_key(), ours, Projection("S", (), ()), kept, *job.nothing())
        return Worker(stays, travelling, Stretch(rows, keys[1]))
    stored = {"p0": rows.rests()} | ({"p1": rows.key_texts()} if job.how == "full" else {})
    moves = Meeting(_same_key(), ours, Projection("S", tuple(stored), tuple(stored)), kept)
    return Worker(moves, travelling, pa.table({"k0": keys[1], **stored}))


@cache
def _same_key() -> Condition:
    return read_condition("R.key = S.key", Inputs(Input("R", ("key",)), Input("S", ("key",))))


def lines_of(job: CsvJoin, pieces: Iterator[Any]) -> Iterator[Lines]:
    """The result as text: where S has moved, its rows are batches so far."""
    if job.algorithm != "redistribute":
        yield from pieces
        return
    no_ours, no_theirs = job.nothing()
    for batch in (some for piece in pieces for some in _pieces(piece)):
        ours, rests, *keys = batch.columns
        if ours.null_count:
            ours = pc.coalesce(ours, side_by_side(keys[0], no_ours))
        if rests.null_count:
            rests = pc.fill_null(rests, pa.scalar(no_theirs, rests.type))
        yield Lines(batch.num_rows, bytes_of(side_by_side(ours, rests)))


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """A batch in pieces whose text stays in the cache of a core."""
    for start in range(0, batch.num_rows, TEXT_ROWS):
        yield batch.slice(start, TEXT_ROWS)


def _write(pieces: Iterator[Lines], part: Path) -> int:
    """Append all pieces to a file that others append to as well; return how many rows they had."""
    rows = 0
    with part.open("ab", buffering=0) as file:
        for piece in pieces:
            _append(file.fileno(), piece.text)
            rows += piece.rows
    return rows


def _append(file: int, text: memoryview) -> None:
    """Write whole rows, between which nobody else writes."""
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        while text.nbytes:
            text = text[os.write(file, text) :]
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
