"""Two tables as streams: their rows in some order of arrival, cut into batches, and an engine that takes them in."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import dovetail as dv

if TYPE_CHECKING:
    from collections.abc import Sequence


def engine_of(base: pa.Table, probe: pa.Table, **options: Any) -> dv.online.WindowJoin:
    """An engine for tables of these schemas."""
    return dv.online.WindowJoin(base=base.schema, probe=probe.schema, **options)


def shuffled(base: pa.Table, probe: pa.Table, seed: int) -> list[tuple[str, pa.Table]]:
    """All rows in any order, a few at a time."""
    dice = random.Random(seed)
    rows = [("base", i) for i in range(base.num_rows)] + [("probe", i) for i in range(probe.num_rows)]
    dice.shuffle(rows)
    return batches(base, probe, rows, dice)


def jittered(
    base: pa.Table, probe: pa.Table, times: tuple[Sequence[int], Sequence[int]], lateness: int, seed: int
) -> list[tuple[str, pa.Table]]:
    """All rows in the order of time, none more than `lateness` behind one that came before."""
    dice = random.Random(seed)
    rows = [("base", i, t) for i, t in enumerate(times[0])] + [("probe", i, t) for i, t in enumerate(times[1])]
    rows.sort(key=lambda row: row[2] + dice.uniform(0, lateness))
    return batches(base, probe, [row[:2] for row in rows], dice)


def batches(
    base: pa.Table, probe: pa.Table, rows: list[tuple[str, int]], dice: random.Random
) -> list[tuple[str, pa.Table]]:
    """Runs of rows of one side, cut at random."""
    found: list[tuple[str, list[int]]] = []
    for side, row in rows:
        if not found or found[-1][0] != side or dice.random() < 0.3:
            found.append((side, []))
        found[-1][1].append(row)
    tables = {"base": base, "probe": probe}
    return [(side, tables[side].take(own)) for side, own in found]


def taken(engine: dv.online.WindowJoin, side: str, table: pa.Table) -> list[pa.Table]:
    """What comes out when an engine takes rows of one side."""
    if side == "base":
        return [engine.push(table)]
    engine.insert(table)
    return []


def answer(engine: dv.online.WindowJoin, stream: Sequence[tuple[str, pa.Table]]) -> pa.Table:
    """Everything that comes out, by the time the engine is closed."""
    out = [found for side, table in stream for found in taken(engine, side, table)]
    return pa.concat_tables([*out, engine.close()])
