"""What joins with runs on disk share: rows collected up to a limit, written as groups of runs, merged and joined."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from dovetail._core.columns.dictionaries import lean_batch, one_batch
from dovetail._core.kernels.threads import together as at_once
from dovetail._core.sweep.runs.merge import Source, slabs
from dovetail._hosts.arrow.join import threads
from dovetail._hosts.arrow.streams.rows_on_disk import FROM, in_order
from dovetail._hosts.arrow.streams.value_join import TAG, together
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from dovetail._core.sweep.runs.files import RunDirectory, RunFile
    from dovetail._core.sweep.runs.strategy import Strategy
    from dovetail._core.sweep.stream_join import Combined
    from dovetail._hosts.arrow.streams.linked import Linked
    from dovetail._hosts.arrow.streams.rows_on_disk import KeyedRows
    from dovetail._hosts.arrow.streams.value_join import ValueJoin

SLAB = 1 << 14
"""Rows of an input that are joined at once, where they are in memory."""
LEAST_CHUNK = 2048
"""Rows of a batch in a run, at least: fewer cost more to find than to read."""


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that were written in one step, one for each input; the rows in them have met, or been sorted, together.

    `reached`: the instant before which all rows of all inputs are in this group or in one before it.
    """

    runs: tuple[RunFile, ...]
    reached: int = 0

    @property
    def rows(self) -> int:
        """How many rows the runs have."""
        return sum(run.rows for run in self.runs)


@dataclass
class External:
    """Rows in memory, and the directory of the runs; of memory, a merge's batches take one part in `share`."""

    linked: Linked
    inputs: list[KeyedRows]
    memory: int
    directory: RunDirectory
    strategy: Strategy
    share: int = 2
    lists: list[list[pa.RecordBatch]] = field(init=False)
    size: int = 0

    def __post_init__(self) -> None:
        """Begin with empty lists."""
        self.lists = [[] for _ in self.inputs]

    def add(self, number: int, rows: pa.RecordBatch) -> None:
        """Collect rows of an input."""
        rows = lean_batch(rows)
        if 2 * rows.nbytes > self.memory:
            raise UsageError.too_little_memory(self.memory, rows.nbytes)
        self.lists[number].append(rows)
        self.size += rows.nbytes

    def sorted(self, lists: Sequence[list[pa.RecordBatch]]) -> list[pa.RecordBatch]:
        """The rows of each list in the order of values."""
        calls = [partial(_sorted, own or [inputs.nothing]) for own, inputs in zip(lists, self.inputs, strict=True)]
        return at_once(threads(), calls)

    def forget(self) -> None:
        """Begin new lists."""
        self.lists, self.size = [[] for _ in self.inputs], 0

    def take_back(self, lists: Sequence[list[pa.RecordBatch]]) -> None:
        """Collect again what could not be written."""
        self.lists = [[*old, *new] for old, new in zip(lists, self.lists, strict=True)]
        self.size += sum(batch.nbytes for own in lists for batch in own)

    def chunk(self, rows: int, size: int) -> int:
        """How many rows a batch of a run may have, so that a merge of as many runs as allowed fits its share."""
        share = self.memory // (self.share * self.strategy.fan_in * len(self.inputs))
        return max(LEAST_CHUNK, share * rows // max(1, size))

    def written(self, batches: Sequence[pa.RecordBatch]) -> tuple[RunFile, ...]:
        """Write sorted lists as runs: all of them, or none."""
        made: list[RunFile] = []
        try:
            for own, batch in zip(self.inputs, batches, strict=True):
                made.append(self.directory.write(own.run_schema, batch, self.chunk(batch.num_rows, batch.nbytes)))
        except UsageError:
            self.directory.remove(made)
            raise
        return tuple(made)

    def joined(self, batches: Sequence[pa.RecordBatch], join: ValueJoin) -> Iterator[Combined]:
        """Join sorted lists with each other, slab by slab: the areas of a join take several times what its rows do."""
        sources = [Source(_cut(batch), FROM) for batch in batches]
        for parts, before in slabs(sources):
            yield from join.advance(parts, before)

    def merged(
        self,
        groups: Sequence[Group],
        join: ValueJoin | None,
        keeps: Callable[[pa.RecordBatch], pa.RecordBatch],
        made: list[RunFile],
    ) -> Iterator[Combined]:
        """Merge groups into one, whose runs are put into `made`; yield the combinations that a join finds on the way.

        `keeps` thins the rows that are written on.
        """
        sources = [
            [Source(self.directory.read(group.runs[number]), FROM, tag) for tag, group in enumerate(groups)]
            for number in range(len(self.inputs))
        ]
        flat = [source for own in sources for source in own]
        size, rows = (sum(getattr(run, name) for group in groups for run in group.runs) for name in ("size", "rows"))
        with ExitStack() as stack:
            writers = [
                stack.enter_context(self.directory.writer(own.run_schema, self.chunk(rows, size)))
                for own in self.inputs
            ]
            for parts, before in slabs(flat):
                slab = self._by_input(parts, flat)
                for writer, batch in zip(writers, slab, strict=True):
                    if batch is not None:
                        writer.write(keeps(batch.drop_columns([TAG])))
                if join is not None:
                    yield from join.advance(slab, before)
        made += [writer.run for writer in writers]

    def _by_input(
        self, parts: Sequence[pa.RecordBatch | None], sources: Sequence[Source]
    ) -> list[pa.RecordBatch | None]:
        """What the sources of each input, which stand side by side, have given, as one batch that tells them apart."""
        tagged = [(part, source.tag) for part, source in zip(parts, sources, strict=True)]
        width = len(sources) // len(self.inputs)
        return [together(tagged[i : i + width]) for i in range(0, len(tagged), width)]


def _sorted(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    return in_order(one_batch(batches))


def _cut(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for at in range(0, batch.num_rows, SLAB):
        yield batch.slice(at, SLAB)
