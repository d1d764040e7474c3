"""Rows as runs hold them: the input's columns, what the row covers of the axis of values, its validity, and its keys.

The hidden columns are order keys, so that a run can be merged and joined without evaluating anything again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from dovetail._core.columns.table import Columns
from dovetail._core.emit.rows import taken_rows
from dovetail._core.kernels.sort import ascends, sort_with_order
from dovetail._core.sweep.value_axis import covered, order_of
from dovetail._hosts.arrow.plain import no_rows
from dovetail.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dovetail._hosts.arrow.streams.linked import Brought, Linked

    Keys = NDArray[np.int64]

FROM, TO, SINCE, UNTIL = "dovetail from", "dovetail to", "dovetail since", "dovetail until"


@dataclass(frozen=True, slots=True)
class KeyedRows:
    """How the rows of one input become rows of a run."""

    linked: Linked
    number: int
    schema: pa.Schema

    @property
    def hidden(self) -> list[str]:
        """The names of the hidden columns."""
        brought = [own for (owner, _), own in self.linked.brought.items() if owner == self.number]
        names = [name for own in brought for name in (*key_names(own), *value_names(own))]
        return list(dict.fromkeys([FROM, TO, SINCE, UNTIL, *names]))

    @property
    def run_schema(self) -> pa.Schema:
        """The columns of a run."""
        return pa.schema([*self.schema, *((name, pa.int64()) for name in self.hidden)])

    @property
    def nothing(self) -> pa.RecordBatch:
        """A run without rows."""
        return no_rows(self.run_schema)

    def keyed(self, batch: pa.RecordBatch, since: Keys, until: Keys) -> pa.RecordBatch:
        """The rows of a batch that can have partners, with their hidden columns."""
        columns = Columns.of(self.linked.names[self.number], pa.Table.from_batches([batch]))
        links, fits = self.linked.brings(self.number, columns)
        if fits is not None:
            batch, since, until = batch.take(pa.array(fits)), since[fits], until[fits]
        first = min(links)
        start, end = covered(self.linked.links[first], self.number, *links[first])
        hidden = {FROM: start, TO: end, SINCE: since, UNTIL: until}
        for link, (keys, values) in links.items():
            own = self.linked.brought[self.number, link]
            hidden |= dict(zip(key_names(own), keys, strict=True)) | dict(zip(value_names(own), values, strict=True))
        keys_of_rows = (pa.array(hidden[name]) for name in self.hidden)
        return pa.RecordBatch.from_arrays([*batch.columns, *keys_of_rows], schema=self.run_schema)


def key_names(own: Brought) -> list[str]:
    """What the keys that an input brings to a link are called in a run; a null-safe one is two columns."""
    names = [(f"dovetail key {part.shows.sql} {part.kind}", part.null_safe) for part in own.keys]
    return [name for own_name, safe in names for name in ([own_name, f"{own_name} there"] if safe else [own_name])]


def value_names(own: Brought) -> list[str]:
    """What the compared values are called; those of one expression are held once."""
    return [f"dovetail value {part.shows.sql} {part.kind}" for part in own.values]


def in_order(batch: pa.RecordBatch, by: str = FROM) -> pa.RecordBatch:
    """Rows by one of the hidden columns."""
    keys = batch.column(by).to_numpy(zero_copy_only=False)
    if ascends(keys):
        return batch
    order = sort_with_order(keys)[1]
    return pa.RecordBatch.from_arrays([taken_rows(own, order) for own in batch.columns], schema=batch.schema)


def check_order(linked: Linked) -> None:
    """Refuse a condition that gives no one order of values to the rows of all inputs."""
    for number, name in enumerate(linked.names):
        orders = {order_of(own, number) for own in linked.links if number in (own.one, own.other)}
        if not orders:
            raise UsageError.no_global_order(name, "is compared by nothing in order")
        if len(orders) > 1:
            raise UsageError.no_global_order(name, "is compared by more than one")
    pairs = len(linked.names) * (len(linked.names) - 1) // 2
    if len(linked.links) < pairs and not all(own.has_keys for own in linked.links):
        raise UsageError.no_global_order(linked.names[0], "does not meet all others")
