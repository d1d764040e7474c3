"""What a cell does with the rows of a micro-batch: which meet now, and which it remembers.

Meaning      over all micro-batches, the rows that the same join gives for both whole inputs, late rows left out.
Needs        every row has AT, its event time, and UNTIL, the last event time that a partner can have, in
             microseconds; no row to come is before the watermark.
How          pairs at once (inner joins)           new x (old and new) and old x new, whatever the watermark
             rows that wait (all other results)    a *driving* row whose UNTIL the watermark has passed is due: it meets
                                                   all that is remembered of the other input, once
Edges        a row before the watermark is late and left out; a row without AT or UNTIL has no partner, and is due.
State        driving rows until they are due, or past UNTIL; other rows while one that waits, or one to come, can need
             them. Where a driving row takes the last row before it, the last of each key stays.
Worst case   an input that stands still holds back the watermark, and so all rows of both.
Source       second document, section 4.2 (insert, query, reorganise), for micro-batches in place of elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

AT, UNTIL = "dovetail at", "dovetail until"
KEY = "dovetail key "
"""The keys of a row, numbered, in the type in which both inputs compare them."""
NEVER = np.iinfo(np.int64).min
FOR_GOOD = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Rule:
    """Which input drives the join (0 or 1), whether its rows wait, and whether a row takes the last one before it."""

    driving: int = 0
    waits: bool = False
    prevailing: bool = False


@dataclass(frozen=True)
class Step:
    """Results, and what is remembered of the driving and the other input."""

    results: list[pa.Table]
    driving: pa.Table
    other: pa.Table

    @property
    def wakes(self) -> int:
        """The least instant whose passing lets a remembered row go."""
        rows = self.driving if self.driving.num_rows else self.other
        return min((own for own in _lane(rows, UNTIL).tolist()), default=FOR_GOOD)


def step(
    meet: Callable[[pa.Table, pa.Table], pa.Table],
    rule: Rule,
    old: Sequence[pa.Table],
    new: Sequence[pa.Table],
    watermark: int,
) -> Step:
    """Take the rows of a micro-batch; `old`, `new`: of the driving and the other input. NEVER: no watermark yet."""
    new = [_in_time(own, watermark) for own in new]
    every = [pa.concat_tables(own) for own in zip(old, new, strict=True)]
    if rule.waits:
        return _wait(meet, rule, every[0], every[1], watermark)
    pairs = [(new[0], every[1]), (old[0], new[1])]
    results = [_met(meet, rule, *own) for own in pairs if own[0].num_rows and own[1].num_rows]
    return Step(results, *(own.filter(_needed(own, watermark)) for own in every))


def _wait(
    meet: Callable[[pa.Table, pa.Table], pa.Table], rule: Rule, driving: pa.Table, other: pa.Table, watermark: int
) -> Step:
    waits = _needed(driving, watermark)
    waiting, due = driving.filter(waits), driving.filter(pc.invert(waits))
    floor = min(_lane(waiting, AT).min(initial=watermark), watermark)
    kept = pa.array(_last_before(other, floor)) if rule.prevailing else _needed(other, floor)
    return Step([_met(meet, rule, due, other)] if due.num_rows else [], waiting, other.filter(kept))


def _met(meet: Callable[[pa.Table, pa.Table], pa.Table], rule: Rule, driving: pa.Table, other: pa.Table) -> pa.Table:
    sides = (driving, other) if rule.driving == 0 else (other, driving)
    return meet(*(shown(own) for own in sides))


def shown(rows: pa.Table) -> pa.Table:
    """Rows without what we have added to them."""
    return rows.drop_columns([name for name in rows.column_names if name in (AT, UNTIL) or name.startswith(KEY)])


def _in_time(rows: pa.Table, watermark: int) -> pa.Table:
    """The rows that are not late."""
    late = pc.fill_null(pc.less(rows.column(AT), watermark), fill_value=False)
    return rows.filter(pc.invert(late))


def _needed(rows: pa.Table, floor: int) -> pa.Array:
    """Whether a partner at or after an instant is possible."""
    return pc.fill_null(pc.greater_equal(rows.column(UNTIL), floor), fill_value=False)


def _last_before(rows: pa.Table, floor: int) -> NDArray[np.bool_]:
    """The rows that are needed from an instant on, and of each key the last ones before them."""
    until, keys = _lane(rows, UNTIL), _codes(rows)
    early = until < floor
    last = np.full(keys.max(initial=-1) + 1, NEVER)
    np.maximum.at(last, keys[early], until[early])
    kept: NDArray[np.bool_] = ~early | ((until == last[keys]) & (until != NEVER))
    return kept


def _codes(rows: pa.Table) -> NDArray[np.int64]:
    """A number for each combination of keys; NULL is a key like any other."""
    codes = np.zeros(rows.num_rows, np.int64)
    for name in rows.column_names:
        if name.startswith(KEY):
            found = rows.column(name).combine_chunks().dictionary_encode(null_encoding="encode")
            codes = codes * max(1, len(found.dictionary)) + found.indices.to_numpy()
            codes = np.unique(codes, return_inverse=True)[1]
    return codes


def _lane(rows: pa.Table, name: str) -> NDArray[np.int64]:
    """Instants; NEVER where there is none."""
    values: NDArray[np.int64] = pc.fill_null(rows.column(name), NEVER).combine_chunks().to_numpy(zero_copy_only=False)
    return values
