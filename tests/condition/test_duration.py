"""Lengths of time in words: long ones as SQL has them, short ones as pandas, NumPy and Polars do."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest

from dovetail._core.condition.duration import read_duration
from dovetail.errors import UsageError


@pytest.mark.parametrize(
    "text", ["5s", "5ms", "5us", "7ns", "3m", "3min", "2h", "1h30m", "2d", "1d12h", "1w", "-5s", "0.5s"]
)
def test_a_short_length_is_that_of_pandas(text: str) -> None:
    assert read_duration(text) == pd.Timedelta(text).value


@pytest.mark.parametrize("text", ["5s", "5ms", "5us", "3m", "2h", "1h30m", "2d", "1w"])
def test_and_that_of_polars(text: str) -> None:
    moved = pl.select(pl.datetime(2024, 1, 1, time_unit="ns").dt.offset_by(text) - pl.datetime(2024, 1, 1)).item()
    assert read_duration(text) == pd.Timedelta(moved).value


@pytest.mark.parametrize(("text", "same"), [("5 seconds", "5s"), ("1 hour 30 Minutes", "1h 30min"), ("2 WEEKS", "14d")])
def test_long_and_short_say_the_same(text: str, same: str) -> None:
    assert read_duration(text) == read_duration(same)


@pytest.mark.parametrize("text", ["5M", "5S", "5", "s", "5 secondss", "5 apples", "1h30", "5s ago"])
def test_anything_else_is_none(text: str) -> None:
    assert read_duration(text) is None


@pytest.mark.parametrize("text", ["1 month", "2 years", "1 quarter"])
def test_what_has_no_fixed_length_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no fixed length"):
        read_duration(text)
