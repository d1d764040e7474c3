"""A fair race: contenders take turns in one process, give the same answer, and first runs are kept apart."""

from __future__ import annotations

import gc
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from benchmarks.figures import FINAL, Claim, Timing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.progress import TaskID

CONSOLE = Console(width=None if sys.stdout.isatty() else 180)
OURS = "dovetail"
HOPELESS = 2.0
"""A variant this many times slower than its engine's best is not timed again."""
LONG = 4.0
"""A first run that takes this many times the time for warming up has done so itself."""
LASTING = 120.0
"""Who takes this long is not run again: its first run counts, since what is cold about it is lost in the rest."""
ASLEEP = 45.0
"""After so many seconds a contender is woken first: Spark ends Python workers that have been idle for a minute."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Enough of a result to tell whether two are the same."""

    rows: int
    checksum: int


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to get the answer: `run` is timed, `weigh` looks at what it returned."""

    name: str
    engine: str
    settings: str
    run: Callable[[], Any]
    weigh: Callable[[Any], Answer]


class WrongAnswerError(Exception):
    """Two contenders disagree: nothing that they took part in counts."""


@dataclass(slots=True)
class _Runs:
    cold: float
    answer: Answer | None
    warm: list[float] = field(default_factory=list)
    ended: float = 0.0


def compete(
    race: str,
    contenders: Sequence[Contender],
    *,
    repeat: int,
    stage: str = FINAL,
    rivals: bool = True,
    warm_up: float = 0.0,
) -> list[Timing]:
    """Let everyone run once, then take turns `repeat` times (A B C A B C ...).

    Rivals answer the same question: their answers must agree, and variants without hope leave after one turn. Before
    the turns everyone may run for `warm_up` seconds, as jobs of a new JVM take some runs to settle, unless the first
    run took far longer. Who takes minutes runs only once. Whoever had to wait so long for a slow rival that its
    processes may have been ended is woken by a run that is not timed.
    """
    runs: dict[str, _Runs] = {}
    with _progress() as progress:
        lane = _Lane(progress, progress.add_task(race, total=len(contenders) * (repeat + 1)), f"{race}, {stage}")
        for one in contenders:
            with lane.step(f"{one.name}, first run"):
                runs[one.name] = _first(one, warm_up)
        if rivals:
            _agree(runs)
        racing = [one for one in contenders if not runs[one.name].warm]
        for turn in range(repeat):
            for one in racing:
                with lane.step(f"{one.name}, turn {turn + 1}"):
                    own = runs[one.name]
                    if time.perf_counter() - own.ended > ASLEEP:
                        one.run()
                    own.warm.append(seconds(one.run)[0])
                    own.ended = time.perf_counter()
            racing = _hopeful(racing, runs) if rivals else racing
    return [_timing(one, runs[one.name], stage) for one in contenders]


def _first(one: Contender, warm_up: float) -> _Runs:
    """Run once, look at the answer and warm up; of who takes too long to be run again, the first run alone."""
    cold, result = seconds(one.run)
    if cold > LASTING:
        return _Runs(cold, None, [cold])
    found = _Runs(cold, one.weigh(result))
    del result  # its memory must not weigh on the next run
    if cold < LONG * warm_up:
        _warm(one.run, warm_up)
    found.ended = time.perf_counter()
    return found


def _warm(run: Callable[[], Any], budget: float) -> None:
    """Run as often as fits some seconds."""
    end = time.perf_counter() + budget
    while time.perf_counter() < end:
        run()


def seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    """How long it takes, and what it returns."""
    gc.collect()
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def fastest(timings: Sequence[Timing]) -> Timing:
    """The one with the least median."""
    return min(timings, key=lambda one: one.median)


def times_faster(what: str, timings: Sequence[Timing], target: float) -> Claim:
    """How many times faster we are than the fastest of all others."""
    ours = next(one for one in timings if one.engine == OURS)
    rivals = [one for one in timings if one.engine != OURS]
    best = min(one.best for one in rivals) / ours.best
    value = fastest(rivals).median / ours.median
    return Claim(what, fastest(rivals).contender, value, target, "at least", by_best=best)


def times_longer(what: str, slow: Timing, quick: Timing, target: float) -> Claim:
    """How many times longer one run takes than another, where that must stay small."""
    value, best = slow.median / quick.median, slow.best / quick.best
    return Claim(what, quick.contender, value, target, "at most", by_best=best)


def _agree(runs: dict[str, _Runs]) -> None:
    answers = {name: own.answer for name, own in runs.items() if own.answer is not None}
    if len(set(answers.values())) > 1:
        raise WrongAnswerError(answers)


def _hopeful(racing: Sequence[Contender], runs: dict[str, _Runs]) -> list[Contender]:
    """Those that may still turn out to be their engine's best."""

    def best(engine: str) -> float:
        return min(min(runs[other.name].warm) for other in racing if other.engine == engine)

    return [one for one in racing if min(runs[one.name].warm) <= HOPELESS * best(one.engine)]


def _timing(one: Contender, own: _Runs, stage: str) -> Timing:
    answer = own.answer or Answer(0, 0)
    return Timing(one.name, one.engine, one.settings, stage, own.cold, own.warm, answer.rows, answer.checksum)


def _progress() -> Progress:
    """A line that is drawn between runs only, never during one."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=CONSOLE, transient=True, auto_refresh=False, disable=not CONSOLE.is_terminal)


@dataclass(frozen=True, slots=True)
class _Lane:
    progress: Progress
    task: TaskID
    title: str

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Show what runs now; count it when it is done."""
        self.progress.update(self.task, description=f"{self.title}: {what}", refresh=True)
        yield
        self.progress.advance(self.task)
