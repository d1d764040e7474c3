"""What each worker does: the four outer joins by what moves, from the place of one worker among N.

Meaning      the rows of the join, each given by exactly one worker.
Needs        both sides dealt to the workers in any way; every worker runs the same algorithm over the same links.
How          soja   R parts go around the ring, S parts stay        R (N - 1)
             roja   both go to the worker of their key's hash       (R + S) (N - 1) / N
             doja   R goes to all; so do its unmatched rows         R (N - 1), and rows unmatched somewhere
             der    likewise, but only their numbers                R (N - 1), and as many numbers
Edges        rows that cannot match (NULL keys) stay where they are: they never crowd one worker. N = 1 sends nothing.
State        soja: a part of S, in the order of its keys, and two parts of R. The others hold more, as the figures tell.
Worst case   all rows of one key: only roja brings them to one worker.
Source       the third document, whose ring is one of processes and queues; DOJA and DER: Xu and Kostamaa (2010).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from dovetail._core.emit.meeting import Part
from dovetail._core.sweep.key_index import side_hashes
from dovetail._hosts.ring.wire import with_marks, without_marks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dovetail._core.emit.meeting import Meeting, Reader, Stored

ID = "dovetail id"


class Links(Protocol):
    """A worker's place among all, and its way to the others.

    `send` waits only while an earlier table to the same worker has not left. In a ring this cannot go round: a worker
    that waits to send its s-th table waits for a neighbour that has not received the one before, so that one waits
    with a lower s, and a first table never waits.
    """

    rank: int
    size: int

    def send(self, to: int, table: pa.Table) -> None:
        """Hand a table over for another worker."""

    def receive(self, source: int) -> pa.Table:
        """The next table of another worker."""


@dataclass
class Worker:
    """One worker's share of the work: its part of the side that travels, and of the side that stays.

    Only the meeting knows what the latter is, and what the result comes in: batches of rows, or lines of text.
    """

    meeting: Meeting
    travelling: pa.Table
    stored: Any

    def take_stored(self) -> Any:
        """Hand over the part that stays, once: it need not lie here beside its copy in the order of its keys."""
        assert self.stored is not None
        part, self.stored = self.stored, None
        return part


def soja(own: Worker, links: Links) -> Iterator[Any]:
    """Pass parts of the travelling side around a ring; the stored side stays."""
    stored = own.meeting.stored_part(own.take_stored())
    part = Part.of(own.travelling)
    yield from stored.meet(part)
    for _ in range(links.size - 1):
        links.send((links.rank + 1) % links.size, with_marks(part))
        part = without_marks(links.receive((links.rank - 1) % links.size))
        yield from stored.meet(part)
    yield from _left_over(own, part, stored)


def roja(own: Worker, links: Links) -> Iterator[Any]:
    """Bring the rows of either side to the worker of their key, then join them there."""
    safe = [key.null_safe for key in own.meeting.condition.keys]
    sides = ((own.travelling, own.meeting.travelling), (own.take_stored(), own.meeting.stored))
    travelling, stored = (_redistributed(table, reader, safe, links) for table, reader in sides)
    yield from _joined(own, Part.of(travelling), own.meeting.stored_part(stored))


def doja(own: Worker, links: Links) -> Iterator[Any]:
    """Bring the travelling side to all; its unmatched rows go back to where they came from, whole."""
    yield from _replicated(own, links, lambda table: table)


def der(own: Worker, links: Links) -> Iterator[Any]:
    """Bring the travelling side to all; of its unmatched rows only the numbers go back."""
    yield from _replicated(own, links, lambda table: table.select([ID]))


ALGORITHMS: dict[str, Callable[[Worker, Links], Iterator[Any]]] = {
    "ring": soja,
    "redistribute": roja,
    "replicate": doja,
    "der": der,
}


def _joined(own: Worker, part: Part, stored: Stored) -> Iterator[Any]:
    yield from stored.meet(part)
    yield from _left_over(own, part, stored)


def _left_over(own: Worker, part: Part, stored: Stored) -> Iterator[Any]:
    yield from stored.left_over_of(part)
    yield from stored.left_over(own.travelling.slice(0, 0))


def _redistributed(table: pa.Table, reader: Reader, safe: list[bool], links: Links) -> pa.Table:
    """The rows of all workers whose key belongs here, and our own that cannot match."""
    rows, words = side_hashes(reader.keys(table), safe)
    owner = np.full(table.num_rows, links.rank)
    owner[rows] = words.view(np.uint64) % np.uint64(links.size)
    shares = [table.take(pa.array(np.flatnonzero(owner == rank))) for rank in range(links.size)]
    return pa.concat_tables(_exchanged(shares, links))


def _exchanged(shares: list[pa.Table], links: Links) -> list[pa.Table]:
    """Give every other worker its share; take theirs."""
    others = [rank for rank in range(links.size) if rank != links.rank]
    for rank in others:
        links.send(rank, shares[rank])
    return [shares[links.rank], *(links.receive(rank) for rank in others)]


def _replicated(own: Worker, links: Links, sent: Callable[[pa.Table], pa.Table]) -> Iterator[Any]:
    """Join all travelling rows with the stored part; settle with the others which of them are unmatched everywhere."""
    parts = _exchanged([own.travelling] * links.size, links)
    everyone = [links.rank, *(rank for rank in range(links.size) if rank != links.rank)]
    stored, part = own.meeting.stored_part(own.take_stored()), Part.of(pa.concat_tables(parts))
    yield from stored.meet(part)
    yield from stored.left_over(own.travelling.slice(0, 0))
    if own.meeting.kept.travelling is None:
        return
    ends = np.cumsum([table.num_rows for table in parts])
    shares: list[pa.Table] = [own.travelling] * links.size
    for rank, table, end in zip(everyone, parts, ends, strict=True):
        unmatched = pa.array(np.flatnonzero(~part.marked[end - table.num_rows : end]))
        shares[rank] = sent(table.take(unmatched).append_column(ID, unmatched))
    told = np.zeros(own.travelling.num_rows, np.int64)
    for table in _exchanged(shares, links):
        told[table.column(ID).to_numpy()] += 1
    yield from stored.left_over_of(Part(own.travelling, told < links.size))
