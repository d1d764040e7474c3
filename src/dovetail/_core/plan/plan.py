"""The plan as a person reads it: a tree in a terminal, a table in a notebook, a picture of the join matrix."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dovetail._core.plan.matrix import Matrix


@dataclass(frozen=True, repr=False)
class Plan:
    """How a join will be answered.

    Attributes
    ----------
    host, kind, how, algorithm
        Where it runs, what kind of join the condition is, the join type, and how rows are placed.
    uses
        What each part of the condition does for the join, in words.
    cells
        Into how many cells the rows are placed.
    products
        How many pairs of rows meet in a cell (the papers' number of Cartesian products); the sweep inside a cell
        compares far fewer. None if it is Spark's to decide.
    results
        How many pairs satisfy the condition: exact if `exact`, else estimated from a sample; None if not known. Of
        an inner join, these are its rows; of a window join, the rows of the base.
    load_in, load_out
        The greatest cell over the mean: rows in, results out.
    folds
        Whether partners are folded into aggregates, and no pair is shown.
    rows_moved
        How many rows travel to another task; None if it is Spark's to decide.
    reason
        Why this algorithm.
    """

    host: str
    kind: str
    how: str
    algorithm: str
    condition: str
    uses: tuple[tuple[str, str], ...]
    reason: str
    cells: int = 1
    products: int | None = None
    results: int | None = None
    exact: bool = False
    load_in: float = 1.0
    load_out: float = 1.0
    rows_moved: int | None = None
    folds: bool = False
    matrix: Matrix | None = field(default=None, compare=False)

    def __str__(self) -> str:
        lines = [f"{self.how} join, {self.kind}, by {self.algorithm} on {self.host}"]
        rows = [*self._facts(), *self.uses]
        lines += [f"{'└─' if i == len(rows) - 1 else '├─'} {name}: {text}" for i, (name, text) in enumerate(rows)]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [("join", f"{self.how}, {self.kind}, by {self.algorithm} on {self.host}"), *self._facts(), *self.uses]
        body = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(text)}</td></tr>"
            for name, text in rows
        )
        return f"<table>{body}</table>"

    def plot(self, path: str | Path) -> None:
        """Draw the join matrix: which rows meet in a cell, which never do, and where the results lie.

        The rows of both sides are a sample, sorted by the first value that the join compares. The picture's kind
        follows the suffix: `.png`, `.svg`, `.pdf`.

        Raises
        ------
        UsageError
            If there is nothing to draw: the plan is Spark's own join, or a side is empty.
        """
        from dovetail._core.plan.picture import draw  # noqa: PLC0415 -- matplotlib only for those who draw

        draw(self, path)

    @property
    def counted(self) -> str:
        """What `results` counts: rows of the result, or pairs that become rows of it in another number."""
        are_rows = self.kind == "window" or (self.how == "inner" and not self.folds)
        return "results" if are_rows else "matching pairs"

    def _facts(self) -> Iterator[tuple[str, str]]:
        yield "condition", self.condition
        yield "why", self.reason
        if self.results is not None:
            yield self.counted, f"{'' if self.exact else 'about '}{self.results:,}"
        if self.products is not None:
            yield "products", f"{self.products:,} pairs meet in {self.cells:,} cell{'s' if self.cells > 1 else ''}"
        if self.rows_moved is not None and self.host == "spark":
            yield "moved", f"{self.rows_moved:,} rows; load in {self.load_in:.2f}, out {self.load_out:.2f}"
