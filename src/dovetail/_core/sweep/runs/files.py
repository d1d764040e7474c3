"""A directory of runs. A run exists once the manifest names it; whatever else lies there is left over from a crash.

A run is an Arrow file: written under a name of its own, forced to disk, then named by a new manifest, which replaces
the old one in one step. A process that is killed at any moment leaves either the old or the new set of runs.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from math import ceil
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import pyarrow as pa

from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

PAGE = 4096
"""Bytes of a page. Accesses are counted in pages, as the document does; it does not say how large its pages are."""
MANIFEST = "manifest.json"


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
            self._file = pa.ipc.new_file(self._sink, self._schema)
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
        batch = waiting[0] if len(waiting) == 1 else pa.concat_batches(waiting)
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
            self._sink.flush()
            os.fsync(self._sink.fileno())
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
        return UsageError.cannot_write_run(str(self._path), error.strerror or str(error))


@dataclass
class RunDirectory:
    """Runs of one join, and how many pages were read and written for them."""

    path: Path
    read_pages: int = 0
    written_pages: int = 0
    made: int = 0
    runs: dict[str, RunFile] = field(default_factory=dict)
    _turn: Lock = field(default_factory=Lock, repr=False)

    @classmethod
    def opened(cls, path: Path) -> RunDirectory:
        """A directory that can be written to; what a killed process left half done is removed."""
        try:
            path.mkdir(parents=True, exist_ok=True)
            probe = path / ".probe"
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            raise UsageError.unwritable(str(path), error.strerror or str(error)) from None
        found = cls(path)
        known = found.listed()
        for left in path.glob("run-*"):
            if left.name not in known:
                left.unlink()
        found.made = max((int(name.split("-")[1].split(".")[0]) for name in known), default=-1) + 1
        return found

    @property
    def pages(self) -> int:
        """How many pages were read or written."""
        return self.read_pages + self.written_pages

    def listed(self) -> dict[str, Any]:
        """The runs that the manifest names."""
        manifest = self.path / MANIFEST
        found: dict[str, Any] = json.loads(manifest.read_text()) if manifest.exists() else {}
        return found

    def writer(self, schema: pa.Schema, chunk: int) -> RunWriter:
        """A new run, to be written in batches of `chunk` rows; it counts only once it is kept."""
        with self._turn:
            path = self.path / f"run-{self.made:06d}.arrow"
            self.made += 1
        return RunWriter(self, path, schema, chunk)

    def write(self, schema: pa.Schema, batch: pa.RecordBatch, chunk: int) -> RunFile:
        """Write a run at once."""
        with self.writer(schema, chunk) as writer:
            writer.write(batch)
        return writer.run

    def keep(self, new: Iterable[RunFile], instead_of: Iterable[RunFile] = ()) -> None:
        """Let new runs count, and old ones no more: the manifest changes in one step, then the old files go."""
        with self._turn:
            self._keep(new, instead_of)

    def _keep(self, new: Iterable[RunFile], instead_of: Iterable[RunFile]) -> None:
        old = [run.path.name for run in instead_of]
        kept = {name: run for name, run in self.runs.items() if name not in old} | {run.path.name: run for run in new}
        text = json.dumps({name: {"rows": run.rows, "bytes": run.size} for name, run in kept.items()})
        fresh = self.path / f"{MANIFEST}.new"
        try:
            with fresh.open("w") as sink:
                sink.write(text)
                sink.flush()
                os.fsync(sink.fileno())
            fresh.replace(self.path / MANIFEST)
        except OSError as error:
            raise UsageError.cannot_write_run(str(fresh), error.strerror or str(error)) from None
        self.runs = kept
        for name in old:
            (self.path / name).unlink(missing_ok=True)

    def read(self, run: RunFile) -> Iterator[pa.RecordBatch]:
        """The batches of a run, one at a time; each counts as the pages that it takes."""
        with pa.OSFile(str(run.path)) as source:
            reader = pa.ipc.open_file(source)
            for i in range(reader.num_record_batches):
                batch = reader.get_batch(i)
                self.read_pages += ceil(batch.nbytes / PAGE)
                yield batch

    def clear(self) -> None:
        """Remove all runs."""
        self.keep([], list(self.runs.values()))
        (self.path / MANIFEST).unlink(missing_ok=True)
