"""An area for similarity: rows are points of one or more dimensions, and partners lie within a distance of each other.

Rows lie by their first coordinate, of which each probe takes the stretch that is near enough; the distance itself is
tested, by the sum of squares or by the greatest difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from dovetail._core.columns.axis import LEAST, MOST
from dovetail._core.sweep.areas.area import valid_at
from dovetail._core.sweep.areas.run import fetched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail._core.sweep.areas.area import PairTest
    from dovetail._core.sweep.areas.rows import AreaRows, Probes
    from dovetail._core.sweep.areas.run import Run


@dataclass(frozen=True, slots=True)
class Distance:
    """Partners lie within `far` ticks, all values being coordinates; `norm` is euclidean or the greatest difference."""

    far: int
    norm: Literal["euclidean", "greatest"] = "euclidean"

    def lead(self, rows: AreaRows) -> NDArray[np.int64]:
        """The first coordinate."""
        return rows.values[0]

    def bounds(self, probes: Probes, _run: Run) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The stretch of the first coordinate; the axis has two ends."""
        at = probes.rows.values[0]
        lower = np.where(at < LEAST + self.far, LEAST, at - self.far)
        return lower, np.where(at > MOST - self.far, MOST, at + self.far)

    def tests(self, probes: Probes, run: Run) -> Sequence[PairTest]:
        """The distance, and time."""
        ours, theirs = probes.rows.values, run.rows.values

        def near(probing: NDArray[np.int64], stored: NDArray[np.int64]) -> NDArray[np.bool_]:
            apart = [_apart(fetched(a, probing), fetched(b, stored)) for a, b in zip(ours, theirs, strict=True)]
            if self.norm == "greatest":
                return _all([own <= np.uint64(self.far) for own in apart])
            return _within(apart, self.far)

        return (near, *valid_at(probes, run, started=False))


def _apart(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The difference of two coordinates, which 64 bits without a sign always hold."""
    return np.maximum(one, other).view(np.uint64) - np.minimum(one, other).view(np.uint64)


def _all(masks: list[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    return np.asarray(np.logical_and.reduce(masks), np.bool_)


def _within(apart: list[NDArray[np.uint64]], far: int) -> NDArray[np.bool_]:
    """Whether the squares add up to no more than that of `far`; exact, in Python's integers where 64 bits are few."""
    small = _all([own <= np.uint64(far) for own in apart])
    exact = far < 1 << 31 and len(apart) <= 2  # noqa: PLR2004 -- two squares below 2^62 fit 64 bits
    kept = [own[small].astype(object) if not exact else own[small] for own in apart]
    squares = sum((own * own for own in kept[1:]), kept[0] * kept[0])
    small[small] = np.asarray(squares <= (far * far), np.bool_)
    return small
