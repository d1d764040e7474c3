"""What a cell does, micro-batch by micro-batch, gives the rows of the batch join of all rows that are not late."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail._hosts.stream.step import AT, FOR_GOOD, KEY, NEVER, UNTIL, Rule, step

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SECOND = 1_000_000


@dataclass(frozen=True)
class Kind:
    """A join of l and r, and how far after and before a left row a right one can be, in seconds."""

    call: Callable[..., pa.Table]
    after: int | None
    before: int | None
    rule: Rule
    keyed: bool = True
    options: dict[str, Any] = field(default_factory=dict)


def _temporal(left: pa.Table, right: pa.Table, **options: Any) -> pa.Table:
    return dv.temporal_join(l=left, r=right, ts="ts", window=dv.sliding("4 seconds"), **options)


_BAND = "l.k = r.k AND r.ts >= l.ts - INTERVAL 6 SECONDS AND r.ts <= l.ts + INTERVAL 2 SECONDS"
_SINCE = "r.ts <= l.ts AND l.v > r.v"
_ASOF = partial(dv.asof_join, on="ts", keys="k")
_WINDOW = partial(dv.window_join, on="ts", keys="k", agg={"n": "count(*)", "last": "last(v)", "most": "max(v)"})
KINDS: dict[str, Kind] = {
    "inner": Kind(partial(dv.join, on=_BAND), 2, 6, Rule()),
    "inner, no key": Kind(partial(dv.join, on=_SINCE), 0, None, Rule(), keyed=False),
    **{how: Kind(partial(dv.join, on=_BAND, how=how), 2, 6, Rule(waits=True)) for how in ("left", "semi", "anti")},
    "right": Kind(partial(dv.join, on=_BAND, how="right"), 2, 6, Rule(driving=1, waits=True)),
    "fold": Kind(
        partial(dv.join, on=_BAND, agg={"n": "count(*)", "least": "min(r.v)"}, per="l"), 2, 6, Rule(waits=True)
    ),
    "since": Kind(partial(dv.join, on=_SINCE, how="left"), 0, None, Rule(waits=True), keyed=False),
    "asof": Kind(_ASOF, 0, 0, Rule(waits=True, prevailing=True)),
    "asof, no key": Kind(
        partial(dv.asof_join, on="ts", ties="all"), 0, 0, Rule(waits=True, prevailing=True), keyed=False
    ),
    "asof, strict": Kind(partial(_ASOF, strict=True), 0, 0, Rule(waits=True, prevailing=True)),
    "asof, null-safe": Kind(partial(_ASOF, null_safe=True), 0, 0, Rule(waits=True, prevailing=True)),
    "nearest": Kind(partial(_ASOF, direction="nearest", tolerance="3 seconds"), 3, 3, Rule(waits=True)),
    "forward": Kind(partial(_ASOF, direction="forward", tolerance="3 seconds", how="anti"), 3, 0, Rule(waits=True)),
    "window": Kind(partial(_WINDOW, preceding="5 seconds", following="1 second"), 1, 5, Rule(waits=True)),
    "prevailing": Kind(
        partial(_WINDOW, preceding="2 seconds", include_prevailing=True), 0, 2, Rule(waits=True, prevailing=True)
    ),
    "temporal": Kind(partial(_temporal, on="l.k = r.k"), 4, 4, Rule()),
    "temporal left": Kind(partial(_temporal, on="l.k = r.k", how="left"), 4, 4, Rule(waits=True)),
}
_TIMES = st.one_of(st.none(), st.integers(0, 12))
_ROWS = st.lists(st.tuples(_TIMES, st.sampled_from([None, 1, 2]), st.sampled_from([None, 0.5, 1.5, 2.5])), max_size=6)
_MICRO_BATCHES = st.lists(st.tuples(_ROWS, _ROWS), min_size=1, max_size=5)


def _table(rows: list[Any], first: int, kind: Kind, reach: int | None) -> pa.Table:
    at = pa.array([None if own[0] is None else own[0] * SECOND for own in rows], pa.int64())
    until = pc.add(at, (reach or 0) * SECOND) if reach is not None else pa.array([FOR_GOOD] * len(rows), pa.int64())
    keys = pa.array([own[1] for own in rows], pa.int64())
    hidden = {AT: at, UNTIL: until} | ({f"{KEY}0": keys} if kind.keyed else {})
    numbers = pa.array(range(first, first + len(rows)), pa.int64())
    values = pa.array([own[2] for own in rows], pa.float64())
    return pa.table(hidden | {"id": numbers, "k": keys, "ts": at.cast(pa.timestamp("us", "UTC")), "v": values})


def _watermark(seen: Sequence[int | None], delay: int) -> int:
    """As Spark's: behind the latest row of the input that is furthest behind."""
    return NEVER if None in seen else min(own for own in seen if own is not None) - delay * SECOND


def _rows(table: pa.Table) -> list[str]:
    return sorted(str(tuple(row.values())) for row in table.to_pylist())


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=settings().max_examples // 5)
@given(batches=_MICRO_BATCHES, delay=st.integers(0, 5), closing=st.booleans())
def test_micro_batches_give_the_rows_of_the_batch_join(
    name: str, batches: list[tuple[list[Any], list[Any]]], delay: int, *, closing: bool
) -> None:
    kind = KINDS[name]
    order = (0, 1) if kind.rule.driving == 0 else (1, 0)
    reaches = (kind.after, kind.before)
    held = [_table([], 0, kind, reaches[i]) for i in order]
    taken: list[list[pa.Table]] = [[_table([], 0, kind, own)] for own in reaches]
    found, seen, watermark, counted = [], [None, None], NEVER, 0
    for batch in [*batches, *([] if not closing else [([(90, None, None)], [(90, None, None)]), ([], [])])]:
        tables = [_table(rows, counted + 100 * i, kind, reaches[i]) for i, rows in enumerate(batch)]
        counted += 1_000
        for i, own in enumerate(tables):
            late = np.array([at is not None and at < watermark for at in own.column(AT).to_pylist()], bool)
            taken[i].append(own.filter(pa.array(~late)))
        done = step(kind.call, kind.rule, held, [tables[i] for i in order], watermark)
        held = [done.driving, done.other]
        found += done.results
        latest = [pc.max(own.column(AT)).as_py() for own in tables]
        seen = [max((x for x in pair if x is not None), default=None) for pair in zip(seen, latest, strict=True)]
        watermark = max(watermark, _watermark(seen, delay))
    done = step(kind.call, kind.rule, held, [own.slice(0, 0) for own in held], FOR_GOOD - 1)
    whole = kind.call(*(_shown(pa.concat_tables(own)) for own in taken))
    assert _rows(pa.concat_tables([whole.slice(0, 0), *found, *done.results])) == _rows(whole)


def _shown(rows: pa.Table) -> pa.Table:
    return rows.select(["id", "k", "ts", "v"])


def test_rows_leave_once_the_watermark_has_passed_their_partners() -> None:
    kind = KINDS["left"]
    left, right = (_table([(at, 1, 1.0) for at in (0, 5, 9)], 0, kind, own) for own in (kind.after, kind.before))
    nothing = [left.slice(0, 0), right.slice(0, 0)]
    done = step(kind.call, kind.rule, nothing, [left, right], NEVER)
    assert (done.results, done.driving.num_rows, done.other.num_rows) == ([], 3, 3)
    done = step(kind.call, kind.rule, [done.driving, done.other], nothing, 8 * SECOND)
    assert [own.num_rows for own in done.results] == [3]  # 0 with 0; 5 with 0 and 5
    assert (done.driving.column("id").to_pylist(), done.other.column("id").to_pylist()) == ([2], [1, 2])
    assert done.wakes == 11 * SECOND


def test_the_last_row_of_a_key_stays_for_those_to_come() -> None:
    kind = KINDS["asof"]
    right = _table([(0, 1, 1.0), (1, 2, 1.0), (3, 1, 2.0), (3, 1, 3.0), (7, 2, 4.0)], 0, kind, 0)
    nothing = [right.slice(0, 0), right.slice(0, 0)]
    done = step(kind.call, kind.rule, nothing, [nothing[0], right], NEVER)
    done = step(kind.call, kind.rule, [done.driving, done.other], nothing, 5 * SECOND)
    assert done.other.column("id").to_pylist() == [1, 2, 3, 4]


def test_a_late_row_is_left_out() -> None:
    kind = KINDS["anti"]
    nothing = [_table([], 0, kind, own) for own in (kind.after, kind.before)]
    late = _table([(3, 1, 1.0), (4, 1, 1.0)], 0, kind, kind.after)
    done = step(kind.call, kind.rule, nothing, [late, nothing[1]], 4 * SECOND)
    assert done.driving.column("ts").cast(pa.int64()).to_pylist() == [4 * SECOND]
