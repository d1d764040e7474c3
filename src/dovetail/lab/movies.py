"""Tables shaped like MovieLens: movies with titles that hold commas, and ratings of which a few movies have most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyarrow import csv

from dovetail.lab.workloads import SEED

if TYPE_CHECKING:
    from pathlib import Path

SKEW = 1.3
GENRES = ("Action", "Comedy", "Drama", "Documentary|War")


def movies_table(rows: int) -> pa.Table:
    """Movies numbered from 1 up, in no order."""
    numbers = np.random.default_rng(SEED).permutation(rows) + 1
    titles = [f"Movie {number}, The ({1930 + number % 90})" for number in numbers.tolist()]
    genres = pa.array([GENRES[number % len(GENRES)] for number in numbers.tolist()])
    return pa.table({"movieId": numbers, "title": titles, "genres": genres})


def ratings_table(rows: int, movies: int, selectivity: float) -> pa.Table:
    """Ratings of a share of all movies; half of them fall on movies as a zipf law has it, half on any."""
    dice = np.random.default_rng(SEED)
    rated = max(1, round(movies * selectivity))
    skewed = np.minimum(dice.zipf(SKEW, rows), rated)
    keys = np.where(dice.random(rows) < 0.5, skewed, dice.integers(1, rated + 1, rows))  # noqa: PLR2004 -- half of them
    return pa.table(
        {
            "movieId": keys,
            "userId": dice.integers(1, 200_000, rows),
            "rating": dice.integers(1, 11, rows) / 2,
            "timestamp": dice.integers(900_000_000, 1_600_000_000, rows),
        }
    )


def write_movies(path: Path, rows: int) -> None:
    """Write the movies as CSV."""
    csv.write_csv(movies_table(rows), path)


def write_ratings(path: Path, rows: int, movies: int, selectivity: float) -> None:
    """Write the ratings as CSV."""
    csv.write_csv(ratings_table(rows, movies, selectivity), path)
