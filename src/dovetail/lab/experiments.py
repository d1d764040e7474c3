"""The first document's experiments by the names of its figures and tables, each with what the document says of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise
from statistics import mean
from typing import TYPE_CHECKING, Any

from dovetail._core.placement.family import place
from dovetail._core.plan.knobs import FAMILY, Knobs
from dovetail.lab.measure import Measured, line, measure
from dovetail.lab.student import SIGNIFICANT, less_by_chance
from dovetail.lab.workloads import SIZE, highs, normal, uniform, wind, zipf

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dovetail.lab.workloads import Values

P = 10
PARTS = (3, 5, 8, 10)
WINDOWS = (1000, 2000, 5000, 10_000)
TIMES = 30
RANGES = (50, 100, 200, 500, 700, 1000, 1500, 10_000, 100_000, None)
MANY = 1_000_000
MOST_LOAD = 1.15
QUANTILE = Knobs("prefap", cuts="quantile")
ALL = {name: Knobs(name, P, SIZE) for name in FAMILY} | {"prefap, quantile": QUANTILE}
TWO = {name: ALL[name] for name in ("fast-theta", "prefap")}
STEPS = {
    "full": Knobs("prefap", P, SIZE),
    "no prefilter": Knobs("prefap", P, SIZE, prefilter=False),
    "no amalgamation": Knobs("prefap", P, SIZE, amalgamate=False),
    "neither": Knobs("prefap", P, SIZE, prefilter=False, amalgamate=False),
}


@dataclass(frozen=True, slots=True)
class Workload:
    """Streams to join, and the signs between them."""

    title: str
    signs: tuple[str, ...]
    streams: Callable[..., list[Values]]


@dataclass(frozen=True, slots=True)
class Row:
    """What the document says, beside what was measured here."""

    claim: str
    measured: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """The rows of the report, the numbers of the figure, and how to draw them."""

    title: str
    drawing: str
    data: dict[str, Any]
    rows: tuple[Row, ...]


UNIFORM = Workload("uniform [20, 50] <= [10, 40]", ("<=",), lambda **a: uniform([(20, 50), (10, 40)], **a))
ZIPF = Workload("zipf 1.2 <= 1.3", ("<=",), lambda **a: zipf([1.2, 1.3], **a))
WIND = Workload("wind speed, June >= October", (">=",), lambda **a: wind([6, 10], **a))
STOCKS = Workload("daily highs, IBM <= MSFT", ("<=",), lambda **a: highs(["IBM", "MSFT"], **a))
THREE = Workload(
    "uniform [20, 50] < [10, 40] <= [0, 30]", ("<", "<="), lambda **a: uniform([(20, 50), (10, 40), (0, 30)], **a)
)
THREE_STOCKS = Workload("daily highs, AAPL >= MSFT < IBM", (">=", "<"), lambda **a: highs(["AAPL", "MSFT", "IBM"], **a))
ABLATED = Workload("daily highs, AAPL <= MSFT", ("<=",), lambda **a: highs(["AAPL", "MSFT"], **a))
NORMAL = Workload("normal 1.2 > 1", (">",), lambda **a: normal([1.2, 1.0], **a))
CALM = Workload("wind speed, June <= October", ("<=",), lambda **a: wind([6, 10], **a))
SHIFTED = Workload("uniform [0, 15] > [5, 20]", (">",), lambda **a: uniform([(0, 15), (5, 20)], **a))
LONG = Workload("daily highs, IBM > MSFT", (">",), lambda **a: highs(["IBM", "MSFT"], **a))


def compared(work: Workload, reduction: float, times: int = 1) -> Outcome:
    """All algorithms on one workload, on average of so many draws: figures 5 to 10."""
    draws = [work.streams(seed=seed) for seed in range(times)] if times > 1 else [work.streams()]
    every = {name: _measured(draws, work, knobs) for name, knobs in ALL.items()}
    found = {name: _average(own) for name, own in every.items()}
    coarse = {name: _average(_measured(draws, work, replace(knobs, partitions=5))) for name, knobs in TWO.items()}
    ours, half = _reduction(found), _reduction(coarse)
    told = f", on average of {times} draws" if times > 1 else ""
    rows = (
        Row(
            f"Prefap performs {reduction}% fewer products than FastThetaJoin",
            f"{ours:.1f}% fewer at p = 10, {half:.1f}% at p = 5{told}",
            ours > 0,
        ),
        _quantile_row(every["prefap, quantile"], sum(values.size for values in draws[0])),
    )
    data = {"streams": [own.tolist() for own in draws[0]], "measured": _plain(found), "at p = 5": _plain(coarse)}
    return Outcome(work.title, "bars", data, rows)


def _measured(draws: Sequence[list[Values]], work: Workload, knobs: Knobs) -> list[Measured]:
    return [measure(streams, work.signs, knobs) for streams in draws]


def _average(found: Sequence[Measured]) -> Measured:
    products, results = (round(mean(getattr(own, name) for own in found)) for name in ("products", "results"))
    others = (mean(getattr(own, name) for own in found) for name in ("milliseconds", "load_in", "load_out"))
    return Measured(products, results, *others)


def _reduction(found: Mapping[str, Measured]) -> float:
    return 100 * (1 - found["prefap"].products / found["fast-theta"].products)


def _quantile_row(draws: Sequence[Measured], size: int) -> Row:
    """Of several draws the one that comes closest to its limit."""
    found = max(draws, key=lambda own: own.products - 1.05 * own.results)
    most = 1.05 * found.results + size
    return Row(
        "ours: cut by quantile, at most 1.05 x results + rows of all streams",
        f"{found.products:,} products, {found.results:,} results, limit {most:,.0f}",
        found.products <= most,
    )


def _plain(found: Mapping[Any, Measured]) -> dict[str, dict[str, Any]]:
    return {str(name): asdict(own) for name, own in found.items()}


def significance() -> Outcome:
    """Thirty repetitions each of three workloads, on data drawn anew: figure 11."""
    rows, data = [], {}
    for name, work in {"zipf": ZIPF, "wind": WIND, "three stocks": THREE_STOCKS}.items():
        metrics = ("products", "milliseconds", "load_in", "load_out")[: 4 if len(work.signs) == 1 else 2]
        series = _repeated(work, metrics)
        chance = {metric: less_by_chance(*series[metric].values()) for metric in metrics}
        data[name] = {"chance": chance, "series": series}
        rows += [
            Row(
                f"{name}: {metric} of Prefap significantly less than FastThetaJoin's (p < {SIGNIFICANT})",
                f"p = {value:.2g}",
                value < SIGNIFICANT,
            )
            for metric, value in chance.items()
        ]
    return Outcome("significance of Prefap's gains over FastThetaJoin", "chances", data, tuple(rows))


def _repeated(work: Workload, metrics: Sequence[str]) -> dict[str, dict[str, list[float]]]:
    """Each metric of both algorithms, repetition by repetition."""
    size = 200 if len(work.signs) > 1 else SIZE
    found = [
        {name: measure(streams, work.signs, replace(knobs, window=size)) for name, knobs in TWO.items()}
        for streams in (work.streams(size=size, seed=seed) for seed in range(TIMES))
    ]
    names = ("prefap", "fast-theta")
    return {metric: {name: [getattr(own[name], metric) for own in found] for name in names} for metric in metrics}


def zipf_ranges() -> Outcome:
    """How far zipf's values reach decides what Prefap gains: thirty draws for each of some ranges."""
    rows, data = [], {}
    for reach in RANGES:
        metrics = ("products", "load_in", "load_out")
        work = replace(ZIPF, streams=partial(zipf, [1.2, 1.3], ranks=reach))
        series = _repeated(work, metrics)
        chance = {metric: less_by_chance(*series[metric].values()) for metric in metrics}
        gain = 100 * (1 - mean(series["products"]["prefap"]) / mean(series["products"]["fast-theta"]))
        name = "without end" if reach is None else f"up to {reach:,}"
        data[name] = {"gain": gain, "chance": chance}
        told = ", ".join(f"{metric} p = {value:.2g}" for metric, value in chance.items())
        claim = f"{name}: 19.4% fewer products, all metrics significant"
        rows.append(Row(claim, f"{gain:.1f}% fewer on average; {told}", max(chance.values()) < SIGNIFICANT))
    return Outcome("zipf 1.2 <= 1.3, by how far the values reach", "chances", data, tuple(rows))


def ablation(work: Workload, claims: Mapping[str, float]) -> Outcome:
    """Prefap without one of its steps, and without both: tables 3 and 4."""
    streams = work.streams()
    rows, data = [], {}
    for parts in (P, 5):
        found = {name: measure(streams, work.signs, replace(own, partitions=parts)) for name, own in STEPS.items()}
        more = {name: 100 * (own.products / found["full"].products - 1) for name, own in found.items()}
        data[f"p = {parts}"] = _plain(found)
        rows += [
            Row(f"{name}: {claim}% more products", f"{more[name]:.1f}% more at p = {parts}", more[name] >= 0)
            for name, claim in claims.items()
        ]
    return Outcome(f"ablation, {work.title}", "steps", data, tuple(rows))


def by_parts(work: Workload) -> Outcome:
    """Finer and finer cells: figures 12 and 13."""
    streams = work.streams()
    found = {
        name: {p: measure(streams, work.signs, replace(own, partitions=p)) for p in PARTS} for name, own in ALL.items()
    }
    return _swept(work, found, "p")


def by_window(work: Workload) -> Outcome:
    """Larger and larger windows: figures 14 and 15."""
    streams = {w: work.streams(size=w) for w in WINDOWS}
    found: dict[str, dict[int, Measured]] = {name: {} for name in ALL}
    for name, own in ALL.items():
        for w in WINDOWS:
            found[name][w] = measure(streams[w], work.signs, replace(own, window=w))
    return _swept(work, found, "w")


def _swept(work: Workload, found: Mapping[str, Mapping[int, Measured]], what: str) -> Outcome:
    ours, theirs = ([own.products for own in found[name].values()] for name in ("prefap", "fast-theta"))
    gains = ", ".join(
        f"{100 * (1 - a / b):.1f}% at {what} = {at:,}" for a, b, at in zip(ours, theirs, found["prefap"], strict=True)
    )
    fewer = all(a < b for a, b in zip(ours, theirs, strict=True))
    rows = [Row(f"Prefap performs fewer products than FastThetaJoin at every {what}", gains, fewer)]
    if what == "p":
        falls = all(a >= b for a, b in pairwise(ours))
        rows.append(Row("Prefap's products fall as p rises", ", ".join(f"{own:,}" for own in ours), falls))
    else:
        rivals = [name for name in FAMILY if name != "prefap"]
        least = all(
            own.products <= min(found[name][w].products for name in rivals) for w, own in found["prefap"].items()
        )
        told = ", ".join(f"{100 * (own.products / own.results - 1):.1f}%" for own in found["prefap"].values())
        rows.append(
            Row("Prefap performs the fewest products at every w, close to the results", f"{told} above them", least)
        )
    data = {"what": what, "measured": {name: _plain(own) for name, own in found.items()}}
    return Outcome(work.title, "lines", data, tuple(rows))


def at_scale() -> Outcome:
    """Cells cut by quantile on a million rows a side, dealt to eight workers."""
    drawn = {
        "uniform": uniform([(20, 50), (10, 40)], MANY),
        "normal": normal([1.2, 1.0], MANY),
        "zipf": zipf([1.2, 1.3], MANY),
    }
    rows, data = [], {}
    for name, (left, right) in drawn.items():
        low, high = line(left), line(right)
        cells = place(low, high, QUANTILE, strict=False)
        load_in, load_out = cells.loads(8)
        most = 1.05 * cells.results + low.size + high.size
        data[name] = {
            "products": cells.products,
            "results": cells.results,
            "limit": most,
            "load_in": load_in,
            "load_out": load_out,
        }
        rows.append(
            Row(
                f"ours: {name}, a million a side, products at most 1.05 x results + rows, loads at most {MOST_LOAD}",
                f"{cells.products / cells.results:.4f} x results, load in {load_in:.3f}, out {load_out:.3f}",
                cells.products <= most and max(load_in, load_out) <= MOST_LOAD,
            )
        )
    return Outcome("quantile cuts on a million rows a side, eight workers", "scale", data, tuple(rows))


EXPERIMENTS: dict[str, Callable[[], Outcome]] = {
    "figure-05": lambda: compared(UNIFORM, 34.7),
    "figure-06": lambda: compared(ZIPF, 19.4, TIMES),
    "figure-06-ranges": zipf_ranges,
    "figure-07": lambda: compared(WIND, 3.0),
    "figure-08": lambda: compared(STOCKS, 37.7),
    "figure-09": lambda: compared(THREE, 24.1),
    "figure-10": lambda: compared(THREE_STOCKS, 7.7),
    "figure-11": significance,
    "table-3": lambda: ablation(ABLATED, {"no prefilter": 1.0, "no amalgamation": 16.8, "neither": 29.1}),
    "table-4": lambda: ablation(THREE_STOCKS, {"no prefilter": 0.2, "no amalgamation": 6.3, "neither": 12.9}),
    "figure-12": lambda: by_parts(NORMAL),
    "figure-13": lambda: by_parts(CALM),
    "figure-14": lambda: by_window(SHIFTED),
    "figure-15": lambda: by_window(LONG),
    "at-scale": at_scale,
}
