"""What a cell does, micro-batch by micro-batch, gives the rows of the batch join of all rows that are not late."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail._core.condition.inputs import Input
from dovetail._hosts.stream.meet import Meet
from dovetail._hosts.stream.reach import rules_of
from dovetail._hosts.stream.runs import AT, FOR_GOOD, NEVER, UNTIL, Runs
from dovetail._hosts.stream.step import KEY, Clock, step
from tests.amount import one_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dovetail._hosts.stream.meet import Meets
    from dovetail._hosts.stream.runs import Span
    from dovetail._hosts.stream.step import Rule, Step

SECOND = 1_000_000
_CALLS: dict[str, Callable[..., Any]] = {
    "join": dv.join,
    "asof": dv.asof_join,
    "window": dv.window_join,
    "temporal": dv.temporal_join,
}


@dataclass(frozen=True)
class Kind:
    """A join of l and r, and how far after and before a left row a right one can be, in seconds."""

    meet: Meet
    after: int | None
    before: int | None
    keyed: bool = True

    @property
    def turns(self) -> list[tuple[Meets, Rule]]:
        """What is done in turn, and who drives it."""
        return list(zip(self.meet.turns, rules_of(self.meet.asked), strict=True))

    def call(self, left: pa.Table, right: pa.Table) -> pa.Table:
        """The join of two whole tables."""
        return cast("pa.Table", _CALLS[self.meet.what](l=left, r=right, **self.meet.call))


def _kind(what: str, after: int | None, before: int | None, *, keyed: bool = True, **call: Any) -> Kind:
    inputs = Input("l", ("id", "k", "ts", "v")), Input("r", ("id", "k", "ts", "v"))
    return Kind(Meet(what, inputs, call), after, before, keyed)


_BAND = "l.k = r.k AND r.ts >= l.ts - INTERVAL 6 SECONDS AND r.ts <= l.ts + INTERVAL 2 SECONDS"
_SINCE = "r.ts <= l.ts AND l.v > r.v"
_FOLDS = {"n": "count(*)", "least": "min(r.v)"}
_band = partial(_kind, "join", 2, 6, on=_BAND)
_since = partial(_kind, "join", 0, None, on=_SINCE, keyed=False)
_asof = partial(_kind, "asof", on="ts", keys="k")
_window = partial(_kind, "window", on="ts", keys="k", agg={"n": "count(*)", "last": "last(v)", "most": "max(v)"})
_temporal = partial(_kind, "temporal", 4, 4, on="l.k = r.k", ts="ts", window=dv.sliding("4 seconds"))
KINDS = {
    **{how: _band(how=how) for how in ("inner", "left", "right", "full", "semi", "anti")},
    "inner, no key": _since(),
    "since": _since(how="left"),
    "shown": _band(how="full", select="coalesce(l.id, r.id) AS id, l.v + r.v AS sum"),
    "fold": _band(agg=_FOLDS, per="l"),
    "fold of the right": _band(agg={"n": "count(*)", "most": "max(l.v)"}, per="r"),
    "asof": _asof(0, 0),
    "asof, no key": _asof(0, 0, keys=None, ties="all", keyed=False),
    "asof, strict": _asof(0, 0, strict=True),
    "asof, null-safe": _asof(0, 0, null_safe=True),
    "asof, where": _asof(0, None, where="l.v > r.v"),
    "nearest": _asof(3, 3, direction="nearest", tolerance="3 seconds"),
    "forward": _asof(3, 0, direction="forward", tolerance="3 seconds", how="anti"),
    "window": _window(1, 5, preceding="5 seconds", following="1 second"),
    "prevailing": _window(0, 2, preceding="2 seconds", include_prevailing=True),
    "temporal": _temporal(),
    "temporal left": _temporal(how="left"),
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


class Kept:
    """Runs in memory."""

    def __init__(self) -> None:
        self.runs: dict[Span, pa.Table] = {}
        self.written = 0

    def spans(self) -> list[Span]:
        """What there is."""
        return list(self.runs)

    def read(self, span: Span) -> pa.Table:
        """The rows of a run."""
        return self.runs[span]

    def write(self, span: Span, rows: pa.Table) -> None:
        """Keep a run."""
        assert span not in self.runs
        assert span.rows == rows.num_rows > 0
        self.written += rows.num_rows
        self.runs[span] = rows

    def remove(self, span: Span) -> None:
        """Forget a run."""
        del self.runs[span]

    @property
    def ids(self) -> list[int]:
        """The rows by number."""
        return sorted(one for own in self.runs.values() for one in own.column("id").to_pylist())


class Cell:
    """What one that drives needs: what is kept of both inputs, and the last watermark."""

    def __init__(self, turn: tuple[Meets, Rule], nothing: list[pa.Table]) -> None:
        self.meet, self.rule = turn
        self.nothing = nothing
        self.kept = [Kept(), Kept()]
        self.watermark = NEVER

    def step(self, new: list[pa.Table], watermark: int) -> Step:
        """A micro-batch."""
        way = -1 if self.rule.driving else 1
        old = [Runs(*own) for own in zip(self.kept, self.nothing, strict=True)]
        clock = Clock(self.watermark, watermark)
        self.watermark = watermark
        return step(self.meet, self.rule, old[::way], new[::way], clock)


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=one_in(5))
@given(batches=_MICRO_BATCHES, delay=st.integers(0, 5), closing=st.booleans(), many=st.sampled_from([2, 3, 8]))
def test_micro_batches_give_the_rows_of_the_batch_join(
    name: str, batches: list[tuple[list[Any], list[Any]]], delay: int, *, closing: bool, many: int
) -> None:
    kind = KINDS[name]
    reaches = (kind.after, kind.before)
    nothing = [_table([], 0, kind, own) for own in reaches]
    cells = [Cell(turn, nothing) for turn in kind.turns]
    taken: list[list[pa.Table]] = [[own] for own in nothing]
    found: list[pa.Table] = []
    seen, before, watermark, counted = [None, None], NEVER, NEVER, 0
    with patch("dovetail._hosts.stream.runs.RUNS", many):
        for batch in [*batches, *([] if not closing else [([(90, None, None)], [(90, None, None)]), ([], [])])]:
            tables = [_table(rows, counted + 100 * i, kind, reaches[i]) for i, rows in enumerate(batch)]
            counted += 1_000
            for i, own in enumerate(tables):
                late = np.array([at is not None and at < before for at in own.column(AT).to_pylist()], bool)
                taken[i].append(own.filter(pa.array(~late)))
            for cell in cells:
                found += cell.step(tables, watermark).results
            latest = [pc.max(own.column(AT)).as_py() for own in tables]
            seen = [max((x for x in pair if x is not None), default=None) for pair in zip(seen, latest, strict=True)]
            before, watermark = watermark, max(watermark, _watermark(seen, delay))
        for cell in cells:
            found += cell.step(nothing, FOR_GOOD - 1).results
    whole = kind.call(*(_shown(pa.concat_tables(own)) for own in taken))
    assert _rows(pa.concat_tables([whole.slice(0, 0), *found])) == _rows(whole)


def _shown(rows: pa.Table) -> pa.Table:
    return rows.select(["id", "k", "ts", "v"])


def _cell(kind: Kind) -> Cell:
    return Cell(kind.turns[0], [_table([], 0, kind, own) for own in (kind.after, kind.before)])


def test_rows_leave_once_the_watermark_has_passed_their_partners() -> None:
    kind = KINDS["left"]
    cell = _cell(kind)
    left, right = (_table([(at, 1, 1.0) for at in (0, 5, 9)], 0, kind, own) for own in (kind.after, kind.before))
    assert cell.step([left, right], NEVER).results == []
    done = cell.step(cell.nothing, 8 * SECOND)
    assert [own.num_rows for own in done.results] == [3]  # 0 with 0; 5 with 0 and 5
    assert done.wakes == 11 * SECOND
    assert (cell.kept[0].ids, cell.kept[1].ids) == ([2], [0, 1, 2])  # two of three are not needed; one of three is not
    assert cell.step(cell.nothing, 12 * SECOND).wakes == 15 * SECOND
    assert (cell.kept[0].ids, cell.kept[1].ids) == ([], [2])
    cell.step(cell.nothing, 15 * SECOND + 1)
    assert cell.kept[1].ids == []


@pytest.mark.parametrize(("right", "left"), [(0, 6), (6, 4)])
@pytest.mark.parametrize("how", ["inner", "left"])
def test_a_partner_at_either_end_of_the_reach_is_met(how: str, right: int, left: int) -> None:
    kind = KINDS[how]
    cell = _cell(kind)
    found = cell.step([cell.nothing[0], _table([(right, 1, 1.0)], 0, kind, kind.before)], NEVER).results
    found += cell.step([_table([(left, 1, 2.0)], 0, kind, kind.after), cell.nothing[1]], NEVER).results
    found += cell.step(cell.nothing, 20 * SECOND).results
    assert [own.column("r_v").to_pylist() for own in found] == [[1.0]]


def test_the_last_row_of_a_key_stays_for_those_to_come() -> None:
    kind = KINDS["asof"]
    earlier = _table([(0, 1, 1.0), (1, 2, 1.0), (3, 1, 2.0)], 0, kind, 0)
    later = _table([(2, 1, 3.0), (7, 2, 4.0)], 3, kind, 0)
    cell = _cell(kind)
    with patch("dovetail._hosts.stream.runs.RUNS", 2):
        cell.step([cell.nothing[0], earlier], NEVER)
        assert cell.step([cell.nothing[0], later], 5 * SECOND).wakes == FOR_GOOD
    assert cell.kept[1].ids == [1, 2, 4]  # 3 is of a time before that of 2


def test_a_row_is_written_a_few_times_however_many_are_remembered() -> None:
    kind = KINDS["left"]
    cell = _cell(kind)
    batches, rows = 300, 20
    for i in range(batches):
        new = [_table([(i // 4, 1, 1.0)] * rows, i * rows, kind, own) for own in (kind.after, kind.before)]
        cell.step(new, (i // 4 - 60) * SECOND)
    for kept in cell.kept:
        assert kept.written <= 3 * batches * rows
        assert len(kept.ids) <= 2 * 70 * 4 * rows
        assert len(kept.runs) <= 4 * 8


def test_a_row_is_late_once_it_was_before_the_last_watermark() -> None:
    """Of what comes with a watermark, an operator in front may give rows that it has just passed."""
    kind = KINDS["anti"]
    cell = _cell(kind)
    given = _table([(3, 1, 1.0), (4, 1, 1.0)], 0, kind, kind.after)
    cell.step([given, cell.nothing[1]], 4 * SECOND)
    assert cell.kept[0].ids == [0, 1]
    cell.step([_table([(3, 1, 1.0), (4, 1, 1.0)], 2, kind, kind.after), cell.nothing[1]], 4 * SECOND)
    assert cell.kept[0].ids == [0, 1, 3]
