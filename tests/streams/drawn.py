"""Random temporal joins: validity by columns or windows, every type of axis, every kind of condition, every join type.

Every table has the columns k (a key), x and y (compared), v (for residuals), s and e (start and end, never reversed).
"""

from __future__ import annotations

import datetime as dt
import itertools
import random
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from hypothesis import strategies as st

import dovetail as dv
from dovetail.testing import naive_temporal
from tests.domains import DOMAINS
from tests.strategies import HOWS, Drawn, Rolled, _column

if TYPE_CHECKING:
    from tests.strategies import Choice

_MOMENTS = [dt.datetime(2024, 1, 1, 0, minute, second) for minute in (0, 1, 5) for second in (0, 1, 59)]  # noqa: DTZ001 -- wall time
AXES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "int8": (pa.int8(), [-2, -1, 0, 1, 2, 3, 5, 8, 127]),
    "int32": (pa.int32(), [-2, -1, 0, 1, 2, 3, 5, 8]),
    "int64": (pa.int64(), [-(2**63), -1, 0, 1, 2, 3, 5, 2**63 - 3]),
    "float32": (pa.float32(), [-1.5, 0.0, -0.0, 0.5, 1.0, 2.5, float("nan"), float("-inf")]),
    "float64": (pa.float64(), [-1.5, 0.0, -0.0, 0.1, 1.0, 2.5, float("nan"), float("-inf")]),
    "decimal": (pa.decimal128(10, 2), [Decimal(own) for own in ("-1", "0", "0.01", "0.5", "1", "2.25", "99999999.99")]),
    "date": (pa.date32(), [dt.date(2024, 1, day) for day in (1, 2, 3, 5, 8)] + [dt.date(1969, 12, 30)]),
    "timestamp": (pa.timestamp("us", "UTC"), [own.replace(tzinfo=dt.UTC) for own in _MOMENTS]),
    "timestamp_ntz": (pa.timestamp("us"), _MOMENTS),
}
TIMES = ("date", "timestamp", "timestamp_ntz")
LENGTHS = {
    "1 microsecond": dt.timedelta(microseconds=1),
    "61 seconds": dt.timedelta(seconds=61),
    "36 hours": dt.timedelta(hours=36),
    "3 days": dt.timedelta(days=3),
}
NUMBERS = [1, 2, 3, 2.5, 0.25, 2**40]
WINDOWS = {"sliding": dv.sliding, "fixed": dv.fixed}
KEYS = ["{0}.k = {1}.k", "{0}.k <=> {1}.k", "TRUE"]
VALUES = [
    "{0}.x {2} {1}.x",
    "{0}.x < {1}.y AND {1}.x < {0}.y",
    "{0}.x >= {1}.x - 1 AND {0}.x <= {1}.x + 2",
    "abs({0}.x - {1}.x) <= 1 AND abs({0}.y - {1}.y) <= 2",
    "{0}.v <> {1}.v",
    "{0}.v + {1}.v > 2",
    "{0}.v > 0",
    "{1}.v IS NOT NULL",
]


@dataclass(frozen=True)
class TemporalCase:
    """Tables by name, and the arguments of `temporal_join`; `told` is the window as the naive reference takes it."""

    tables: dict[str, pa.Table]
    options: dict[str, Any]
    told: dict[str, Any]

    def naive(self) -> list[tuple[Any, ...]]:
        """Return the naive reference's answer."""
        return naive_temporal(self.tables, **{**self.options, **self.told})


def temporal_cases(inputs: int = 2, hows: tuple[str, ...] = tuple(HOWS)) -> st.SearchStrategy[TemporalCase]:
    """Return the Hypothesis strategy of temporal joins."""
    return st.composite(lambda draw: temporal_case(Drawn(draw), inputs, hows))()


def sample_temporal(count: int, *, seed: int = 0, inputs: int = 2) -> list[TemporalCase]:
    """Return `count` temporal joins at once, the same ones for the same seed."""
    choice = Rolled(random.Random(f"temporal {seed}"))
    return [temporal_case(choice, inputs, tuple(HOWS)) for _ in range(count)]


def temporal_case(choice: Choice, inputs: int, hows: tuple[str, ...]) -> TemporalCase:
    """Choose tables, a condition and when rows are valid."""
    axis = choice.one(list(AXES))
    names = ["a", "b", "c", "d"][:inputs]
    most = 13 if inputs == 2 else 7
    tables = {name: _table(choice, axis, most) for name in names}
    how = choice.one(hows) if inputs == 2 else "inner"
    parts = [part for one, other in itertools.pairwise(names) for part in _condition(choice, one, other)]
    options: dict[str, Any] = {"on": " AND ".join(parts), "how": how}
    if choice.one([True, False]):
        return TemporalCase(tables, options | {"valid": ("s", "e")}, {})
    window, told = _window(choice, axis)
    return TemporalCase(tables, options | {"ts": "s", "window": window}, {"window": told})


def _window(choice: Choice, axis: str) -> tuple[Any, Any]:
    kind = choice.one([*WINDOWS, *WINDOWS, "unbounded"])
    if kind == "unbounded":
        return dv.unbounded(), (kind, None)
    text = choice.one(list(LENGTHS))
    given, told = (text, LENGTHS[text]) if axis in TIMES else (number := choice.one(NUMBERS), number)
    return WINDOWS[kind](given), (kind, told)


def _condition(choice: Choice, one: str, other: str) -> list[str]:
    sign = choice.one(["<", "<=", ">", ">="])
    values = choice.many(VALUES, 0, 2)
    return [part.format(one, other, sign) for part in [choice.one(KEYS), *values]]


def _table(choice: Choice, axis: str, most: int) -> pa.Table:
    size = choice.one([0, 1, *range(2, most), *range(4, most)])
    kind, values = AXES[axis]
    starts, ends = (_column(choice, values, size) for _ in range(2))
    both = [_ordered(start, end) for start, end in zip(starts, ends, strict=True)]
    domain = DOMAINS["int32"]
    columns = {name: pa.array(_column(choice, [0, 1, 2, 3, 5], size), domain.arrow) for name in "xyv"}
    keys = pa.array(_column(choice, DOMAINS["string"].values, size), pa.string())
    times = {name: pa.array([own[i] for own in both], kind) for i, name in enumerate("se")}
    return pa.table({"k": keys} | columns | times)


def _ordered(start: Any, end: Any) -> tuple[Any, Any]:
    """Put the ends of an interval in order; NaN is the greatest of all, and NULL says nothing."""
    if start is None or end is None or start != start or end != end:  # noqa: PLR0124 -- NaN alone differs from itself
        return start, end
    return min(start, end), max(start, end)
