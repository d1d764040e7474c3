"""The problems of joins by time: two seeded tables in no order, and what is asked of them.

Times lie `SPACING` apart on average over all keys, and no two of a side are equal, so that every engine has one answer.
Values are whole numbers in doubles, so that sums do not depend on the order of their terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks.data import SEED, SPACING

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEYS = 1_000


@dataclass(frozen=True, slots=True)
class Timed:
    """Two tables with the columns id, key, ts and, on the right, value, each named after its side."""

    left: pa.Table
    right: pa.Table
    keys: int

    @property
    def size(self) -> str:
        """How many rows meet how many, under how many keys."""
        said = "no key" if self.keys == 1 else f"{self.keys:,} keys"
        return f"{self.left.num_rows:,} x {self.right.num_rows:,}, {said}"

    @property
    def on(self) -> str:
        """The equality of keys in SQL, with AND behind it if there is one."""
        return "" if self.keys == 1 else "l_key = r_key AND "

    def window(self, rows: int) -> int:
        """How long a window is that holds about so many right rows of one key."""
        return rows * self.keys * SPACING


def timed(left: int, right: int, *, keys: int = KEYS, seed: int = SEED) -> Timed:
    """Make both tables over one span of time."""
    rng = np.random.default_rng(seed)
    span = max(left, right) * SPACING
    return Timed(_side(rng, "l", left, keys, span), _side(rng, "r", right, keys, span), keys)


def _side(rng: np.random.Generator, side: str, rows: int, keys: int, span: int) -> pa.Table:
    return pa.table(
        {
            f"{side}_id": np.arange(rows),
            f"{side}_key": rng.integers(0, keys, rows),
            f"{side}_ts": _times(rng, rows, span),
            f"{side}_value": rng.integers(0, 1_000, rows).astype(np.float64),
        }
    )


def _times(rng: np.random.Generator, rows: int, span: int) -> NDArray[np.int64]:
    """Distinct times in random order: one anywhere in each of as many equal stretches."""
    stretch = span // rows
    return rng.permutation(rows) * stretch + rng.integers(0, stretch, rows)
