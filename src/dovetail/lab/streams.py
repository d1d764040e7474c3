"""The second document's experiments: joins of intervals over four streams, on a clock that is made up.

Every input has the intervals `[v, v + length)` for a random permutation of 1..n, one in a millisecond, under a sliding
window. The document's text gives the length as 75; with that, four inputs of 100,000 have about 600 million results, a
thousand times its 631,130. With 7.5, which a lost comma would make 75, they have about 627,000: that is what runs here.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._core.condition.window import Window
from dovetail.lab.experiments import Outcome, Row
from dovetail.stream import temporal_operator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

SIZE = 100_000
LENGTH = 7.5
MEMORY = 1 << 20
NAMES = ("a", "b", "c", "d")
BATCH = 500
SEED = 2005
FIFTH = 0.2
SWITCH = 20_000
SLOW = 10
STRATEGIES = ("max-fan-in", "greedy")
TOLD = {"max-fan-in": (42_004, 227_872), "greedy": (107_214, 492_240)}


def intervals(size: int, seed: int = SEED) -> list[pa.RecordBatch]:
    """Four inputs: where the intervals of values start, and when."""
    dice, at = np.random.default_rng(seed), np.arange(1, size + 1)
    return [pa.record_batch({"v": dice.permutation(size) + 1.0, "s": at}) for _ in NAMES]


def condition(ends: dict[str, str]) -> str:
    """That all intervals share a value; `ends` say where each one ends."""
    return " AND ".join(f"{a}.v < {ends[b]} AND {b}.v < {ends[a]}" for a, b in combinations(ends, 2))


def _own_end(name: str) -> str:
    return f"{name}.v + {LENGTH}D"


@dataclass
class MultiWay:
    """One operator over all inputs."""

    operator: Any

    @classmethod
    def of(cls, inputs: Sequence[pa.RecordBatch], algorithm: str, **disk: Any) -> MultiWay:
        """The operator of an algorithm."""
        schemas = {name: own.schema for name, own in zip(NAMES, inputs, strict=True)}
        on = condition({name: _own_end(name) for name in NAMES})
        window = Window("sliding", Fraction(inputs[0].num_rows // 10))
        return cls(temporal_operator(schemas, on=on, ts="s", window=window, algorithm=algorithm, **disk))

    def on_batch(self, name: str, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take rows of an input."""
        yield from self.operator.on_batch(name, batch)

    def on_end(self, name: str) -> Iterator[pa.RecordBatch]:
        """End an input."""
        yield from self.operator.on_end(name)

    @property
    def pages(self) -> int:
        """Pages read and written."""
        return int(self.operator.external.directory.pages)


@dataclass
class Cascade:
    """A left-deep tree of operators of two: the intersection of two inputs meets the third, and so on."""

    operators: list[Any]
    window: int

    @classmethod
    def of(cls, inputs: Sequence[pa.RecordBatch], algorithm: str, **disk: Any) -> Cascade:
        """As many operators as inputs but one, which share the memory."""
        if "memory" in disk:
            disk = disk | {"memory": disk["memory"] // (len(NAMES) - 1)}
        window = inputs[0].num_rows // 10
        call: dict[str, Any] = {"on": condition({"x": "x.w", "y": _own_end("y")}), "valid": ("s", "e"), **disk}
        schemas = {"x": _spans(inputs[0], window).schema, "y": _valid(inputs[0], window).schema}
        return cls([temporal_operator(schemas, **call, algorithm=algorithm) for _ in NAMES[1:]], window)

    def on_batch(self, name: str, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take rows of an input, and pass results on from operator to operator."""
        number, first = max(0, NAMES.index(name) - 1), name == NAMES[0]
        rows = _spans(batch, self.window) if first else _valid(batch, self.window)
        yield from self._on(number, self.operators[number].on_batch("x" if first else "y", rows))

    def on_end(self, name: str) -> Iterator[pa.RecordBatch]:
        """End an input; an operator whose inputs have both ended ends that of the next."""
        number = max(0, NAMES.index(name) - 1)
        yield from self._end(number, "x" if name == NAMES[0] else "y")

    def _end(self, number: int, side: str) -> Iterator[pa.RecordBatch]:
        operator = self.operators[number]
        yield from self._on(number, operator.on_end(side))
        if all(own.ended for own in operator.arrivals.values()) and number + 1 < len(self.operators):
            yield from self._end(number + 1, "x")

    def _on(self, number: int, results: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if number + 1 == len(self.operators):
            yield from results
            return
        for batch in results:
            shared = _shared(batch)
            for at in range(0, shared.num_rows, BATCH):
                yield from self._on(number + 1, self.operators[number + 1].on_batch("x", shared.slice(at, BATCH)))

    @property
    def pages(self) -> int:
        """Pages read and written by all operators."""
        return sum(int(own.external.directory.pages) for own in self.operators)


def _valid(batch: pa.RecordBatch, window: int) -> pa.RecordBatch:
    """An input with the end of its validity."""
    return batch.append_column("e", pc.add(batch.column("s"), window))


def _spans(batch: pa.RecordBatch, window: int) -> pa.RecordBatch:
    """An input as what an operator hands on: intervals of values, and their validity."""
    columns = {"v": batch.column("v"), "w": pc.add(batch.column("v"), LENGTH), "s": batch.column("s")}
    return _valid(pa.record_batch(columns), window)


def _shared(batch: pa.RecordBatch) -> pa.RecordBatch:
    """What two intervals share, valid while both are: an input of the next operator."""
    v = pc.max_element_wise(batch.column("v"), batch.column("y_v"))
    w = pc.min_element_wise(batch.column("w"), pc.add(batch.column("y_v"), LENGTH))
    return pa.record_batch({"v": v, "w": w, "s": batch.column("valid_start"), "e": batch.column("valid_end")})


@dataclass
class Watched:
    """What happened, by the clock: results, pages, memory."""

    clock: list[int] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    starts: list[NDArray[np.int64]] = field(default_factory=list)
    pages: int = 0

    @property
    def total(self) -> int:
        """How many results there were."""
        return self.results[-1]


def watch(
    join: MultiWay | Cascade,
    inputs: Sequence[pa.RecordBatch],
    pace: Callable[[int], int] = lambda _at: 1,
    before: Callable[[int], None] = lambda _pace: None,
) -> Watched:
    """Feed all inputs at once, a batch at a time; `pace` says how many milliseconds lie between two elements."""
    seen, clock, total = Watched(), 0, 0
    for at in range(0, inputs[0].num_rows, BATCH):
        step = pace(clock)
        before(step)
        clock += BATCH * step
        for name, own in zip(NAMES, inputs, strict=True):
            total += _count(join.on_batch(name, own.slice(at, BATCH)), seen)
        _note(seen, clock, total, join)
    for name in NAMES:
        total += _count(join.on_end(name), seen)
    _note(seen, clock, total, join)
    seen.pages = join.pages if hasattr(_first(join), "external") else 0
    return seen


def _first(join: MultiWay | Cascade) -> Any:
    return join.operator if isinstance(join, MultiWay) else join.operators[0]


def _count(results: Iterator[pa.RecordBatch], seen: Watched) -> int:
    found = [batch.column("valid_start").to_numpy() for batch in results]
    seen.starts += found
    return sum(own.size for own in found)


def _note(seen: Watched, clock: int, total: int, join: MultiWay | Cascade) -> None:
    seen.clock.append(clock)
    seen.results.append(total)
    operators = [join.operator] if isinstance(join, MultiWay) else join.operators
    seen.memory.append(sum(getattr(own, "memory_used", getattr(own, "rows_held", 0)) for own in operators))


def computable(starts: NDArray[np.int64], clock: Sequence[int]) -> list[int]:
    """How many results can be known at each time: those that start before it."""
    ordered = np.sort(starts).tolist()
    return [bisect_left(ordered, at) for at in clock]


def figure_2(size: int = SIZE) -> Outcome:
    """Results over time and page accesses: one operator of four inputs against the cascade, by two strategies."""
    inputs = intervals(size)
    plain = watch(MultiWay.of(inputs, "buffer-input"), inputs)
    best = computable(np.concatenate(plain.starts), plain.clock)
    found: dict[str, Watched] = {}
    for strategy in STRATEGIES:
        disk = {"memory": MEMORY, "strategy": strategy}
        found[f"four-way, {strategy}"] = watch(MultiWay.of(inputs, "tpmj", **disk), inputs)
        found[f"cascade, {strategy}"] = watch(Cascade.of(inputs, "tpmj", **disk), inputs)
    rows = [_same(found, plain.total), _prompt(found["four-way, greedy"], best)]
    rows += [_pages(strategy, found) for strategy in STRATEGIES]
    series = {name: (own.clock, own.results) for name, own in found.items()}
    data = {"results over time (ms)": series | {"computable": (plain.clock, best)}}
    return Outcome(f"four streams of {size:,} intervals, runs on disk", "curves", data, tuple(rows))


def _same(found: dict[str, Watched], total: int) -> Row:
    counts = {own.total for own in found.values()}
    return Row(
        "631,130 results, the same by all", f"{total:,} in memory, {sorted(counts)} with runs", counts == {total}
    )


def _pages(strategy: str, found: dict[str, Watched]) -> Row:
    ours, theirs = found[f"four-way, {strategy}"].pages, found[f"cascade, {strategy}"].pages
    told = "{:,} page accesses against {:,}".format(*TOLD[strategy])
    share = f"{ours:,} against {theirs:,}, a share of {ours / theirs:.2f}"
    return Row(f"{strategy}: {told} for the cascade", share, ours <= FIFTH * theirs)


def _prompt(greedy: Watched, best: Sequence[int]) -> Row:
    """Greedy is behind what can be known by no more than what one run holds back."""
    late = [bisect_left(best, had) for had in greedy.results]
    behind = max(at - own for at, own in enumerate(late[:-1]))
    run = max(1, _run_length(greedy))
    return Row(
        "Greedy keeps up with what can be computed",
        f"never more than {behind} batches behind; a run takes {run}",
        behind <= run + 1,
    )


def _run_length(seen: Watched) -> int:
    """How many batches of every input fill the memory."""
    drops = [i for i in range(1, len(seen.memory)) if seen.memory[i] < seen.memory[i - 1]]
    return max(np.diff([0, *drops]).tolist(), default=1)


def figure_3(size: int = SIZE) -> Outcome:
    """Rates that change between 1 and 10 ms every 20 s: the adaptive strategy waits under load, then catches up."""
    inputs = intervals(size)
    join = MultiWay.of(inputs, "tpmj", memory=MEMORY, strategy="adaptive", fan_in=8)

    def pace(clock: int) -> int:
        return SLOW if (clock // SWITCH) % 2 else 1

    def before(step: int) -> None:
        join.operator.busy = step == 1

    seen = watch(join, inputs, pace, before)
    quiet = _gained(seen, pace)
    data = {
        "results over time (ms)": {"adaptive": (seen.clock, seen.results)},
        "bytes waiting to be written": {"memory": (seen.clock, seen.memory)},
    }
    rows = (
        Row("results come when the load is low", f"{quiet:.0%} of those before the end", quiet > 1 / 2),
        Row("memory rises to 1 MB, then is written", f"at most {max(seen.memory):,} bytes", max(seen.memory) <= MEMORY),
    )
    return Outcome(f"four streams of {size:,} intervals, rates that change", "curves", data, rows)


def _gained(seen: Watched, pace: Callable[[int], int]) -> float:
    """The share of results that came while the rate was low, the end left out."""
    steps = np.diff([0, *seen.results[:-1]])
    slow = [pace(clock - 1) == SLOW for clock in seen.clock[:-1]]
    return float(steps[slow].sum() / max(1, steps.sum()))


def in_memory(size: int = SIZE) -> Outcome:
    """The in-memory joins on the same streams: both variants, and the cascade; rows and results held."""
    inputs = intervals(size)
    found = {
        f"{kind.__name__.lower()}, {name}": watch(kind.of(inputs, name), inputs)
        for name in ("buffer-input", "buffer-output")
        for kind in (MultiWay, Cascade)
    }
    data = {
        "results over time (ms)": {name: (own.clock, own.results) for name, own in found.items()},
        "rows and results held": {name: (own.clock, own.memory) for name, own in found.items()},
    }
    held = {name: max(own.memory) for name, own in found.items()}
    multi, cascade = held["multiway, buffer-input"], held["cascade, buffer-input"]
    rows = (
        Row(
            "all find the same",
            f"{sorted({own.total for own in found.values()})}",
            len({o.total for o in found.values()}) == 1,
        ),
        Row("the four-way join holds less", f"{multi:,} rows against {cascade:,}", multi < cascade),
    )
    return Outcome(f"four streams of {size:,} intervals, in memory", "curves", data, rows)


STREAMS: dict[str, Callable[[], Outcome]] = {
    "streams-figure-2": figure_2,
    "streams-figure-3": figure_3,
    "streams-in-memory": partial(in_memory, SIZE),
}
