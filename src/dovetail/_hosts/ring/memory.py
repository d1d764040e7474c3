"""Workers in one process, a thread each: the same messages as between machines, counted."""

from __future__ import annotations

import itertools
import queue
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from dovetail._hosts.ring.wire import pack, unpack
from dovetail._hosts.ring.worker import ALGORITHMS, Worker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dovetail._core.emit.meeting import Meeting

    Queues = dict[tuple[int, int], queue.SimpleQueue[pa.Buffer | None]]


@dataclass
class Traffic:
    """How many tables went from one worker to another, and their bytes; by the worker that sent them."""

    messages: Counter[int] = field(default_factory=Counter)
    sent: Counter[int] = field(default_factory=Counter)

    @property
    def bytes(self) -> int:
        """All bytes that were sent."""
        return self.sent.total()


class MemoryLinks:
    """One worker's queues to and from all others; a table passes through bytes, as it would between machines."""

    def __init__(self, rank: int, size: int, queues: Queues, traffic: Traffic) -> None:
        self.rank, self.size = rank, size
        self._queues = queues
        self._traffic = traffic

    def send(self, to: int, table: pa.Table) -> None:
        """Hand a table over for another worker."""
        data = pack(table)
        self._traffic.messages[self.rank] += 1
        self._traffic.sent[self.rank] += data.size
        self._queues[self.rank, to].put(data)

    def receive(self, source: int) -> pa.Table:
        """The next table of another worker."""
        data = self._queues[source, self.rank].get()
        if data is None:
            raise BrokenPipeError
        return unpack(data)

    def fail(self) -> None:
        """Tell all others that no more will come."""
        for other in range(self.size):
            self._queues[self.rank, other].put(None)


def dealt(table: pa.Table, workers: int) -> list[pa.Table]:
    """A table's rows in turn to so many workers, a stretch each: as even as one by one, and far cheaper."""
    edges = [table.num_rows * i // workers for i in range(workers + 1)]
    return [table.slice(first, last - first) for first, last in itertools.pairwise(edges)]


def run(
    algorithm: str, meeting: Meeting, travelling: Sequence[pa.Table], stored: Sequence[pa.Table]
) -> tuple[list[list[pa.RecordBatch]], Traffic]:
    """Let as many workers as there are parts join them; the rows that each gives, and what they sent."""
    ranks, traffic = range(len(stored)), Traffic()
    queues = {(one, other): queue.SimpleQueue[pa.Buffer | None]() for one in ranks for other in ranks}
    workers = [Worker(meeting, *parts) for parts in zip(travelling, stored, strict=True)]

    def work(rank: int) -> list[pa.RecordBatch]:
        links = MemoryLinks(rank, len(ranks), queues, traffic)
        try:
            return list(ALGORITHMS[algorithm](workers[rank], links))
        except BaseException:
            links.fail()
            raise

    with ThreadPoolExecutor(len(workers)) as pool:
        working = [pool.submit(work, rank) for rank in ranks]
    errors = [own.exception() for own in working]
    for error in sorted((own for own in errors if own is not None), key=lambda own: isinstance(own, BrokenPipeError)):
        raise error  # the cause, not those whom it left waiting
    return [own.result() for own in working], traffic
