"""How far apart the values of a row lie on the number line, in Spark SQL (`columns/number_line` says it in NumPy)."""

from __future__ import annotations

from itertools import combinations
from math import isnan
from typing import TYPE_CHECKING

import pyarrow as pa

from dovetail._core.columns.types import WORD_DIGITS, family
from dovetail._hosts.spark.types import arrow_type, micros_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dovetail._hosts.spark.sides import SparkSide

    Longest = dict[tuple[int, int], float]
    """The greatest length of a side's rows, from one compared value to another, by the numbers of the comparisons."""

MOST_VALUES = 4
"""Of so many compared values, all lengths between two are told."""


def lengths(side: SparkSide) -> Iterator[tuple[int, int]]:
    """The pairs of compared values between which there is a length: those of one type that has a number line."""
    values = [arrow_type(side.schema[name].dataType) for name in side.named("v")[:MOST_VALUES]]
    for start, end in combinations(range(len(values)), 2):
        kind = values[start]
        if kind is not None and kind == values[end] and _has_numbers(kind):
            yield start, end


def longest(found: dict[tuple[int, int], tuple[float, float] | None]) -> Longest:
    """The greatest lengths to either side, from the least and greatest to one; None stands for a value compared twice.

    What is no number has the greatest length to either side.
    """
    both: Longest = {}
    for (start, end), ends in found.items():
        least, most = ends or (0.0, 0.0)
        both[start, end] = most
        both[end, start] = most if isnan(most) else -least
    return both


def is_point(side: SparkSide, start: int, end: int) -> bool:
    """Whether two comparisons have one value."""
    first = dict(side.same)
    return first[f"v{start}"] == first[f"v{end}"]


def length_text(side: SparkSide, start: int, end: int) -> str:
    """The length from one value to another, as Spark SQL."""
    return "0D" if is_point(side, start, end) else f"({_place(side, end)} - {_place(side, start)})"


def _place(side: SparkSide, number: int) -> str:
    """Where a compared value lies on the number line, as Spark SQL."""
    value = f"v{number}"
    kind = arrow_type(side.schema[value].dataType)
    assert kind is not None
    if pa.types.is_date(kind):
        value = f"unix_date({value})"
    elif pa.types.is_timestamp(kind):
        value = micros_text(value, kind)
    return f"CAST({value} AS DOUBLE)"


def _has_numbers(kind: pa.DataType) -> bool:
    if pa.types.is_decimal(kind):  # wider ones have ranks for order keys, which tell no length
        return bool(kind.precision <= WORD_DIGITS)
    return family(kind) in ("integer", "float", "date", "stamp")
