"""The join of rows in the order of values: the merge step of the progressive joins, in memory and over runs.

Meaning      the combinations that satisfy all links and tests and whose validities overlap; of `apart` rows only those
             whose rows come from different runs.
Needs        slabs of all inputs in the order of the axis of values.
How          the areas know the axis alone, or, where keys must be equal, keys and time; all else is tested on the
             hidden columns, pair by pair.
Edges        rows that cover one point of the axis come in one slab.
State        the rows that reach beyond the slab: those whose interval on the axis has not ended.
Worst case   one point of the axis that all rows cover.
Source       second document, sections 3.1 and 3.2 (multiple merge).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.columns.dictionaries import one_batch
from dovetail._core.emit.store import Store
from dovetail._core.sweep.stream_join import Arrived, StreamJoin
from dovetail._hosts.arrow.streams.remembered import passes, room
from dovetail._hosts.arrow.streams.rows_on_disk import FROM, SINCE, TO, UNTIL, in_order, key_names, value_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from dovetail._core.sweep.links import BroughtKeys, Link
    from dovetail._core.sweep.stream_join import Combined
    from dovetail._hosts.arrow.streams.linked import Linked
    from dovetail._hosts.arrow.streams.rows_on_disk import KeyedRows

    Keys = NDArray[np.int64]

TAG = "dovetail tag"


class ValueJoin:
    """A join in the order of values; `apart`: rows of one tag have met before."""

    def __init__(self, linked: Linked, inputs: Sequence[KeyedRows], *, apart: bool) -> None:
        self.linked = linked
        self.inputs = inputs
        self.apart = apart
        self.names = [[*own.hidden, TAG] for own in inputs]
        self.keyed = all(own.has_keys for own in linked.links)
        self._begin()

    def _begin(self) -> None:
        """Remember nothing."""
        self.stores = [Store(own.schema) for own in self.inputs]
        self.join = StreamJoin(len(self.inputs), self.linked.links if self.keyed else (), self)
        self.counted = [0] * len(self.inputs)

    def advance(self, slab: Sequence[pa.RecordBatch | None], before: int | None) -> Iterator[Combined]:
        """Join all rows below a point of the axis; those that end there are forgotten after.

        Rows of equal keys are all in one slab: within it, time is the better order to find them by.
        """
        if self.keyed:
            self._begin()
        arrived = [self._arrived(i, batch) for i, batch in enumerate(slab)]
        yield from self.join.in_any_order(arrived, lambda found: found)
        if before is not None and not self.keyed:
            for number, store in enumerate(self.stores):
                self.join.expire(number, before)
                store.expire(before)

    def _arrived(self, number: int, batch: pa.RecordBatch | None) -> Arrived:
        if batch is None:
            batch = self.inputs[number].nothing
        if self.keyed:
            batch = in_order(batch, SINCE)
        numbers = np.arange(self.counted[number], self.counted[number] + batch.num_rows)
        self.counted[number] += batch.num_rows
        columns = {name: _numbers(batch, name) for name in self.names[number] if name in batch.schema.names}
        columns.setdefault(TAG, np.zeros(batch.num_rows, np.int64))
        hidden: dict[int, BroughtKeys] = {i: ((), (columns[name],)) for i, name in enumerate(self.names[number])}
        arrived = Arrived(numbers, columns[FROM], columns[TO], hidden)
        if batch.num_rows:
            self.stores[number].add(arrived, batch.select(self.inputs[number].schema.names))
        if not self.keyed:
            return arrived
        links = {
            link: (
                tuple(columns[name] for name in key_names(own)),
                tuple(columns[name] for name in value_names(own)),
            )
            for (owner, link), own in self.linked.brought.items()
            if owner == number
        }
        return Arrived(numbers, columns[SINCE], columns[UNTIL], links)

    def hidden(self, number: int, name: str, rows: Keys) -> Keys:
        """A hidden column of some rows."""
        return self.stores[number].brought(self.names[number].index(name), rows)[1][0]

    def brought(self, number: int, link: int, rows: Keys) -> BroughtKeys:
        """The keys and values that rows of an input bring to a link."""
        own = self.linked.brought[number, link]
        keys, values = ([self.hidden(number, name, rows) for name in names(own)] for names in (key_names, value_names))
        return tuple(keys), tuple(values)

    def asks(self, link: Link | None) -> bool:
        """The axis never tells all; keys and time do, if nothing else is asked."""
        others = any(own is not link for own in self.linked.links)
        return not self.keyed or self.apart or others or bool(self.linked.tests)

    def most(self) -> int:
        """Of how many combinations the columns can be taken at once."""
        return room(self.stores)

    def holds(self, bound: dict[int, Keys], new: int, link: Link | None) -> NDArray[np.bool_]:
        """Whether an input's rows go with those that are bound already."""
        holds = np.ones(bound[new].size, np.bool_)
        for other in bound:
            if other != new:
                holds &= self._valid_together(bound, other, new)
        for own in self.linked.links:
            if own is not link and new in (own.one, own.other) and {own.one, own.other} <= set(bound):
                holds &= self._linked(bound, own)
        for test in self.linked.tests:
            if new in test.reads and test.reads <= set(bound):
                some = {i: own[holds] for i, own in bound.items()}
                holds[holds] = passes(test, self.linked.names, self.stores, some)
        return holds

    def _valid_together(self, bound: dict[int, Keys], one: int, other: int) -> NDArray[np.bool_]:
        pairs = [(number, bound[number]) for number in (one, other)]
        since, until = ([self.hidden(number, name, rows) for number, rows in pairs] for name in (SINCE, UNTIL))
        holds: NDArray[np.bool_] = (since[0] < until[1]) & (since[1] < until[0])
        if self.apart:
            tags = [self.hidden(number, TAG, rows) for number, rows in pairs]
            holds &= tags[0] != tags[1]
        return holds

    def _linked(self, bound: dict[int, Keys], link: Link) -> NDArray[np.bool_]:
        """Test a link by its order keys."""
        number = self.linked.links.index(link)
        return link.holds(*(self.brought(end, number, bound[end]) for end in (link.one, link.other)))


def _numbers(batch: pa.RecordBatch, name: str) -> Keys:
    found: Keys = batch.column(name).to_numpy(zero_copy_only=False)
    return found


def together(parts: Sequence[tuple[pa.RecordBatch | None, int]]) -> pa.RecordBatch | None:
    """Rows of several runs of one input in one order, with the tag of their run."""
    found = [own.append_column(TAG, pa.array(np.full(own.num_rows, tag))) for own, tag in parts if own is not None]
    if not found:
        return None
    return found[0] if len(found) == 1 else in_order(one_batch(found))
