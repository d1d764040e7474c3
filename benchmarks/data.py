"""The problems that are raced: two seeded tables and the condition between them.

Values lie `SPACING` apart on average, whatever the number of rows, so a problem of any size has the same number of
results per row. No two columns of a problem share a name, so that every engine can be asked in the same words.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPACING = 1_000
SEED = 20_240_229
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left op right`, by the names of the columns."""

    left: str
    op: str
    right: str

    def flip(self) -> Comparison:
        """The same pairs, seen from the right side."""
        return Comparison(self.right, FLIPPED[self.op], self.left)


@dataclass(frozen=True, slots=True)
class Problem:
    """Two tables, a conjunction of comparisons, and the columns asked for."""

    left: pa.Table
    right: pa.Table
    comparisons: tuple[Comparison, ...]
    columns: tuple[str, ...]
    how: str = "inner"

    @property
    def on(self) -> str:
        """The condition in SQL, the inputs called l and r."""
        return " AND ".join(f"l.{own.left} {own.op} r.{own.right}" for own in self.comparisons)

    @property
    def ids(self) -> tuple[str, ...]:
        """The columns whose sums tell one result from another."""
        return tuple(name for name in self.columns if name.endswith("_id"))

    @property
    def size(self) -> str:
        """How many rows meet how many."""
        return f"{self.left.num_rows:,} x {self.right.num_rows:,}"

    def flip(self) -> Problem:
        """The same question with the sides swapped; only for those that have one."""
        how = {"inner": "inner", "left": "right", "full": "full"}[self.how]
        swapped = tuple(own.flip() for own in self.comparisons)
        return replace(self, left=self.right, right=self.left, comparisons=swapped, how=how)

    def asking(self, how: str) -> Problem:
        """The same tables under another join type; `semi` and `anti` show the left columns only."""
        if how not in ("semi", "anti"):
            return replace(self, how=how)
        return replace(self, how=how, columns=tuple(name for name in self.columns if name in self.left.column_names))


def point_in_interval(rows: int, *, per_row: int = 10, seed: int = SEED) -> Problem:
    """Points in half-open intervals of uniform length, `per_row` results for each point."""
    rng = np.random.default_rng(seed)
    points = pa.table({"l_id": np.arange(rows), "l_at": _places(rng, rows)})
    comparisons = (Comparison("l_at", ">=", "r_start"), Comparison("l_at", "<", "r_stop"))
    spans = _spans(rng, "r", rows, 2 * per_row * SPACING)
    return Problem(points, spans, comparisons, ("l_id", "l_at", "r_id", "r_start"))


def overlap(rows: int, *, per_row: int = 10, longer: int = 1, seed: int = SEED) -> Problem:
    """Half-open intervals on both sides; one in a thousand is `longer` times longer than the others."""
    rng = np.random.default_rng(seed)
    left, right = (_spans(rng, side, rows, per_row * SPACING, longer) for side in "lr")
    comparisons = (Comparison("l_start", "<", "r_stop"), Comparison("l_stop", ">", "r_start"))
    return Problem(left, right, comparisons, ("l_id", "l_start", "r_id", "r_start"))


def two_inequalities(rows: int, *, seed: int = SEED) -> Problem:
    """Who earns more and pays less tax: tax follows salary but for some noise, one result per thousand rows."""
    rng = np.random.default_rng(seed)
    left, right = (_salaries(rng, side, rows) for side in "lr")
    comparisons = (Comparison("l_salary", ">", "r_salary"), Comparison("l_tax", "<", "r_tax"))
    return Problem(left, right, comparisons, ("l_id", "l_salary", "r_id", "r_salary"))


def one_inequality(rows: int, *, share: float = 0.5, seed: int = SEED) -> Problem:
    """Of all pairs, `share` are results, at most every second: the right keys lie higher by what that takes."""
    rng = np.random.default_rng(seed)
    higher = {"l": 0, "r": round(rows * SPACING * (1 - (2 * share) ** 0.5))}
    left, right = (
        pa.table(
            {
                f"{side}_id": np.arange(rows),
                f"{side}_key": _places(rng, rows) + higher[side],
                f"{side}_value": rng.random(rows),
            }
        )
        for side in "lr"
    )
    return Problem(left, right, (Comparison("l_key", ">", "r_key"),), ("l_id", "r_id"))


def _places(rng: np.random.Generator, rows: int) -> NDArray[np.int64]:
    return rng.integers(0, rows * SPACING, rows)


def _spans(rng: np.random.Generator, side: str, rows: int, longest: int, longer: int = 1) -> pa.Table:
    start, length = _places(rng, rows), rng.integers(1, longest, rows)
    length[rng.random(rows) < 1 / 1_000] *= longer
    return pa.table({f"{side}_id": np.arange(rows), f"{side}_start": start, f"{side}_stop": start + length})


def _salaries(rng: np.random.Generator, side: str, rows: int) -> pa.Table:
    """Pairs are a thousandth of a unit apart; noise up to 1.5 units of tax inverts one pair per thousand rows."""
    salary = rng.integers(0, rows * SPACING * SPACING, rows)
    tax = salary // 4 + rng.integers(0, 1_500, rows)
    return pa.table({f"{side}_id": np.arange(rows), f"{side}_salary": salary, f"{side}_tax": tax})
