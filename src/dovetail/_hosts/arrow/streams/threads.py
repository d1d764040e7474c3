"""Two threads for a progressive join: one sorts, one merges, and the merge makes way for the sort.

The caller's own thread reads the inputs. Results go through a queue of bounded length, so that no thread runs ahead of
the reader; an exception of either thread is the caller's.
"""

from __future__ import annotations

import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future

    import pyarrow as pa

    from dovetail._hosts.arrow.streams.external import Group
    from dovetail._hosts.arrow.streams.progressive import Lists, ProgressiveOperator

AHEAD = 2
"""How many batches of results wait for the reader, at most."""
PAUSE = 0.01
"""Seconds between two looks at whether a thread is done, while no results come."""


class Workers:
    """The sorting and the merging thread of one operator."""

    def __init__(self, operator: ProgressiveOperator) -> None:
        self._operator = operator
        self._results: queue.Queue[pa.RecordBatch] = queue.Queue(AHEAD)
        self._pools = [ThreadPoolExecutor(1, thread_name_prefix=name) for name in ("dovetail-sort", "dovetail-merge")]
        self._free = threading.Event()
        self._free.set()
        self._stopped = False
        self._sorting: Future[None] | None = None
        self._merging: Future[None] | None = None

    def sort(self, lists: Lists) -> Iterator[pa.RecordBatch]:
        """Hand lists to the sorter, once it is done with the ones before; yield what has been found meanwhile."""
        yield from self._until_done(self._sorting)
        self._free.clear()
        self._sorting = self._pools[0].submit(self._sort, lists)
        yield from self._ready()

    def merge_if_due(self, *, last: bool = False) -> bool:
        """Start a merge, unless one is running or none is due."""
        if self._merging is not None and not self._merging.done():
            return True
        if self._merging is not None:
            self._merging.result()
        groups = self._operator.due(busy=self._sorting is not None and not self._sorting.done(), last=last)
        if groups:
            self._merging = self._pools[1].submit(self._merge, groups)
        return bool(groups)

    def finish(self) -> Iterator[pa.RecordBatch]:
        """Merge until all rows have met; yield everything that is left."""
        yield from self._until_done(self._sorting)
        yield from self._until_done(self._merging)
        while self.merge_if_due(last=True):
            yield from self._until_done(self._merging)
        yield from self._ready()

    def stop(self) -> None:
        """Let both threads end, whether they are done or not."""
        self._stopped = True
        self._free.set()
        for pool in self._pools:
            pool.shutdown(wait=True, cancel_futures=True)

    def _sort(self, lists: Lists) -> None:
        try:
            self._put(self._operator.sort(lists))
        finally:
            self._free.set()

    def _merge(self, groups: list[Group]) -> None:
        self._put(self._operator.merge(groups), waits=True)

    def _put(self, found: Iterator[pa.RecordBatch], *, waits: bool = False) -> None:
        """Pass results on; a merge waits between two of them while there is something to sort."""
        for batch in found:
            while not self._stopped:
                try:
                    self._results.put(batch, timeout=PAUSE)
                    break
                except queue.Full:
                    continue
            if self._stopped:
                return
            if waits:
                self._free.wait()

    def _until_done(self, work: Future[None] | None) -> Iterator[pa.RecordBatch]:
        while work is not None and not work.done():
            try:
                yield self._results.get(timeout=PAUSE)
            except queue.Empty:
                continue
        yield from self._ready()
        if work is not None:
            work.result()

    def _ready(self) -> Iterator[pa.RecordBatch]:
        while True:
            try:
                yield self._results.get_nowait()
            except queue.Empty:
                return
