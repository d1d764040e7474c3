"""An area as runs of rising size: a batch is sorted once on its way in, and again as runs of like size are merged.

Meaning      of the rows inserted, `probe` finds those valid at a probe's time that its kind calls partners.
Needs        nothing of the rows' order; that no probe comes that is only valid before what was expired.
How          runs   [--------------------] [---------] [---]        insert sorts a new run; while the one before it is
                                                    [---]           not twice as long, both become one
             a probe has a slice of positions in every run; what the slice cannot tell is tested pair by pair.
Edges        rows that ended by `expire` may stay until half their run has; no probe finds them, since time is tested.
State        the rows that have not ended, and at most as many that have.
Worst case   O(log n) runs to look into, each row sorted O(log n) times; the candidates of the slices.
Source       second document, section 3.1: insert, reorganise, query. The runs are those of a log-structured merge tree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from dovetail._core.kernels.slices import copy_slices, repeat_values
from dovetail._core.plan.choose import COMPARE
from dovetail._core.sweep.areas.run import Run, fetched

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Op
    from dovetail._core.sweep.areas.rows import AreaRows, Probes

    Keys = NDArray[np.int64]
    Flags = NDArray[np.bool_]


class Kind(Protocol):
    """How the rows of an area lie, and what makes two of them partners beyond their keys and times."""

    def lead(self, rows: AreaRows) -> Keys:
        """What the rows are sorted by, within their keys."""
        ...

    def bounds(self, probes: Probes, run: Run) -> tuple[Keys, Keys]:
        """Between which leads, both included, the partners of each probe lie."""
        ...

    def tests(self, probes: Probes, run: Run) -> Sequence[PairTest]:
        """What is left to be tested, pair by pair."""
        ...


class PairTest(Protocol):
    """Whether a probe and a stored row, given by position, belong together."""

    def __call__(self, probing: Keys, stored: Keys) -> Flags:
        """Test some pairs."""
        ...


@dataclass(frozen=True, slots=True)
class Partners:
    """Pairs of a probe, by position, and a stored row, by its number and validity."""

    probing: Keys
    number: Keys
    start: Keys
    end: Keys


@dataclass(frozen=True, slots=True)
class Hits:
    """Candidates: per run, the slice of every probe; `exact` if the probes' codes tell all keys apart."""

    runs: list[tuple[Run, Keys, Keys]]
    exact: bool

    def counts(self, size: int) -> Keys:
        """How many candidates each probe has."""
        total = np.zeros(size, np.int64)
        for _, low, high in self.runs:
            total += high - low
        return total


@dataclass(slots=True)
class Area:
    """The rows of one input that may still find partners."""

    kind: Kind
    runs: list[Run] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many rows are held."""
        return sum(run.rows.size for run in self.runs)

    def insert(self, rows: AreaRows) -> None:
        """Remember rows."""
        if not rows.size:
            return
        joined = [rows]
        while self.runs and self.runs[-1].rows.size < 2 * sum(own.size for own in joined):
            joined.append(self.runs.pop().rows)
        whole = rows if len(joined) == 1 else joined[-1].beside(joined[-2::-1])
        self.runs.append(Run.of(whole, self.kind.lead(whole)))

    def look_up(self, probes: Probes) -> Hits:
        """The slices in which the partners of probes lie."""
        codes, exact = probes.rows.codes()
        return Hits([(run, *run.slices(codes, *self.kind.bounds(probes, run))) for run in self.runs], exact)

    def partners(self, probes: Probes, hits: Hits, some: slice) -> Partners:
        """The pairs of some of the probes, in their order within each run."""
        found = [self._in_run(probes, run, low, high, some, hits.exact) for run, low, high in hits.runs]
        if len(found) == 1:
            return found[0]
        nothing = np.empty(0, np.int64)
        columns = (np.concatenate([nothing, *own]) for own in zip(*map(_columns, found), strict=True))
        return Partners(*columns) if found else Partners(nothing, nothing, nothing, nothing)

    def probe(self, probes: Probes) -> Partners:
        """All pairs."""
        return self.partners(probes, self.look_up(probes), slice(0, probes.rows.size))

    def _in_run(self, probes: Probes, run: Run, low: Keys, high: Keys, some: slice, exact: bool) -> Partners:  # noqa: FBT001 -- told on
        probing, stored = expanded(low[some], high[some], some.start)
        tests = (
            [] if exact and run.exact else [_equal(*own) for own in zip(probes.rows.keys, run.rows.keys, strict=True)]
        )
        for test in (*tests, *self.kind.tests(probes, run)):
            holds = np.flatnonzero(test(probing, stored))
            if holds.size < probing.size:
                probing, stored = fetched(probing, holds), fetched(stored, holds)
        rows = run.rows
        return Partners(probing, *(fetched(own, stored) for own in (rows.number, rows.start, rows.end)))

    def expire(self, before: int) -> None:
        """Forget rows that end at or before an instant, as soon as that is worth the work."""
        kept: list[Run] = []
        for run in self.runs:
            if run.last_end <= before:
                continue
            live = int(np.count_nonzero(run.rows.end > before))
            if 2 * live > run.rows.size:
                kept.append(run)
            else:
                rows = run.after(before)
                kept.append(Run.of(rows, self.kind.lead(rows)))
        self.runs = kept

    def snapshot(self) -> AreaRows | None:
        """Everything that is held, to be restored; None if there is nothing."""
        return self.runs[0].rows.beside([run.rows for run in self.runs[1:]]) if self.runs else None

    def restore(self, rows: AreaRows | None) -> None:
        """Hold what a snapshot held."""
        self.runs = []
        if rows is not None:
            self.insert(rows)


def _columns(found: Partners) -> tuple[Keys, Keys, Keys, Keys]:
    return found.probing, found.number, found.start, found.end


def expanded(low: Keys, high: Keys, first: int) -> tuple[Keys, Keys]:
    """All pairs of probes, counted from `first`, with the positions of their slices."""
    ends = np.cumsum(high - low)
    size = int(ends[-1]) if ends.size else 0
    probing, stored = np.empty(size, np.int64), np.empty(size, np.int64)
    if size:
        repeat_values(np.arange(first, first + low.size), ends, np.int64(0), probing)
        last = int(high.max())
        copy_slices(np.arange(last), low, ends, np.int64(0), stored)
    return probing, stored


def _equal(one: Keys, other: Keys) -> PairTest:
    return lambda probing, stored: fetched(one, probing) == fetched(other, stored)


def valid_at(probes: Probes, run: Run, *, started: bool = True) -> Iterable[PairTest]:
    """Tests of time: that the stored row has not ended, and has started if that is not known."""
    rows = run.rows

    def lasts(probing: Keys, stored: Keys) -> Flags:
        return fetched(rows.end, stored) > fetched(probes.at, probing)

    def begun(probing: Keys, stored: Keys) -> Flags:
        return fetched(rows.start, stored) <= fetched(probes.until, probing)

    return (lasts,) if started else (begun, lasts)


def compare_tests(probes: Probes, run: Run, ops: Sequence[Op], known: Sequence[int] = ()) -> Iterable[PairTest]:
    """Tests of `probe <op> stored`, but for those comparisons that are known to hold."""
    return [_compared(probes.rows.values[i], op, run.rows.values[i]) for i, op in enumerate(ops) if i not in known]


def _compared(one: Keys, op: Op, other: Keys) -> PairTest:
    compare = COMPARE[op]
    return lambda probing, stored: compare(fetched(one, probing), fetched(other, stored))
