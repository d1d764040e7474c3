"""What a cell does with the rows of a micro-batch: which meet now, and which it remembers.

Meaning      over all micro-batches, the rows that the same join gives for both whole inputs, late rows left out.
Needs        every row has AT, its event time, and UNTIL, the last event time that a partner can have, in
             microseconds; no row to come is before the watermark, those of this micro-batch not before the last one.
How          pairs at once (inner joins)           new x (old and new) and old x new, whatever the watermark
             rows that wait (all other results)    a *driving* row whose UNTIL the watermark has passed is due: it meets
                                                   all that is remembered of the other input, once
Edges        a row before the last watermark is late and left out: those before this one alone are what an operator in
             front gave when this one passed. A row without AT or UNTIL has no partner, and is due.
State        driving rows until they are due, or past UNTIL; other rows while one that waits, or one to come, can need
             them. Where a driving row takes the last row before it, the last of each key stays. All of them in `runs`,
             where rows that are no longer needed may stand some time longer, and are known by the last watermark.
Worst case   an input that stands still holds back the watermark, and so all rows of both.
Source       second document, section 4.2 (insert, query, reorganise), for micro-batches in place of elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._hosts.stream.runs import AT, FOR_GOOD, NEVER, UNTIL, lane

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from dovetail._hosts.stream.runs import Runs

    Meeting = Callable[[pa.Table, pa.Table], pa.Table]

KEY = "dovetail key "
"""The keys of a row, numbered, in the type in which both inputs compare them."""


@dataclass(frozen=True)
class Rule:
    """Which input drives the join (0 or 1), whether its rows wait, and whether a row takes the last one before it."""

    driving: int = 0
    waits: bool = False
    prevailing: bool = False


@dataclass(frozen=True)
class Clock:
    """The watermark of the last step in this cell, and that of this one; NEVER: none yet."""

    before: int
    watermark: int


@dataclass(frozen=True)
class Step:
    """Results, and the least instant whose passing lets a remembered row go."""

    results: list[pa.Table]
    wakes: int


def step(meet: Meeting, rule: Rule, old: Sequence[Runs], new: Sequence[pa.Table], clock: Clock) -> Step:
    """Take the rows of a micro-batch; `old`, `new`: of the driving and the other input."""
    new = [_in_time(own, clock.before) for own in new]
    if rule.waits:
        return _wait(partial(_met, meet, rule), rule, old, new, clock)
    return _pair(partial(_met, meet, rule), old, new, clock.watermark)


def _pair(meet: Meeting, old: Sequence[Runs], new: Sequence[pa.Table], watermark: int) -> Step:
    """Pairs at once."""
    driving, other = old
    pairs = [(new[0], pa.concat_tables([other.near(new[0]), new[1]])), (driving.near(new[1]), new[1])]
    results = [meet(*own) for own in pairs if own[0].num_rows and own[1].num_rows]
    for runs, rows in zip(old, new, strict=True):
        _remember(runs, rows, watermark)
    return Step(results, min(driving.soonest_end, other.soonest_end))


def _wait(meet: Meeting, rule: Rule, old: Sequence[Runs], new: Sequence[pa.Table], clock: Clock) -> Step:
    """Results of the rows that are due, all at once."""
    driving, other = old
    due = pa.concat_tables([_passed(driving.due(clock.watermark), clock), _without(new[0], clock.watermark)])
    near = other.near(due, prevailing=rule.prevailing)
    results = [meet(due, pa.concat_tables([near, new[1]]))] if due.num_rows else []
    _remember(driving, new[0], clock.watermark)
    floor = min(driving.first, clock.watermark)
    if rule.prevailing:
        other.add(new[1])
        other.settle(partial(_last_before, floor=floor))
    else:
        _remember(other, new[1], floor)
    next_due = driving.next_due(clock.watermark)
    idle = next_due == FOR_GOOD and not rule.prevailing
    return Step(results, other.soonest_end if idle else next_due)


def _remember(runs: Runs, new: pa.Table, floor: int) -> None:
    """Add what can have a partner at or after an instant, and let go what cannot."""
    runs.end(floor)
    runs.add(new.filter(_needed(new, floor)))
    runs.settle(partial(_needed, floor=floor))


def _met(meet: Meeting, rule: Rule, driving: pa.Table, other: pa.Table) -> pa.Table:
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


def _without(rows: pa.Table, floor: int) -> pa.Table:
    """The rows to which no partner can come any more."""
    return rows.filter(pc.invert(_needed(rows, floor)))


def _passed(rows: pa.Table, clock: Clock) -> pa.Table:
    """The rows whose UNTIL the watermark passed in this step: those before are gone."""
    until = lane(rows, UNTIL)
    return rows.filter(pa.array((until >= clock.before) & (until < clock.watermark)))


def _last_before(rows: pa.Table, floor: int) -> NDArray[np.bool_]:
    """The rows that are needed from an instant on, and of each key the last ones before them."""
    until, keys = lane(rows, UNTIL), _codes(rows)
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
