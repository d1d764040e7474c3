"""The figures of the experiments, after the document's own: one kind of drawing for each kind of experiment."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING, Any

from dovetail.lab.student import SIGNIFICANT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dovetail.lab.experiments import Outcome

# Readable in print and by colour-blind readers.
COLOURS = ("#9aa5b1", "#c7b299", "#7aa6a1", "#e0a458", "#1f4e79", "#7b3f61")
FLOOR = "#b5382a"
PANELS = {
    "products": "Cartesian products",
    "milliseconds": "elapsed (ms)",
    "load_in": "load balancing ratio, in",
    "load_out": "load balancing ratio, out",
}
LEAST_CHANCE = 1e-30
WHOLE = 1000


def draw(outcome: Outcome, path: Path) -> None:
    """Write the figure of an experiment as PNG and as SVG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 -- slow to import
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(11, 7.5), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(outcome.title)
    _DRAWINGS[outcome.drawing](figure, outcome.data)
    figure.savefig(path.with_suffix(".png"), dpi=120)
    figure.savefig(path.with_suffix(".svg"))


def _panels(figure: Figure) -> dict[str, Axes]:
    """Four panels, one for each metric."""
    found = dict(zip(PANELS, figure.subplots(2, 2).flat, strict=True))
    for metric, axes in found.items():
        axes.set_title(PANELS[metric], fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
    return found


def _floor(axes: Axes, height: float, text: str) -> None:
    axes.axhline(height, color=FLOOR, linestyle=":", linewidth=1.5)
    axes.annotate(
        text, (1.01, height), xycoords=("axes fraction", "data"), ha="left", va="center", color=FLOOR, fontsize=8
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= WHOLE else f"{value:.3g}"


def _bars(figure: Figure, data: Mapping[str, Any]) -> None:
    """All algorithms side by side."""
    found = data["measured"]
    for metric, axes in _panels(figure).items():
        bars = axes.bar(list(found), [own[metric] for own in found.values()], color=COLOURS)
        axes.bar_label(bars, fmt=_number, fontsize=8)
        axes.tick_params(axis="x", rotation=20, labelsize=8)
        if metric == "products":
            _floor(axes, next(iter(found.values()))["results"], "results")
        elif metric.startswith("load"):
            _floor(axes, 1.0, "even")


def _lines(figure: Figure, data: Mapping[str, Any]) -> None:
    """A line for each algorithm, over p or w."""
    found = data["measured"]
    for metric, axes in _panels(figure).items():
        for (name, own), colour in zip(found.items(), COLOURS, strict=False):
            axes.plot(list(own), [at[metric] for at in own.values()], marker="o", label=name, color=colour)
        axes.set_xlabel(data["what"])
        if metric == "products":
            results = [at["results"] for at in next(iter(found.values())).values()]
            axes.plot(list(next(iter(found.values()))), results, color=FLOOR, linestyle=":", label="results")
            axes.set_yscale("log" if max(results) > 10 * min(results) else "linear")
        elif metric.startswith("load"):
            _floor(axes, 1.0, "even")
    figure.legend(*next(iter(figure.axes)).get_legend_handles_labels(), loc="outside lower center", ncols=7, fontsize=8)


def _steps(figure: Figure, data: Mapping[str, Any]) -> None:
    """Products with and without Prefap's steps."""
    for (label, found), axes in zip(data.items(), figure.subplots(1, len(data), sharey=True).flat, strict=True):
        bars = axes.bar(list(found), [own["products"] for own in found.values()], color=COLOURS)
        axes.bar_label(bars, fmt=_number, fontsize=8)
        axes.set_title(f"{PANELS['products']}, {label}", fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
        _floor(axes, found["full"]["results"], "results")


def _chances(figure: Figure, data: Mapping[str, Any]) -> None:
    """How unlikely chance is, for each workload and metric."""
    across = min(len(data), 5)
    panels = figure.subplots(-(-len(data) // across), across, squeeze=False).flat
    for (label, own), axes in zip(data.items(), panels, strict=True):
        heights = {metric: -log10(max(chance, LEAST_CHANCE)) for metric, chance in own["chance"].items()}
        axes.bar(list(heights), list(heights.values()), color=COLOURS[4])
        axes.set_title(f"{label}: -log10(p)", fontsize=10)
        axes.tick_params(axis="x", rotation=20, labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
        _floor(axes, -log10(SIGNIFICANT), f"p = {SIGNIFICANT}")


def _scale(figure: Figure, data: Mapping[str, Any]) -> None:
    """Products over results, and loads, of quantile cuts."""
    left, right = figure.subplots(1, 2).flat
    bars = left.bar(list(data), [own["products"] / own["results"] for own in data.values()], color=COLOURS)
    left.bar_label(bars, fmt="{:.4f}", fontsize=8)
    left.set_title("products over results", fontsize=10)
    left.set_ylim(0.9, 1.1)
    _floor(left, 1.05, "1.05")
    for shift, metric, colour in ((-0.2, "load_in", COLOURS[3]), (0.2, "load_out", COLOURS[4])):
        at = [number + shift for number in range(len(data))]
        right.bar(at, [own[metric] for own in data.values()], width=0.4, label=PANELS[metric], color=colour)
    right.set_xticks(range(len(data)), list(data))
    right.set_ylim(0.9, 1.2)
    right.legend(fontsize=8)
    _floor(right, 1.15, "1.15")


def _outer(figure: Figure, data: Mapping[str, Any]) -> None:
    """Seconds and memory of each outer join, as a table grows or more rows match."""
    for metric, axes in zip(("seconds", "megabytes"), figure.subplots(1, 2).flat, strict=True):
        for name, colour in zip(next(iter(data["measured"].values())), COLOURS, strict=False):
            points = {at: own[name][metric] for at, own in data["measured"].items() if metric in own[name]}
            axes.plot(list(points), list(points.values()), marker="o", label=name, color=colour)
        axes.set_xlabel(data["what"])
        axes.set_title(metric if metric == "seconds" else "peak memory for the rows (MB)", fontsize=10)
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=8)


def _moves(figure: Figure, data: Mapping[str, Any]) -> None:
    """Messages and bytes by the number of workers; what the formulas say, dotted."""
    for metric, axes in zip(("messages", "bytes"), figure.subplots(1, 2).flat, strict=True):
        for name, colour in zip(next(iter(data["measured"].values())), COLOURS, strict=False):
            points = {at: own[name] for at, own in data["measured"].items()}
            axes.plot(list(points), [own[metric] for own in points.values()], marker="o", label=name, color=colour)
            if metric == "bytes":
                axes.plot(list(points), [own["formula"] for own in points.values()], linestyle=":", color=colour)
        axes.set(xscale="log", yscale="log", xlabel="workers", title=metric)
        axes.legend(fontsize=8)


def _curves(figure: Figure, data: Mapping[str, Any]) -> None:
    """One panel for each quantity, one curve for each contender, over time."""
    panels = figure.subplots(len(data), 1, sharex=True, squeeze=False).flat
    for (title, series), axes in zip(data.items(), panels, strict=True):
        for (name, (clock, values)), colour in zip(series.items(), (*COLOURS, FLOOR), strict=False):
            axes.plot(clock, values, label=name, color=colour, linestyle=":" if name == "computable" else "-")
        axes.set_title(title, fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(fontsize=8)


def _series(figure: Figure, data: Mapping[str, Any]) -> None:
    """One line for each series over the same places; rates over several powers of ten on a logarithmic scale."""
    axes = figure.subplots()
    for number, (name, values) in enumerate(data["series"].items()):
        colour = COLOURS[::-1][number % len(COLOURS)]
        axes.plot(data["x"], values, marker="o", label=name, color=colour)
    axes.set_xlabel(data["what"])
    axes.set_ylabel(data["unit"])
    if data["unit"] == "rows a second":
        axes.set_yscale("log")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8)


_DRAWINGS: dict[str, Callable[[Figure, Mapping[str, Any]], None]] = {
    "bars": _bars,
    "lines": _lines,
    "steps": _steps,
    "chances": _chances,
    "scale": _scale,
    "outer": _outer,
    "moves": _moves,
    "curves": _curves,
    "series": _series,
}
