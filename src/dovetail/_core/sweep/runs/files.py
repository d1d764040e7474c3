"""The runs of one join: Arrow streams in a folder of their own, which nobody else reads and which goes with the join.

The folder is locked while its process lives, so that the next join within the same directory can tell what a killed
process has left there, and removes it. A run that could not be written to its end leaves no file.
"""

from __future__ import annotations

import fcntl
import shutil
import tempfile
import weakref
from contextlib import suppress
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING, BinaryIO, Self

import pyarrow as pa

from dovetail._core.columns.dictionaries import one_batch
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGE = 4096
"""Bytes of a page. Accesses are counted in pages, as the document does; it does not say how large its pages are."""
FOLDER = "dovetail-runs-"
LOCK = "lock"


@dataclass(frozen=True, slots=True)
class RunFile:
    """A run on disk: its file, how many rows it has, and how many bytes."""

    path: Path
    rows: int
    size: int


class RunWriter:
    """A run on its way to disk; one that fails, or whose rows could not be made, leaves no file."""

    def __init__(self, directory: RunDirectory, path: Path, schema: pa.Schema, chunk: int) -> None:
        self._directory, self._path, self._schema, self._chunk = directory, path, schema, chunk
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self._sink: BinaryIO | None = None
        self.run = RunFile(path, 0, 0)

    def __enter__(self) -> Self:
        try:
            self._sink = self._path.open("wb")
            self._file = pa.ipc.new_stream(self._sink, self._schema)  # pieces have dictionaries of their own
        except OSError as error:
            raise self._failed(error) from None
        return self

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        self._waiting.append(batch)
        self._rows += batch.num_rows
        if sum(own.num_rows for own in self._waiting) >= self._chunk:
            self._flush()

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        batch = waiting[0] if len(waiting) == 1 else one_batch(waiting)
        try:
            for start in range(0, batch.num_rows, self._chunk):
                self._file.write_batch(batch.slice(start, self._chunk))
        except OSError as error:
            raise self._failed(error) from None

    def __exit__(self, kind: object, *_: object) -> None:
        assert self._sink is not None
        if kind is not None:
            with suppress(OSError):
                self._sink.close()
            self._path.unlink(missing_ok=True)
            return
        try:
            self._flush()
            self._file.close()
            self._sink.close()
        except OSError as error:
            raise self._failed(error) from None
        size = self._path.stat().st_size
        self._directory.written_pages += ceil(size / PAGE)
        self.run = RunFile(self._path, self._rows, size)

    def _failed(self, error: OSError) -> UsageError:
        with suppress(OSError):  # what the disk refused once it may refuse again
            if self._sink is not None:
                self._sink.close()
        self._path.unlink(missing_ok=True)
        return UsageError.unwritable_run(str(self._path), error.strerror or str(error))


@dataclass
class RunDirectory:
    """Runs of one join, and how many pages were read and written for them."""

    path: Path
    read_pages: int = 0
    written_pages: int = 0
    _made: int = 0
    _turn: Lock = field(default_factory=Lock, repr=False)

    @classmethod
    def within(cls, parent: Path) -> RunDirectory:
        """A new folder within a directory; it is gone when nobody holds it any more."""
        try:
            parent.mkdir(parents=True, exist_ok=True)
            _remove_forsaken(parent)
            path, lock = _locked_folder(parent)
        except OSError as error:
            raise UsageError.unwritable_directory(str(parent), error.strerror or str(error)) from None
        found = cls(path)
        weakref.finalize(found, _remove, path, lock)
        return found

    @property
    def pages(self) -> int:
        """How many pages were read or written."""
        return self.read_pages + self.written_pages

    def writer(self, schema: pa.Schema, chunk: int) -> RunWriter:
        """A new run, to be written in batches of `chunk` rows."""
        with self._turn:
            path = self.path / f"run-{self._made:06d}.arrow"
            self._made += 1
        return RunWriter(self, path, schema, chunk)

    def write(self, schema: pa.Schema, batch: pa.RecordBatch, chunk: int) -> RunFile:
        """Write a run at once."""
        with self.writer(schema, chunk) as writer:
            writer.write(batch)
        return writer.run

    def read(self, run: RunFile) -> Iterator[pa.RecordBatch]:
        """The batches of a run, one at a time; each counts as the pages that it takes."""
        with pa.OSFile(str(run.path)) as source:
            for batch in pa.ipc.open_stream(source):
                self.read_pages += ceil(batch.nbytes / PAGE)
                yield batch

    def remove(self, runs: Iterable[RunFile]) -> None:
        """Give up runs whose rows stand in others by now."""
        for run in runs:
            run.path.unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove the folder with all runs."""
        shutil.rmtree(self.path, ignore_errors=True)


def _locked_folder(parent: Path) -> tuple[Path, IO[bytes]]:
    """A new folder and the lock in it, which was taken before the folder got the name that others look for."""
    fresh = Path(tempfile.mkdtemp(prefix=f".{FOLDER}", dir=parent))
    lock = (fresh / LOCK).open("wb")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return fresh.rename(parent / fresh.name.removeprefix(".")), lock


def _remove_forsaken(parent: Path) -> None:
    """Remove the folders of processes that were killed."""
    for folder in parent.glob(f"{FOLDER}*"):
        with suppress(OSError), (folder / LOCK).open("rb") as lock:  # one that is taken belongs to somebody
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


def _remove(folder: Path, lock: IO[bytes]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock.close()
