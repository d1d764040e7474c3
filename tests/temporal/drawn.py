"""Random as-of and window joins: the full cross product of their options over every type of axis.

The left table has the columns k, j (keys), x (time), t (distances of its own) and v; the right one k, j, x and w. Times
are drawn from few values, so that ties, exact hits and both ends of the type are common.
"""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from hypothesis import strategies as st

from dovetail.testing import naive_asof, naive_window
from tests.domains import DOMAINS, Domain
from tests.strategies import HOWS, SIZES, Drawn, Rolled, _column

if TYPE_CHECKING:
    from tests.strategies import Choice

NUMBERS = ["int8", "int32", "int64", "float32", "float64", "decimal(10,2)", "decimal(38,10)"]
TIMES = ["date", "timestamp", "timestamp_ntz"]
MEASURED = [(name, name) for name in (*NUMBERS, *TIMES)] + [
    ("int32", "int64"),
    ("int64", "float64"),
    ("float32", "float64"),
    ("decimal(10,2)", "int32"),
    ("decimal(10,2)", "decimal(12,4)"),
    ("date", "timestamp"),
    ("timestamp_ntz", "date"),
]
ORDERED = [("string", "string"), ("binary", "binary"), ("boolean", "boolean")]
_HOUR = dt.timedelta(hours=1)
LENGTHS = {
    "0 seconds": dt.timedelta(0),
    "1 microsecond": dt.timedelta(microseconds=1),
    "5 minutes": dt.timedelta(minutes=5),
    "12 hours": 12 * _HOUR,
    "1 day": 24 * _HOUR,
    "1 week 2 days": 216 * _HOUR,
}
DISTANCES = [0, 1, 2, 0.5, Decimal("1.25"), 2**62]
_OWN_NUMBERS = Domain(pa.int64(), [0, 1, 3, -1])
_OWN_DOUBLES = Domain(pa.float64(), [0.0, 0.5, 1.5, -1.0, float("nan")])
_OWN_LENGTHS = Domain(pa.duration("us"), [dt.timedelta(0), dt.timedelta(minutes=5), _HOUR, 30 * _HOUR, -_HOUR])
_SMALL = Domain(pa.int32(), [0, 1, 2, 3])
WHERES = [None, None, None, "l.v > 0", "r.w < 2", "l.v <> r.w", "l.v <= r.w", "l.v = r.w", "l.v + r.w > 2 AND r.w > 0"]
WHERES += ["abs(l.v - r.w) <= 1", "l.v - r.w = 1"]
AGGREGATES = [
    "count(*)",
    "count({0})",
    "min({0})",
    "max({0})",
    "first({0})",
    "last({0})",
    "count_distinct({0})",
    "count(DISTINCT {0})",
    "sum(w)",
    "avg(w)",
    "stddev(w)",
    "variance(w)",
    "sum(f)",
    "avg(f)",
]
FILTERS = ["", "", " FILTER (WHERE w > 0)", " FILTER (WHERE w IS NULL OR f > 0)"]


@dataclass(frozen=True)
class AsOfCase:
    """Two tables and the arguments of `asof_join`; `told` are those that the naive reference takes in another form."""

    left: pa.Table
    right: pa.Table
    options: dict[str, Any]
    told: dict[str, Any]

    def naive(self) -> list[tuple[Any, ...]]:
        """Return the naive reference's answer."""
        return naive_asof(self.left, self.right, **{**self.options, **self.told})


@dataclass(frozen=True)
class WindowCase:
    """Two tables, what all windows share, the windows, and how the naive reference is told of their ends."""

    left: pa.Table
    right: pa.Table
    options: dict[str, Any]
    windows: list[dict[str, Any]]
    told: list[dict[str, Any]]

    def naive(self) -> list[tuple[Any, ...]]:
        """Return the naive reference's answers to the windows, side by side."""
        found = [
            naive_window(self.left, self.right, **{**self.options, **window, **told})
            for window, told in zip(self.windows, self.told, strict=True)
        ]
        width = self.left.num_columns
        return [rows[0][:width] + tuple(v for row in rows for v in row[width:]) for rows in zip(*found, strict=True)]


def asof_cases() -> st.SearchStrategy[AsOfCase]:
    """Return the Hypothesis strategy of as-of joins."""
    return st.composite(lambda draw: _asof(Drawn(draw)))()


def sample_asof(count: int, *, seed: int = 0) -> list[AsOfCase]:
    """Return `count` as-of joins at once, the same ones for the same seed."""
    choice = Rolled(random.Random(f"asof {seed}"))
    return [_asof(choice) for _ in range(count)]


def window_cases() -> st.SearchStrategy[WindowCase]:
    """Return the Hypothesis strategy of window joins."""
    return st.composite(lambda draw: _windowed(Drawn(draw)))()


def sample_windows(count: int, *, seed: int = 0) -> list[WindowCase]:
    """Return `count` window joins at once, the same ones for the same seed."""
    choice = Rolled(random.Random(f"window {seed}"))
    return [_windowed(choice) for _ in range(count)]


def _asof(choice: Choice) -> AsOfCase:
    axis = choice.one([*MEASURED, *MEASURED, *ORDERED])
    left, right = _tables(choice, axis)
    options: dict[str, Any] = {
        "on": "x",
        "how": choice.one(HOWS),
        "strict": choice.one([False, True]),
        "ties": choice.one(["last", "first", "all"]),
        "tie_break": choice.one([None, None, ["w", "f", "j", "k"]]),
        "where": choice.one(WHERES),
        "nearest_tie": choice.one(["backward", "forward"]),
        "direction": choice.one(["backward", "forward"] + ["nearest"] * (axis not in ORDERED)),
        **_keys(choice),
    }
    given, told = _distance(choice, axis, [None]) if axis not in ORDERED else (None, None)
    return AsOfCase(left, right, options | {"tolerance": given}, {"tolerance": told})


def _windowed(choice: Choice) -> WindowCase:
    axis = choice.one(MEASURED)
    left, right = _tables(choice, axis)
    windows, told = [], []
    for number in range(choice.one([1, 1, 2])):
        back, forward = (_distance(choice, axis, ["unbounded"]) for _ in range(2))
        windows.append(
            {
                "preceding": back[0],
                "following": forward[0],
                "closed": choice.one(["both", "left", "right", "neither"]),
                "include_prevailing": choice.one([False, True]),
                "agg": {f"a{number}{i}": text for i, text in enumerate(_aggregates(choice))},
            }
        )
        told.append({"preceding": _unbounded(back[1]), "following": _unbounded(forward[1])})
    return WindowCase(left, right, {"on": "x"} | _keys(choice), windows, told)


def _unbounded(told: Any) -> Any:
    return None if isinstance(told, str) and told == "unbounded" else told


def _aggregates(choice: Choice) -> list[str]:
    texts = choice.many(AGGREGATES, 1, 4)
    return [text.format(choice.one(["w", "f", "x", "j"])) + choice.one(FILTERS) for text in texts]


def _distance(choice: Choice, axis: tuple[str, str], more: list[Any]) -> tuple[Any, Any]:
    """Choose a distance as we are told of it, and as the naive reference is."""
    if choice.one([True, False, False]):
        return more[0], more[0]
    if choice.one([True, False, False, False]):
        return "t", "t"
    if axis[0] in TIMES:
        text = choice.one(list(LENGTHS))
        return text, LENGTHS[text]
    number = choice.one(DISTANCES)
    return number, number


def _keys(choice: Choice) -> dict[str, Any]:
    keys = choice.one([[], ["k"], ["k"], ["k", "j"]])
    return {"keys": keys, "null_safe": choice.one([False, False, True, keys[:1]])}


def _tables(choice: Choice, axis: tuple[str, str]) -> tuple[pa.Table, pa.Table]:
    own = _OWN_LENGTHS if axis[0] in TIMES else choice.one([_OWN_NUMBERS, _OWN_DOUBLES])
    shared = {"k": _SMALL, "j": DOMAINS["string"]}
    left = {**shared, "x": DOMAINS[axis[0]], "t": own, "v": _SMALL}
    right = {**shared, "x": DOMAINS[axis[1]], "w": _SMALL, "f": Domain(pa.float64(), [0.0, 1.5, -2.25, 1e16, -1e16])}
    return _table(choice, left), _table(choice, right)


def _table(choice: Choice, columns: dict[str, Domain]) -> pa.Table:
    size = choice.one(SIZES)
    return pa.table(
        {name: pa.array(_column(choice, domain.values, size), domain.arrow) for name, domain in columns.items()}
    )
