"""Results of one step in the order of their validity; on disk, in runs of their own, when they outgrow memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from dovetail._core.emit.outbox import Outbox, Results
from dovetail._core.sweep.runs.merge import Source, slabs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dovetail._core.sweep.runs.files import RunDirectory, RunFile

START, END = "dovetail start", "dovetail end"
LEAST = 16 << 20
"""Bytes of results that are kept in memory in any case: for less, a file is not worth it."""


@dataclass
class SortedResults:
    """Results that are collected up to a limit of bytes, then sorted and written."""

    schema: pa.Schema
    directory: RunDirectory
    memory: int
    outbox: Outbox = field(default_factory=Outbox)
    size: int = 0
    runs: list[RunFile] = field(default_factory=list)

    def add(self, results: Results) -> None:
        """Collect results."""
        self.outbox.add(results)
        self.size += sum(own.nbytes for own in results.columns) + results.start.nbytes + results.end.nbytes
        if self.size > max(self.memory, LEAST):
            self._spill()

    def _spill(self) -> None:
        self.size = 0
        for found in self.outbox.release(None):
            batch = pa.RecordBatch.from_arrays(
                [*found.columns, pa.array(found.start), pa.array(found.end)], schema=self._schema
            )
            self.runs.append(self.directory.write(self._schema, batch, 1 << 12))

    @property
    def _schema(self) -> pa.Schema:
        return pa.schema([*self.schema, (START, pa.int64()), (END, pa.int64())])

    def read(self) -> Iterator[Results]:
        """Everything in order; the runs are gone after."""
        if not self.runs:
            yield from self.outbox.release(None)
            return
        self._spill()
        for parts, _ in slabs([Source(self.directory.read(run), START) for run in self.runs]):
            for part in parts:
                if part is not None:
                    start, end = (part.column(name).to_numpy(zero_copy_only=False) for name in (START, END))
                    self.outbox.add(Results(start, end, (), tuple(part.columns[:-2])))
            yield from self.outbox.release(None)
        self.directory.remove(self.runs)
