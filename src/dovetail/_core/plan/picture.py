"""The join matrix as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.plan.knobs import read_path
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from dovetail._core.plan.plan import Plan

# Readable in print and by colour-blind readers: pale grey, sand, dark blue.
PRUNED, MET, MATCHED = "#eef0f2", "#e6c98f", "#1f4e79"
LONGEST_LABEL = 70
"""Letters that fit along an axis."""


def draw(plan: Plan, path: str | Path) -> None:
    """Write the picture of a plan's matrix; the ending of the file tells its format."""
    figure = _figure(plan)
    place = read_path("path", path)
    if place.is_dir():
        raise UsageError.unwritable_file(path, "it is a directory")
    formats = [f".{ending}" for ending in figure.canvas.get_supported_filetypes()]
    if place.suffix.lower() not in ("", *formats):
        raise UsageError.file_ending(path, formats)
    try:
        figure.savefig(place, dpi=130)
    except OSError as error:
        raise UsageError.unwritable_file(path, error.strerror or str(error)) from None


def _figure(plan: Plan) -> Figure:
    if plan.matrix is None:
        raise UsageError.nothing_to_draw(plan.algorithm)
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 -- slow to import
    from matplotlib.colors import ListedColormap  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415
    from matplotlib.patches import Patch  # noqa: PLC0415

    matrix = plan.matrix
    states = np.where(matrix.matches, 2, np.where(matrix.performed, 1, 0))
    figure = Figure(figsize=(7, 7.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    colours = ListedColormap([PRUNED, MET, MATCHED])
    axes.imshow(states, cmap=colours, vmin=0, vmax=2, origin="lower", aspect="auto", interpolation="nearest")
    axes.set_xlabel(f"{_label(matrix.right)}  (right rows, sorted)")
    axes.set_ylabel(f"{_label(matrix.left)}  (left rows, sorted)")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(_title(plan), fontsize=11)
    named = ((PRUNED, "never meet"), (MET, "meet in a cell, but do not match"), (MATCHED, "match"))
    handles = [Patch(facecolor=colour, edgecolor="#888888", label=label) for colour, label in named]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    return figure


def _label(text: str) -> str:
    """An expression, cut short where it would be longer than its axis."""
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 3]}..."


def _title(plan: Plan) -> str:
    results = "" if plan.results is None else f"\n{'' if plan.exact else 'about '}{plan.results:,} {plan.counted}"
    products = (
        ""
        if plan.products is None
        else f" of {plan.products:,} products in {plan.cells} cell{'' if plan.cells == 1 else 's'}"
    )
    return f"{plan.kind}, {plan.how}, by {plan.algorithm}{results}{products}"
