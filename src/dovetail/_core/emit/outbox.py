"""Results that wait for their turn: they leave in the order of (start, end), once nothing can come before them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.columns.dictionaries import one_array
from dovetail._core.columns.long_texts import heaviest, rows_of
from dovetail._core.emit.rows import taken_rows
from dovetail._core.kernels.slices import taken
from dovetail._core.sweep.stream_join import order_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    Keys = NDArray[np.int64]

MANY = 16
"""More parts than this are put together while they wait."""


@dataclass(frozen=True, slots=True)
class Results:
    """Results with their validity, the numbers of the rows they are made of, and what they show."""

    start: Keys
    end: Keys
    numbers: tuple[Keys, ...]
    columns: tuple[pa.Array, ...]

    def pick(self, rows: Keys) -> Results:
        """Some of the results."""
        return Results(
            taken(self.start, rows),
            taken(self.end, rows),
            tuple(taken(own, rows) for own in self.numbers),
            tuple(taken_rows(own, rows) for own in self.columns),
        )

    @classmethod
    def together(cls, parts: list[Results]) -> Results:
        """All of several."""
        if len(parts) == 1:
            return parts[0]
        start, end = (np.concatenate(own) for own in zip(*((part.start, part.end) for part in parts), strict=True))
        numbers = tuple(np.concatenate(own) for own in zip(*(part.numbers for part in parts), strict=True))
        columns = tuple(one_array(own) for own in zip(*(part.columns for part in parts), strict=True))
        return cls(start, end, numbers, columns)


@dataclass(slots=True)
class Outbox:
    """Results that are held."""

    held: list[Results] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many results wait."""
        return sum(own.start.size for own in self.held)

    def add(self, results: Results) -> None:
        """Hold some results."""
        if results.start.size:
            self.held.append(results)

    def release(self, before: int | None) -> Iterator[Results]:
        """Let go, in order, what starts before an instant (None: all)."""
        ready, kept = [], []
        for own in self.held:
            goes = np.ones(own.start.size, np.bool_) if before is None else own.start < before
            if goes.all():
                ready.append(own)
            elif not goes.any():
                kept.append(own)
            else:
                ready.append(own.pick(np.flatnonzero(goes)))
                kept.append(own.pick(np.flatnonzero(~goes)))
        self.held = [Results.together(kept)] if len(kept) > MANY and _fit_one(kept) else kept
        return _in_order(ready)


def _in_order(parts: list[Results]) -> Iterator[Results]:
    """Results by (start, end), all at once if their texts allow."""
    if not parts:
        return
    if _fit_one(parts):
        found = Results.together(parts)
        order = order_of(found.start, found.end)
        yield found if order is None else found.pick(order)
        return
    start, end = (np.concatenate(own) for own in zip(*((part.start, part.end) for part in parts), strict=True))
    order = order_of(start, end)
    order = np.arange(start.size) if order is None else order
    most = rows_of(_heaviest(parts))
    for at in range(0, start.size, most):
        yield _of_all(parts, order[at : at + most])


def _of_all(parts: list[Results], rows: Keys) -> Results:
    """Some rows of several parts, which are numbered through."""
    firsts = np.cumsum([0, *(part.start.size for part in parts)])
    owner = np.searchsorted(firsts, rows, side="right") - 1
    found = [part.pick(rows[owner == i] - firsts[i]) for i, part in enumerate(parts)]
    return Results.together(found).pick(np.argsort(np.argsort(owner, kind="stable"), kind="stable"))


def _fit_one(parts: list[Results]) -> bool:
    """Whether one array can hold the texts of all."""
    return sum(part.start.size for part in parts) <= rows_of(_heaviest(parts))


def _heaviest(parts: list[Results]) -> int:
    return max(heaviest(part.columns) for part in parts)
