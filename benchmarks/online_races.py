"""The online engine on the fourth document's streams: its three algorithms against each other, and its latencies.

Throughput is measured with full buffers, rows in batches of 20,000, two joiners; latency at the document's rates, a
batch every two milliseconds, from when a batch is due to its results. Races of two ways that are nearly alike are run
in several processes, each with turns of its own, and pooled.
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from benchmarks.figures import FINAL, Claim, Outcome, Timing
from benchmarks.harness import CONSOLE, OURS
from dovetail._core.sweep.teams import unbalancedness
from dovetail.lab.online_measure import at_pace, balance, engine_for, pace, paced
from dovetail.lab.online_streams import PROBE, STREAMS, Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmarks.figures import Stand

    Ways = Mapping[str, tuple[Stream, dict[str, Any]]]

ROWS, BATCH, SECONDS = 1_000_000, 20_000, 5.0
PACED_SECONDS, PIECE, EVERY, BUSY = 10.0, 2.0, 0.002, 0.0008
JOINERS = 2
MOST_TURNS, SHORT_TURNS, PROCESSES = 3, 7, 7
"""Where a turn takes minutes, and where it takes less than a second: medians of a few of those swing by a third."""
ALGORITHMS = ("scale", "key", "split")


def races() -> dict[str, Callable[[Stand], Outcome]]:
    """Every race by its name."""
    return {
        "online-throughput": throughput,
        "online-adverse": adverse,
        "online-lateness": partial(_grown, "online-lateness", {"lateness": 100_000, "disorder": 0.0001}, 0.9),
        "online-window": partial(_grown, "online-window", {"window": 1_000_000}, 0.8),
        "online-balance": balanced,
        "online-latency": latency,
        "online-request": request,
    }


def throughput(stand: Stand) -> Outcome:
    """Scale-OIJ over Key-OIJ and SplitJoin on workloads A to D: the best ratio of each counts, as in the document."""
    timings: list[Timing] = []
    ratios: dict[str, dict[str, float]] = {"key": {}, "split": {}}
    for name in "ABCD":
        found = _turns(f"workload {name}", {own: (STREAMS[name], {"algorithm": own}) for own in ALGORITHMS}, stand)
        timings += found.values()
        for rival, ratio in ratios.items():
            ratio[name] = found[rival].median / found["scale"].median
    targets = {"key": 24.0, "split": 20.0}
    claims = [
        Claim(f"Online: scale over {rival}, best of A to D", rival, max(own.values()), targets[rival], "at least")
        for rival, own in ratios.items()
    ]
    notes = [
        f"Online: scale over {rival}: " + ", ".join(f"{name} {value:.1f}x" for name, value in own.items())
        for rival, own in ratios.items()
    ]
    return Outcome("online-throughput", "Online: throughput", _told(stand), claims, timings, notes)


def adverse(stand: Stand) -> Outcome:
    """Many keys, tiny windows, hardly any lateness: where the document's own algorithm loses."""
    ways: Ways = {own: (STREAMS["adverse"], {"algorithm": own}) for own in ("key", "scale")}
    found, note = _by_processes("adverse", ways, stand)
    value, best = found["key"].median / found["scale"].median, found["key"].best / found["scale"].best
    claim = Claim("Online: scale over key, adverse workload", "key", value, 1.0, "at least", by_best=best)
    return Outcome("online-adverse", "Online: adverse workload", _told(stand), [claim], [*found.values()], [note])


def _grown(race: str, change: Mapping[str, Any], target: float, stand: Stand) -> Outcome:
    """The throughput of `scale` on the synthetic default when one figure is a thousand times larger."""
    plain = STREAMS["default"]
    found, note = _by_processes(race, {"1x": (plain, {}), "1000x": (plain.scaled(**change), {})}, stand)
    what = race.removeprefix("online-")
    value, best = found["1x"].median / found["1000x"].median, found["1x"].best / found["1000x"].best
    claim = Claim(
        f"Online: {what} 1,000 times larger, throughput over before", "1x", value, target, "at least", "x", best
    )
    return Outcome(race, f"Online: {what} 1,000 times larger", _told(stand), [claim], [*found.values()], [note])


def _by_processes(race: str, ways: Ways, stand: Stand) -> tuple[dict[str, Timing], str]:
    """Two ways by turns in several processes, and a note of the ratio in each.

    What the two differ by is little more than what a process differs by from the next, whose memory lies elsewhere.
    """
    runs: list[dict[str, Timing]] = []
    for _ in range(PROCESSES):
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            runs.append(process.submit(_turns, race, ways, stand, turns=SHORT_TURNS).result())
    one, other = ways
    ratios = _listed([run[one].median / run[other].median for run in runs], ".2f")
    found = {name: replace(own, warm=[t for run in runs for t in run[name].warm]) for name, own in runs[0].items()}
    return found, f"Online: {race.removeprefix('online-')}, {one} over {other} by processes: {ratios}."


def balanced(stand: Stand) -> Outcome:
    """Sixteen simulated joiners, from one key to ten thousand."""
    apart = {
        keys: unbalancedness(balance(STREAMS["default"].scaled(keys=keys), 16, stand.rows(ROWS), schedule=True))
        for keys in (1, 2, 5, 10, 17, 33, 100, 1000, 10_000)
    }
    claim = Claim(
        "Online: unbalancedness of 16 simulated joiners", "1 to 10,000 keys", max(apart.values()), 0.1, "at most", ""
    )
    note = "Online: unbalancedness by keys: " + ", ".join(f"{keys:,}: {value:.4f}" for keys, value in apart.items())
    return Outcome("online-balance", "Online: balance", f"{stand.rows(ROWS):,} rows", [claim], [], [note])


def latency(stand: Stand) -> Outcome:
    """Milliseconds from when a batch is due to its results, p99, at the rates of A, B and D, by turns.

    Beside it, what says how much of that is the machine: the same from when a batch was there (due while the engine is
    at work, or the loop woken), of every two seconds; and of a loop that only keeps the processor busy.
    """
    whole: dict[str, list[float]] = {name: [] for name in "ABD"}
    pieces: dict[str, list[float]] = {name: [] for name in "ABD"}
    busy: list[float] = []
    for turn in range(max(1, stand.repeat)):
        for name, late in whole.items():
            stream = STREAMS[name]
            batch = max(1, int(stream.rate * EVERY))
            with CONSOLE.status(f"online-latency: {name}, turn {turn + 1}"):
                busy += _p99s(at_pace(_keep_busy, int(2 * PIECE / EVERY), EVERY).from_there)
                rows = stand.rows(int(PACED_SECONDS * stream.rate))
                delays = paced(stream, rows, batch, stream.rate, joiners=JOINERS)
            late.append(_p99(delays.from_due))
            pieces[name] += _p99s(delays.from_there)
    claims = [
        Claim(f"Online: push, workload {name}, p99", "5 ms", statistics.median(late), 5.0, "at most", "ms", min(late))
        for name, late in whole.items()
    ]
    notes = [
        f"Online: push, workload {name}: p99 by turns {_listed(late)} ms; from when a batch was there, of every "
        f"{PIECE:.0f} seconds, {_listed(pieces[name])} ms."
        for name, late in whole.items()
    ]
    notes.append(
        f"Online: push: a loop that only keeps the processor busy for {BUSY * 1e3:.1f} ms of every "
        f"{EVERY * 1e3:.0f} ms: {_listed(busy)} ms, of which the middle one is {statistics.median(busy):.1f}."
    )
    told = f"{max(1, stand.repeat)} turns of {PACED_SECONDS:.0f} seconds, a batch every {EVERY * 1e3:.0f} ms"
    return Outcome("online-latency", "Online: latency of push", told, claims, [], notes)


def _keep_busy(first: int, last: int) -> None:
    """Take as long as a push does for each of some things."""
    end = time.perf_counter() + BUSY * (last - first)
    while time.perf_counter() < end:
        pass


def _p99s(seconds: NDArray[np.float64]) -> list[float]:
    """Of every so many seconds."""
    return [_p99(own) for own in np.array_split(seconds, max(1, round(seconds.size * EVERY / PIECE)))]


def _listed(values: Sequence[float], shape: str = ".1f") -> str:
    return ", ".join(f"{value:{shape}}" for value in values)


def _p99(seconds: NDArray[np.float64]) -> float:
    return float(np.quantile(seconds, 0.99)) * 1e3


def request(stand: Stand) -> Outcome:
    """Single rows answered at once, over a million rows of ten thousand keys."""
    rows, keys = stand.rows(ROWS), 10_000
    stream = Stream("request", 1e6, keys, 10 * rows, 0, 1.0)
    dice = np.random.default_rng(0)
    agg = {"n": "count(*)", "total": "sum(v)", "most": "max(v)", "last": "last(v)"}
    engine = engine_for(stream, agg=agg, joiners=JOINERS)
    at = np.arange(rows)
    engine.insert(pa.RecordBatch.from_arrays([dice.integers(0, keys, rows), at, dice.random(rows)], schema=PROBE))
    asked = [{"k": int(key), "ts": rows} for key in dice.integers(0, keys, 20_000)]
    for row in asked[:1000]:
        engine.request(row)
    seconds = np.array([_seconds(partial(engine.request, row)) for row in asked])
    value = float(np.quantile(seconds, 0.99)) * 1e3
    claim = Claim("Online: request, p99", "0.3 ms", value, 0.3, "at most", "ms")
    note = f"Online: request, median {float(np.median(seconds)) * 1e3:.3f} ms"
    return Outcome("online-request", "Online: request", f"{rows:,} rows, {keys:,} keys", [claim], [], [note])


def _turns(race: str, ways: Ways, stand: Stand, *, turns: int | None = None) -> dict[str, Timing]:
    """Seconds for a million rows, the contenders by turns: as many as said, else some of those asked for."""
    runs: dict[str, list[float]] = {name: [] for name in ways}
    rows = stand.rows(ROWS)
    for turn in range(1 + (turns or min(stand.repeat, MOST_TURNS))):
        for name, (stream, choices) in ways.items():
            with CONSOLE.status(f"{race}: {name}, turn {turn}"):
                found = pace(stream, rows, min(BATCH, rows), seconds=SECONDS, joiners=JOINERS, **choices)
            runs[name].append(1e6 / found.throughput)
    return {
        f"{name}": Timing(
            f"{race}, {name}", OURS if name == "scale" else name, "joiners=2", FINAL, own[0], own[1:], 0, 0
        )
        for name, own in runs.items()
    }


def _told(stand: Stand) -> str:
    return f"up to {stand.rows(ROWS):,} rows into full buffers; times are for a million rows"


def _seconds(call: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def soak(seconds: float = 600.0, rate: int = 100_000) -> float:
    """Take in rows at a rate for some time; return the last memory over that after a tenth of the time."""
    import psutil  # noqa: PLC0415 -- only here

    from dovetail.lab.online_streams import arrivals  # noqa: PLC0415

    stream = STREAMS["A"].scaled(rate=float(rate), keys=1000)
    engine = engine_for(stream, joiners=JOINERS)
    process, held, begun, number = psutil.Process(), [], time.perf_counter(), 0
    while (now := time.perf_counter() - begun) < seconds:
        for probe, base in arrivals(stream, rate, begin=number * rate).batches(rate // 100):
            engine.push(base, probe)
        number += 1
        held.append(process.memory_info().rss)
        if number % 30 == 0:
            CONSOLE.print(f"{now:.0f} s, {number * rate:,} rows, {held[-1] / 1e6:.0f} MB")
        time.sleep(max(0.0, begun + number - time.perf_counter()))
    early = statistics.median(held[max(1, len(held) // 10) :][:10])
    return statistics.median(held[-10:]) / early


if __name__ == "__main__":
    grown = soak()
    CONSOLE.print(f"memory at the end over memory at the start: {grown:.3f} (at most 1.05)")
    raise SystemExit(grown > 1.05)
