"""The fourth document's experiments by the names of its figures, for one and two joiners, with what it says of each.

Its machine has 24 cores and its data are not public, so `holds` judges the direction. Balance of 4 to 48 joiners is
counted on one thread. Figures without data (1 to 3, 10, 12, 15) and those of its database (22, 23) are left out.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail._core.sweep.teams import unbalancedness
from dovetail.lab.experiments import Outcome, Row
from dovetail.lab.online_measure import balance, pace
from dovetail.lab.online_streams import STREAMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from dovetail.lab.online_measure import Pace
    from dovetail.lab.online_streams import Stream

ROWS, BATCH, SECONDS = 400_000, 10_000, 1.5
TIMES = (1, 10, 100, 1000)
KEYS = (1, 10, 100, 1000, 10_000)
WORKLOADS = "ABCD"
WAYS: dict[str, dict[str, Any]] = {
    "Scale-OIJ": {},
    "without incremental": {"incremental": False},
    "Key-OIJ": {"algorithm": "key"},
    "SplitJoin": {"algorithm": "split"},
}
BAR = 0.020
"""The users' bar in seconds."""
DEFAULT = STREAMS["default"]
EVEN = 0.1
ANY = float("inf")


def _pace(stream: Stream, **choices: Any) -> Pace:
    return pace(stream, ROWS, BATCH, seconds=SECONDS, **choices)


def _later(times: int) -> Stream:
    """The default with a greater lateness allowed, its rows no more out of order."""
    return DEFAULT.scaled(lateness=DEFAULT.lateness * times, disorder=DEFAULT.disorder / times)


def _wider(times: int) -> Stream:
    return DEFAULT.scaled(window=DEFAULT.window * times)


def _keyed(keys: int) -> Stream:
    return DEFAULT.scaled(keys=keys)


def _lines(what: str, x: Iterable[Any], unit: str, series: Mapping[str, list[float]]) -> dict[str, Any]:
    return {"what": what, "x": [str(own) for own in x], "unit": unit, "series": dict(series)}


def _rates(rates: Mapping[Any, float]) -> str:
    return ", ".join(f"{name}: {rate / 1e3:,.0f} K/s" for name, rate in rates.items())


def scalability() -> Outcome:
    """Key-OIJ by joiners: figure 4."""
    found = {name: [_pace(STREAMS[name], algorithm="key", joiners=n).throughput for n in (1, 2)] for name in WORKLOADS}
    slow = min(found, key=lambda name: found[name][1])
    rows = (
        Row("Key-OIJ is slowest where windows or lateness are large (B, C)", f"slowest: {slow}", slow in "BC"),
        Row(
            "5 keys (A) do not share out evenly",
            f"two joiners are {found['A'][1] / found['A'][0]:.2f} times as fast as one",
            found["A"][1] < 2 * found["A"][0],
        ),
    )
    return Outcome("Key-OIJ by joiners", "series", _lines("joiners", (1, 2), "rows a second", found), rows)


def latencies(algorithm: str = "key") -> Outcome:
    """How long pushes of a batch take: figure 5."""
    cuts = (0.5, 0.9, 0.99)
    found = {
        name: [float(np.quantile(_pace(STREAMS[name], algorithm=algorithm, joiners=2).pushes, cut)) for cut in cuts]
        for name in WORKLOADS
    }
    told = ", ".join(f"{name} {own[-1] * 1e3:.0f} ms" for name, own in found.items())
    rows = (Row("Key-OIJ misses 20 ms on B and C", f"p99 of a batch of {BATCH:,}: {told}", found["C"][-1] > BAR),)
    return Outcome("Key-OIJ, latency of a batch", "series", _lines("quantile", cuts, "seconds", found), rows)


def breakdown() -> Outcome:
    """What Key-OIJ spends its visits on, rows in the window or out of it: figure 6."""
    share = {name: _pace(STREAMS[name], algorithm="key", joiners=2).told["effectiveness"] for name in WORKLOADS}
    series = {"match": [*share.values()], "look-up": [1 - own for own in share.values()]}
    told = ", ".join(f"{name} {own:.0%}" for name, own in share.items())
    rows = (
        Row("B matches most, its windows being large", f"matches: {told}", share["B"] == max(share.values())),
        Row("C looks up most, its lateness being large", f"matches: {told}", share["C"] == min(share.values())),
    )
    return Outcome("Key-OIJ, matches and look-ups", "series", _lines("workload", share, "share", series), rows)


def swept(
    title: str,
    make: Callable[[int], Stream],
    over: tuple[int, ...],
    ways: tuple[str, ...],
    claim: tuple[str, float, float],
) -> Outcome:
    """Throughput of some ways over a figure that grows: figures 7, 8, 9, 11, 13b, 16.

    The claim is a text and the least and most that the first way's last throughput may be of its first.
    """
    found = {name: [_pace(make(n), joiners=2, **WAYS[name]).throughput for n in over] for name in ways}
    kept = {name: own[-1] / own[0] for name, own in found.items()}
    told = ", ".join(f"{name} {value:.2f}" for name, value in kept.items())
    text, least, most = claim
    rows = (Row(text, f"last over first: {told}", least <= kept[ways[0]] <= most),)
    return Outcome(title, "series", _lines(title, over, "rows a second", found), rows)


def balances() -> Outcome:
    """Unbalancedness of simulated joiners: figures 8b and 13c."""
    found: dict[str, list[float]] = {}
    for joiners in (4, 16, 48):
        for name, schedule in (("scheduled", True), ("by hash", False)):
            apart = [unbalancedness(balance(_keyed(n), joiners, ROWS, schedule=schedule)) for n in KEYS]
            found[f"{joiners} joiners, {name}"] = apart
    most = max(max(own) for name, own in found.items() if "scheduled" in name)
    rows = (
        Row(
            "few keys unbalance Key-OIJ",
            f"1 key, 16 joiners: {found['16 joiners, by hash'][0]:.2f}",
            found["16 joiners, by hash"][0] > EVEN,
        ),
        Row("Scale-OIJ is balanced at any number of keys", f"at most {most:.3f}", most <= EVEN),
    )
    return Outcome("unbalancedness of joiners", "series", _lines("keys", KEYS, "unbalancedness", found), rows)


def skewed() -> Outcome:
    """Hot keys that change: the load of 16 joiners along time: figure 14."""
    stream = DEFAULT.scaled(keys=10_000, hot=20)
    quarters = range(ROWS // 4, ROWS + 1, ROWS // 4)
    found = {
        name: [unbalancedness(balance(stream, 16, rows, schedule=schedule)) for rows in quarters]
        for name, schedule in (("scheduled", True), ("by hash", False))
    }
    ours, theirs = (float(np.mean(own)) for own in found.values())
    rows = (Row("the schedule follows hot keys", f"unbalancedness {ours:.2f} against {theirs:.2f}", ours < theirs),)
    return Outcome("hot keys that change", "series", _lines("quarter", range(1, 5), "unbalancedness", found), rows)


def compared(name: str, claim: str, *, wins: bool = True) -> Outcome:
    """All ways on one workload, for one and two joiners: figures 17 to 21."""
    found = {way: [_pace(STREAMS[name], joiners=n, **own).throughput for n in (1, 2)] for way, own in WAYS.items()}
    two = {way: own[1] for way, own in found.items()}
    first = two["Scale-OIJ"] / two["Key-OIJ"]
    rows = (Row(claim, f"{_rates(two)}; Scale-OIJ over Key-OIJ {first:.1f}", (first > 1) == wins),)
    return Outcome(f"workload {name}", "series", _lines("joiners", (1, 2), "rows a second", found), rows)


BOTH = ("Scale-OIJ", "Key-OIJ")
ONLINE: dict[str, Callable[[], Outcome]] = {
    "online-figure-04": scalability,
    "online-figure-05": latencies,
    "online-figure-06": breakdown,
    "online-figure-07": partial(
        swept, "lateness", _later, TIMES, ("Key-OIJ",), ("lateness slows Key-OIJ down", 0, 0.5)
    ),
    "online-figure-08": partial(swept, "keys", _keyed, KEYS, BOTH[::-1], ("Key-OIJ is slow on few keys", 1, ANY)),
    "online-figure-09": partial(
        swept, "window", _wider, TIMES, ("Key-OIJ",), ("large windows slow Key-OIJ down", 0, 0.5)
    ),
    "online-figure-11": partial(
        swept, "lateness", _later, TIMES, BOTH, ("Scale-OIJ hardly changes with the lateness", 0.8, ANY)
    ),
    "online-figure-13": balances,
    "online-figure-14": skewed,
    "online-figure-16": partial(
        swept,
        "window",
        _wider,
        TIMES,
        ("Scale-OIJ", "without incremental", "Key-OIJ"),
        ("Scale-OIJ keeps its pace", 0.8, ANY),
    ),
    "online-figure-17": partial(compared, "A", "Scale-OIJ is far faster than Key-OIJ and SplitJoin"),
    "online-figure-18": partial(compared, "B", "incremental aggregation makes large windows fast"),
    "online-figure-19": partial(compared, "C", "the index alone makes Scale-OIJ faster"),
    "online-figure-20": partial(compared, "D", "at a low rate all keep up; here unlimited, Scale-OIJ is faster"),
    "online-figure-21": partial(compared, "adverse", "Key-OIJ is the fastest here", wins=False),
}
