"""Random joins of every kind, for property tests.

Under Hypothesis, one case at a time, against the naive reference:

    @given(cases("band"))
    def test_band_is_the_naive_join(case):
        assert_same_rows(dv.join(case.left, case.right, on=case.on, how=case.how), case.naive())

Against Spark, in batches, since a Spark job costs more than a hundred naive joins:

    drawn = sample("band", 200, seed=1)
    for case, want in zip(drawn, spark_answers(spark, drawn), strict=True):
        assert_same_rows(..., want)

`aggregate_cases` and `sample_aggregates` do the same for calls with `agg` and `per`.

The left table has the columns k, x, y, z, v and the right one k, x, y, z, w, so that names clash; k is for keys, x to z
are compared, v and w are small integers for residuals. No case overflows or divides by zero.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import pyarrow as pa
from hypothesis import strategies as st

from dovetail.testing import naive_aggregate, naive_join
from tests.domains import BAND_PAIRS, DOMAINS, PAIRS, SAME, Domain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

KINDS = [
    "equality",
    "one_inequality",
    "point_in_interval",
    "band",
    "difference",
    "overlap",
    "two_inequalities",
    "many_inequalities",
    "nested_loop",
]
HOWS = ["inner", "left", "right", "full", "semi", "anti"]
SIZES = [0, 1, *range(13), *range(3, 13)]


@dataclass(frozen=True)
class Case:
    """One join: the arguments of `dv.join` and the kind of condition it was made to be."""

    kind: str
    left: pa.Table
    right: pa.Table
    on: str
    how: str

    def naive(self) -> list[tuple[Any, ...]]:
        """Return the naive reference's answer."""
        return naive_join(self.left, self.right, self.on, self.how)


@dataclass(frozen=True)
class AggregateCase:
    """One join with `agg` and `per`: the arguments of `dv.join` and the kind of its condition."""

    kind: str
    left: pa.Table
    right: pa.Table
    on: str
    agg: dict[str, str]
    per: str

    def naive(self) -> list[tuple[Any, ...]]:
        """Return the naive reference's answer."""
        return naive_aggregate(self.left, self.right, self.on, self.agg, self.per)


FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
KEYS = ["l.k = r.k", "r.k = l.k", "l.k <=> r.k", "l.k IS NOT DISTINCT FROM r.k", "l.k = r.k AND l.v <=> r.w"]
RESIDUALS = [
    "l.v <> r.w",
    "NOT (l.v = r.w)",
    "l.v = 1 OR r.w > l.v",
    "l.v IS NULL OR r.w IS NULL OR l.v < r.w",
    "l.v + r.w > 3",
    "l.v * 2 - r.w < 3",
    "abs(l.v - r.w) <= 1",
    "(l.v + r.w) % 2 = 0",
    "l.v / 2 <> r.w / 4",
    "l.v IS DISTINCT FROM r.w",
    "r.w NOT IN (l.v, 2)",
    "CASE WHEN l.v > r.w THEN l.v = 3 ELSE r.w <> 2 END",
    "least(l.v, r.w) = greatest(l.v, r.w, 1)",
    "(l.v = r.w) IS NULL",
]
ONE_SIDED = [
    "l.v > 0",
    "l.v IN (0, 1)",
    "r.w IS NOT NULL",
    "coalesce(r.w, 1) < 2",
    "NOT (r.w = 2)",
    "l.x IS NOT NULL",
    "r.x IS NULL",
    "floor(l.v / 2) = 0",
    "TRUE",
    "1 = 1",
]
_V = Domain(pa.int32(), [0, 1, 2, 3])

T = TypeVar("T")
Types = dict[str, tuple[str, str]]


class Choice(Protocol):
    """Where a case comes from: Hypothesis, which shrinks what fails, or plain chance, which is fast and even."""

    def one(self, options: Sequence[T]) -> T:
        """Choose one of the options."""

    def many(self, options: Sequence[T], least: int, most: int) -> list[T]:
        """Choose so many of the options, with repetition."""

    def order(self, options: Sequence[T]) -> list[T]:
        """Choose an order of the options."""


@dataclass(frozen=True)
class Drawn:
    """Choices that Hypothesis draws."""

    draw: Callable[[st.SearchStrategy[Any]], Any]

    def one(self, options: Sequence[T]) -> T:
        return cast("T", self.draw(st.sampled_from(options)))

    def many(self, options: Sequence[T], least: int, most: int) -> list[T]:
        return cast("list[T]", self.draw(st.lists(st.sampled_from(options), min_size=least, max_size=most)))

    def order(self, options: Sequence[T]) -> list[T]:
        return cast("list[T]", self.draw(st.permutations(options)))


@dataclass(frozen=True)
class Rolled:
    """Choices by a seeded generator of random numbers."""

    dice: random.Random

    def one(self, options: Sequence[T]) -> T:
        return self.dice.choice(options)

    def many(self, options: Sequence[T], least: int, most: int) -> list[T]:
        return self.dice.choices(options, k=self.dice.randint(least, most))

    def order(self, options: Sequence[T]) -> list[T]:
        return self.dice.sample(options, k=len(options))


def cases(kind: str, hows: Sequence[str] = HOWS) -> st.SearchStrategy[Case]:
    """Return the Hypothesis strategy of joins whose condition is of one of `KINDS`."""
    return st.composite(lambda draw: _case(Drawn(draw), kind, hows))()


def sample(kind: str, count: int, *, seed: int = 0, hows: Sequence[str] = HOWS) -> list[Case]:
    """Return `count` cases at once, the same ones for the same seed."""
    choice = Rolled(random.Random(f"{kind} {seed}"))
    return [_case(choice, kind, hows) for _ in range(count)]


def aggregate_cases(kind: str) -> st.SearchStrategy[AggregateCase]:
    """Return the Hypothesis strategy of aggregates over joins of one of `KINDS`."""
    return st.composite(lambda draw: _aggregate_case(Drawn(draw), kind))()


def sample_aggregates(kind: str, count: int, *, seed: int = 0) -> list[AggregateCase]:
    """Return `count` cases with aggregates at once, the same ones for the same seed."""
    choice = Rolled(random.Random(f"{kind} {seed}"))
    return [_aggregate_case(choice, kind) for _ in range(count)]


def _aggregate_case(choice: Choice, kind: str) -> AggregateCase:
    """Choose a case and a few aggregates; only v and w, which cannot overflow, are added up."""
    case = _case(choice, kind, HOWS)
    per, other, added = choice.one([("l", "r", "w"), ("r", "l", "v")])
    any_type = [
        f"{name}({other}.{column})"
        for name in ("count", "min", "max", "first", "last", "count_distinct")
        for column in ("x", added)
    ]
    numbers = [f"sum({other}.{added})", f"avg({other}.{added})", f"sum({other}.{added} * 2 - 1)", "count(*)"]
    chosen = choice.many(any_type, 1, 3) + choice.many(numbers, 1, 2)
    return AggregateCase(kind, case.left, case.right, case.on, {f"a{i}": sql for i, sql in enumerate(chosen)}, per)


def _case(choice: Choice, kind: str, hows: Sequence[str]) -> Case:
    shifted = kind in ("band", "difference")
    types = {column: choice.one(BAND_PAIRS if shifted and column == "x" else PAIRS) for column in "kxyz"}
    if kind in ("point_in_interval", "overlap"):
        types["y"] = types["x"]
    on = " AND ".join(choice.order([*_MAIN[kind](choice, types), *_extras(choice, kind)]))
    tame = {"x"} if shifted else set()
    left = _table(choice, {column: DOMAINS[pair[0]] for column, pair in types.items()} | {"v": _V}, tame)
    right = _table(choice, {column: DOMAINS[pair[1]] for column, pair in types.items()} | {"w": _V}, tame)
    return Case(kind, left, right, on, choice.one(hows))


def _table(choice: Choice, columns: dict[str, Domain], tame: set[str]) -> pa.Table:
    """Choose a table; some have one row or none, and in half of them whole rows repeat."""
    size = choice.one(SIZES)
    table = pa.table(
        {
            name: pa.array(_column(choice, domain.tame if name in tame else domain.values, size), domain.arrow)
            for name, domain in columns.items()
        }
    )
    if size == 0 or choice.one([True, False]):
        return table
    return table.take(pa.array(choice.many(range(size), size, size), pa.int64()))


def _column(choice: Choice, values: list[Any], size: int) -> list[Any]:
    """Choose values from a few of the domain's: often tied, sometimes all equal, sometimes all NULL."""
    pool = choice.many([*values, None], 1, 6)
    return choice.many(pool, size, size)


def _extras(choice: Choice, kind: str) -> list[str]:
    """Choose equality keys, a residual and a one-sided conjunct, each perhaps."""
    keys = [] if kind in ("equality", "nested_loop") else choice.one([[], choice.many(KEYS, 1, 1)])
    residual = choice.one([[], [], [], choice.many(RESIDUALS, 1, 1)])
    return keys + residual + choice.one([[], [], [], choice.many(ONE_SIDED, 1, 1)])


def _compare(choice: Choice, one: str, other: str, signs: Sequence[str] = tuple(FLIPPED)) -> str:
    """Choose a comparison of two expressions by one of `signs`, written either way round."""
    sign = choice.one(signs)
    return choice.one([f"{one} {sign} {other}", f"{other} {FLIPPED[sign]} {one}"])


def _equality(choice: Choice, types: Types) -> list[str]:
    tuples = ["(l.x, l.y) = (r.x, r.y)"] if types["x"] in SAME and types["y"] in SAME else []
    more = choice.one([[], ["l.x = r.x"], ["l.x <=> r.x"], tuples])
    return [choice.one(KEYS), *more]


def _one_inequality(choice: Choice, _types: Types) -> list[str]:
    return [_compare(choice, "l.x", "r.x")]


def _point_in_interval(choice: Choice, _types: Types) -> list[str]:
    point, other = choice.order(["l", "r"])
    lower = _compare(choice, f"{point}.x", f"{other}.x", (">", ">="))
    upper = _compare(choice, f"{point}.x", f"{other}.y", ("<", "<="))
    return choice.one([[lower, upper], [f"{point}.x BETWEEN {other}.x AND {other}.y"]])


def _band(choice: Choice, types: Types) -> list[str]:
    """Choose a band around either side; both its ends may lie on the same side of the point."""
    near, moved = choice.order(["l", "r"])
    steps = DOMAINS[types["x"][0 if moved == "l" else 1]].steps
    low = f"{moved}.x - {choice.one(steps)}"
    high = f"{moved}.x {choice.one('++-')} {choice.one(steps)}"
    lower = _compare(choice, f"{near}.x", low, (">", ">="))
    upper = _compare(choice, f"{near}.x", high, ("<", "<="))
    return choice.one([[lower, upper], [f"{near}.x BETWEEN {low} AND {high}"]])


def _difference(choice: Choice, types: Types) -> list[str]:
    """Choose a distance between the sides, or a sum of both, and how large it may be."""
    one, other = choice.order(["l.x", "r.x"])
    if any(kind.startswith(("date", "timestamp")) for kind in types["x"]):
        steps, least, gaps = DOMAINS["timestamp"].steps, "INTERVAL '-2' DAY", [f"{one} - {other}"]
    else:
        steps, least, gaps = (
            [*DOMAINS[types["x"][0]].steps, "l.v", "r.w"],
            "-1",
            [f"{one} - {other}", f"{one} + {other}"],
        )
    gap, step = choice.one(gaps), choice.one(steps)
    near = _compare(choice, f"abs({one} - {other})", step, ("<", "<="))
    return [
        choice.one([near, near, _compare(choice, gap, step), f"{gap} BETWEEN {least} AND {step}", f"{gap} = {step}"])
    ]


def _overlap(choice: Choice, _types: Types) -> list[str]:
    return [_compare(choice, "l.x", "r.y", ("<", "<=")), _compare(choice, "r.x", "l.y", ("<", "<="))]


def _two_inequalities(choice: Choice, _types: Types) -> list[str]:
    return [_compare(choice, "l.x", "r.x"), _compare(choice, "l.y", "r.y")]


def _many_inequalities(choice: Choice, types: Types) -> list[str]:
    more = choice.one([[], [_compare(choice, "l.v", "r.w")]])
    return [*_two_inequalities(choice, types), _compare(choice, "l.z", "r.z"), *more]


def _nested_loop(choice: Choice, _types: Types) -> list[str]:
    either = f"({_compare(choice, 'l.x', 'r.x')} OR {_compare(choice, 'l.y', 'r.y')})"
    neither = f"NOT ({_compare(choice, 'l.x', 'r.x')} AND l.y IS NOT DISTINCT FROM r.y)"
    return [choice.one(["l.x <> r.x", either, neither, "TRUE", "CAST(NULL AS BOOLEAN)", *RESIDUALS])]


_MAIN = {
    "equality": _equality,
    "one_inequality": _one_inequality,
    "point_in_interval": _point_in_interval,
    "band": _band,
    "difference": _difference,
    "overlap": _overlap,
    "two_inequalities": _two_inequalities,
    "many_inequalities": _many_inequalities,
    "nested_loop": _nested_loop,
}
