"""Tables as streams: rows by start, cut into batches at random, the inputs mixed at random."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    import random

    from dovetail._hosts.arrow.streams.temporal import TemporalOperator
    from dovetail._hosts.arrow.streams.tpmj import TpmjOperator


def by_start(table: pa.Table, column: str = "s") -> pa.Table:
    """Return the rows by start; those without one stay in front."""
    starts = table.column(column).to_pylist()
    return table.take(pa.array(sorted(range(len(table)), key=lambda row: _key(starts[row])), pa.int64()))


def _key(start: Any) -> tuple[bool, Any]:
    missing = start is None or (isinstance(start, float) and math.isnan(start))
    return (False, 0) if missing else (True, start)


def batches_of(table: pa.Table, dice: random.Random) -> list[pa.RecordBatch]:
    """Return a table in batches of random size."""
    found, at = [], 0
    while at < len(table):
        size = dice.choice([1, 1, 2, 3, 5, 20])
        found += table.slice(at, size).combine_chunks().to_batches()
        at += size
    return found or [pa.RecordBatch.from_pylist([], schema=table.schema)]


def pushed(
    operator: TemporalOperator | TpmjOperator, feeds: dict[str, list[pa.RecordBatch]], dice: random.Random
) -> pa.Table:
    """Return what an operator yields of batches that arrive in random order of the inputs."""
    waiting = {name: list(batches) for name, batches in feeds.items()}
    results: list[pa.RecordBatch] = []
    while waiting:
        name = dice.choice(list(waiting))
        if waiting[name]:
            results += operator.on_batch(name, waiting[name].pop(0))
        else:
            del waiting[name]
            results += operator.on_end(name)
    return pa.Table.from_batches(results, operator.told.schema)


def is_in_order(table: pa.Table) -> bool:
    """Tell whether results come by (valid_start, valid_end), no end being the last."""
    ends = [(row["valid_start"], row["valid_end"]) for row in table.select(["valid_start", "valid_end"]).to_pylist()]
    return ends == sorted(ends, key=lambda own: (own[0], own[1] is None, own[1] if own[1] is not None else own[0]))
