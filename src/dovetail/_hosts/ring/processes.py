"""The ring as processes on one machine: two CSV files joined on their first column, into a third.

Every process reads its own stretch of either file and writes its own rows to the one result, which is not there under
its name before it is whole.
"""

from __future__ import annotations

import multiprocessing
import secrets
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from dovetail._core.columns.coerce import comparison_type
from dovetail._core.columns.types import STRING, sql_name
from dovetail._files import refuse_no_file
from dovetail._hosts.ring.csv_file import common_kind
from dovetail._hosts.ring.sockets import PATIENCE
from dovetail.errors import DovetailError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from dovetail._core.plan.query import How
    from dovetail._hosts.ring.csv_file import CsvFile


@dataclass(frozen=True)
class CsvJoin:
    """A join of two files: R, whose rows travel and are kept, and S, which stays."""

    travelling: CsvFile
    stored: CsvFile
    how: How
    algorithm: str
    workers: int
    patience: float = PATIENCE

    def header(self) -> str:
        """The columns of the result: those of R, then those of S without the key; a name that clashes gets an `S_`."""
        ours = self.travelling.columns
        theirs = [f"S_{name}" if name in ours else name for name in self.stored.columns[1:]]
        return ",".join(_quoted(name) for name in (*ours, *theirs)) + "\n"

    def nothing(self) -> tuple[bytes, bytes]:
        """What stands in place of R's fields behind the key where there is no row of R, and of S's likewise."""
        return b"," * (len(self.travelling.columns) - 1), b"," * (len(self.stored.columns) - 1) + b"\n"


@dataclass(frozen=True)
class Report:
    """What a join of files took: its rows, seconds, and the most bytes that all its workers held for it."""

    rows: int
    seconds: float
    starting: float
    peak: int


@dataclass(frozen=True)
class Done:
    """What one process gave, and the most bytes that it held for it."""

    rows: int
    peak: int


def join_files(job: CsvJoin, target: Path) -> Report:
    """Join two files into a third, by as many processes as asked for."""
    refuse_no_file(target)
    try:
        return _joined(job, target)
    except OSError as error:
        raise UsageError.unwritable_file(target, error.strerror or str(error)) from None


def _joined(job: CsvJoin, target: Path) -> Report:
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as folder:
        part = Path(folder, "result")
        part.write_text(job.header(), encoding="utf-8")
        with _Crew(job, part) as crew:
            started = time.perf_counter()
            done = crew.run()
            _put(part, target)  # while the processes end
    ended = time.perf_counter()
    return Report(sum(own.rows for own in done), ended - started, started - begun, sum(own.peak for own in done))


def _put(part: Path, target: Path) -> None:
    """Give a whole result its name; what had it goes with the folder of the part.

    A file that is renamed over another is written to the disk there and then by some file systems, which takes longer
    than the join.
    """
    with suppress(FileNotFoundError):
        target.replace(part.with_name("before"))
    part.replace(target)


class _Crew:
    """The processes of one join; none outlives it."""

    def __init__(self, job: CsvJoin, part: Path) -> None:
        self._job = job
        self._part = part
        self._processes: list[BaseProcess] = []
        self._lines: list[Connection[Any, Any]] = []

    def __enter__(self) -> Self:
        method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
        context: Any = multiprocessing.get_context(method)
        if method == "forkserver":
            context.set_forkserver_preload(["dovetail._hosts.ring.warm"])
        secret = secrets.token_bytes(32)
        try:
            for rank in range(self._job.workers):
                ours, theirs = context.Pipe()
                process = context.Process(target=_work, args=(rank, self._job, self._part, secret, theirs), daemon=True)
                process.start()
                theirs.close()
                self._processes.append(process)
                self._lines.append(ours)
            self._heard()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()  # one that was stopped would not hear of anything less
        for process in self._processes:
            process.join()
        for line in self._lines:
            line.close()

    def run(self) -> list[Done]:
        """Have the files read, settle on the type of the key, and have them joined."""
        job = self._job
        stretches = [own.stretches(job.workers) for own in (job.travelling, job.stored)]
        self._tell(zip(*stretches, strict=True))
        loaded = self._heard()
        kinds = tuple(common_kind([own[1][side] for own in loaded]) for side in (0, 1))
        common = comparison_type(*kinds)
        keys = f"R.{job.travelling.columns[0]}", f"S.{job.stored.columns[0]}"
        if common is None:
            raise UsageError.cannot_compare(" = ".join(keys), *map(sql_name, kinds))
        if common != STRING and STRING in kinds:
            raise UsageError.texts_beside(keys[kinds.index(STRING)], keys[1 - kinds.index(STRING)], sql_name(common))
        places = [own[0] for own in loaded]
        self._tell([(places, kinds, common)] * job.workers)
        return self._heard()

    def _tell(self, said: Iterable[object]) -> None:
        for line, own in zip(self._lines, said, strict=True):
            with suppress(OSError):  # one that has ended is noticed when nothing is heard of it
                line.send(own)

    def _heard(self) -> list[Any]:
        """One answer of every process; the first failure ends the join."""
        answers: dict[int, Any] = {}
        while len(answers) < len(self._lines):
            waiting = {self._lines[rank]: rank for rank in range(len(self._lines)) if rank not in answers}
            for line in wait(list(waiting)):
                rank = waiting[line]  # type: ignore[index]
                answers[rank] = self._answer(rank)
        return [answers[rank] for rank in range(len(self._lines))]

    def _answer(self, rank: int) -> Any:
        try:
            answer = self._lines[rank].recv()
        except (EOFError, OSError):
            self._processes[rank].join()
            raise UsageError.worker_failed(rank, f"it ended with code {self._processes[rank].exitcode}") from None
        if isinstance(answer, DovetailError):
            raise answer
        return answer


def _work(rank: int, job: CsvJoin, part: Path, secret: bytes, line: Connection[Any, Any]) -> None:
    """One process: load, agree, join, report."""
    from dovetail._hosts.ring.csv_worker import joined  # noqa: PLC0415 -- loads what only the workers need
    from dovetail._hosts.ring.warm import join_some  # noqa: PLC0415

    join_some("{}")  # a fork maps the libraries when it first uses them, which is no memory for rows
    try:
        line.send(None)
        line.send(joined(rank, job, part, secret, line))
    except DovetailError as error:
        line.send(error)
    except (OSError, pa.ArrowException, MemoryError) as error:
        line.send(UsageError.worker_failed(rank, " ".join(str(error).split()) or type(error).__name__))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if set(name) & set(',"\n') else name
