"""Rows as runs hold them: the input's columns, what the row covers of the axis of values, its validity, and its keys.

The hidden columns are order keys, so that a run can be merged and joined without evaluating anything again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from dovetail._core.columns.table import Columns
from dovetail._core.kernels.sort import sort_with_order
from dovetail._core.sweep.value_axis import covered, order_of
from dovetail.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dovetail._hosts.arrow.streams.linked import Linked

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
        names = [FROM, TO, SINCE, UNTIL]
        for (owner, link), own in self.linked.brought.items():
            if owner == self.number:
                width = sum(2 if part.null_safe else 1 for part in own.keys)
                names += [f"dovetail {link} k{i}" for i in range(width)]
                names += [f"dovetail {link} v{i}" for i in range(len(own.values))]
        return names

    @property
    def run_schema(self) -> pa.Schema:
        """The columns of a run."""
        return pa.schema([*self.schema, *((name, pa.int64()) for name in self.hidden)])

    def keyed(self, batch: pa.RecordBatch, since: Keys, until: Keys) -> pa.RecordBatch:
        """The rows of a batch that can have partners, with their hidden columns."""
        columns = Columns.of(self.linked.names[self.number], pa.Table.from_batches([batch]))
        columns, fits = self.linked.fitting(self.number, columns)
        arrays = self.linked.arrays(self.number, columns)
        arrays, some = self.linked.complete(self.number, arrays, fits.size)
        fits = fits if some is None else fits[some]
        links = self.linked.keyed(self.number, arrays)
        first = min(links)
        start, end = covered(self.linked.links[first], self.number, *links[first])
        picked = batch if fits.size == batch.num_rows else batch.take(pa.array(fits))
        keys = [start, end, since[fits], until[fits]]
        keys += [own for link in sorted(links) for part in links[link] for own in part]
        return pa.RecordBatch.from_arrays([*picked.columns, *map(pa.array, keys)], schema=self.run_schema)


def in_order(batch: pa.RecordBatch, by: str = FROM) -> pa.RecordBatch:
    """Rows by one of the hidden columns."""
    keys, order = sort_with_order(batch.column(by).to_numpy(zero_copy_only=False))
    return batch if keys.size < 2 or (order[:-1] < order[1:]).all() else batch.take(pa.array(order))  # noqa: PLR2004


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
