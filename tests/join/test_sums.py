"""Sums, spreads and other aggregates: the same values give the same answer, by whatever plan they are folded."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.errors import UsageError
from tests.amount import one_in
from tests.spark_answers import spark_frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAYS = {
    "from the first row on": "l.after < r.at",
    "up to the last row": "r.at < l.before",
    "slice": "r.at BETWEEN l.after AND l.before",
    "threshold": "l.after < r.at AND l.low < r.high",
    "overlap": "l.after < r.until AND r.at < l.before",
    "pairs": "l.after < r.at AND l.after + r.at <> -5",
    "pairs of a threshold": "l.after < r.at AND l.low < r.high AND l.low + r.high <> -5",
    "key": "l.k = r.k",
}
"""Conditions under which the second row of BASE meets every row and the others none, each folded in its own way."""

BASE = pa.table({"k": [2, 1, 3], "after": [90, -1, 90], "before": [-1, 80, -1], "low": [9, 0, 9]})

WIDE = st.builds(math.ldexp, st.integers(-(2**53), 2**53), st.integers(0, 36))
"""Doubles whose sums, up to sixty of them, twice the precision of a double holds without rounding."""

NINES = 10**38 - 1
"""The greatest decimal that Spark has."""

DECIMALS = st.one_of(st.integers(-NINES, NINES), st.sampled_from([NINES, -NINES, 1, -1]))

FEWER = settings(max_examples=one_in(4))  # each is folded in nine ways

LIMITS = st.sampled_from([math.inf, -math.inf, math.nan, 1e308, -1e308, 1.0, -0.0, 5e-324])


def _rows(values: pa.Array) -> pa.Table:
    """A table of all values, in their order of time; the others of its columns let every condition hold."""
    at = pa.array(range(len(values)))
    return pa.table(
        {"k": [1] * len(values), "at": at, "until": [70] * len(values), "high": [5] * len(values), "v": values}
    )


def _answers(values: list[Any] | pa.Array, text: str) -> dict[str, Any]:
    """The aggregate over all values, by each way."""
    rows = _rows(values if isinstance(values, pa.Array) else pa.array(values, pa.float64()))
    folded = {way: dv.join(BASE, rows, on=on, agg={"s": text}, per="l")["s"].to_pylist() for way, on in WAYS.items()}
    for others in folded.values():
        assert others[::2] in ([None, None], [0, 0])
    windows = dv.window_join(pa.table({"at": [40]}), rows, on="at", preceding=60, following=60, agg={"s": text})
    return {way: found[1] for way, found in folded.items()} | {"window": windows["s"][0].as_py()}


def _exact_sum(values: list[float]) -> float:
    """The double nearest to the sum, as IEEE 754 rounds; infinities and NaN as they add up."""
    unbounded = [value for value in values if not math.isfinite(value)]
    if unbounded:
        return sum(unbounded)
    total = sum(map(Fraction, values), Fraction(0))
    try:
        return float(total)
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def _bits(number: float) -> str:
    """What tells two doubles apart, -0.0 from 0.0 too, but no NaN from another."""
    return "nan" if math.isnan(number) else number.hex()


@pytest.mark.parametrize(
    ("way", "line"),
    [
        ("slice", "slice: "),
        ("threshold", "threshold: "),
        ("overlap", "threshold: "),
        ("pairs", "test pair by pair: "),
        ("pairs of a threshold", "test pair by pair: "),
    ],
)
def test_the_ways_are_those_of_their_plans(way: str, line: str) -> None:
    plan = str(dv.explain(BASE, _rows(pa.array([1.0, 2.0])), on=WAYS[way], agg={"s": "sum(r.v)"}, per="l"))
    assert line in plan.splitlines()[-1]


def test_no_plan_forgets_small_numbers_beside_large_ones() -> None:
    assert set(_answers([1e16, 1.0, 1.0, -1e16], "sum(r.v)").values()) == {2.0}
    assert set(_answers([1e16, 1.0, 1.0, -1e16], "avg(r.v)").values()) == {0.5}


def test_only_a_sum_that_is_too_large_in_the_end_is_infinite() -> None:
    assert set(_answers([1e308, 1e308, -1e308], "sum(r.v)").values()) == {1e308}
    assert set(_answers([1e308, 1.0, -1e308], "sum(r.v)").values()) == {1.0}
    assert set(_answers([1e308, 1e308, -1e307], "sum(r.v)").values()) == {math.inf}
    assert set(_answers([-1e308, -1e308, 1.0], "sum(r.v)").values()) == {-math.inf}


@FEWER
@given(st.lists(WIDE, min_size=1, max_size=40))
@example([1e16, 1.0, -1e16])
def test_every_plan_gives_the_double_nearest_to_the_sum(values: list[float]) -> None:
    twice = [*values, *(-value for value in values[1:]), 1.0]  # the first value and one remain
    assert set(_answers(values, "sum(r.v)").values()) == {math.fsum(values)}
    assert set(_answers(twice[:60], "sum(r.v)").values()) == {math.fsum(twice[:60])}


@FEWER
@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=60))
def test_any_finite_doubles_add_up_with_an_error_of_twice_their_precision(values: list[float]) -> None:
    want = math.fsum(values)
    least = math.ulp(want) + math.ldexp(math.fsum(map(abs, values)), -96)
    for got in _answers(values, "sum(r.v)").values():
        assert abs(got - want) <= least


@FEWER
@given(st.lists(LIMITS, min_size=1, max_size=6))
@example([math.inf, 1.0, 1e308])
@example([math.inf, -math.inf])
@example([1e308, 1e308, -1e308, 5e-324])
def test_infinities_and_nan_are_met_alike_by_every_plan(values: list[float]) -> None:
    assert {_bits(got) for got in _answers(values, "sum(r.v)").values()} == {_bits(_exact_sum(values) + 0.0)}


@pytest.mark.parametrize("function", ["min", "max", "count", "count_distinct", "stddev"])
@pytest.mark.parametrize("where", ["", " FILTER (WHERE r.at % 2 = 0)"])
def test_no_plan_tells_nan_or_zeros_apart_in_its_own_way(function: str, where: str) -> None:
    for values in ([0.0, -0.0, math.nan, -math.nan], [-0.0, None], [math.inf, math.nan, None, -0.0], [-0.0, -1.0, 0.0]):
        answers = _answers(values, f"{function}(r.v){where}").values()
        assert len({answer if answer is None else _bits(float(answer)) for answer in answers}) == 1


def test_a_spread_does_not_depend_on_rows_that_it_does_not_meet() -> None:
    tenths, far = [0.1, 0.2, 0.3], [1e9 + number / 7 for number in range(9)]
    base, rows = pa.table({"k": [1, 2]}), pa.table({"k": [1] * 3 + [2] * 9, "v": tenths + far})
    got = dv.join(base, rows, on="l.k = r.k", agg={"s": "variance(r.v)"}, per="l")["s"].to_pylist()
    assert got == pytest.approx([_exact_variance(tenths), _exact_variance(far)], rel=1e-11)


@FEWER
@given(st.lists(st.floats(-1e6, 1e6).filter(lambda value: value == 0 or abs(value) > 1e-6), min_size=2, max_size=40))
def test_every_plan_gives_the_exact_variance(values: list[float]) -> None:
    for got in _answers(values, "variance(r.v)").values():
        assert got == pytest.approx(_exact_variance(values), rel=1e-15, abs=1e-19)


def _exact_variance(values: list[float]) -> float:
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    return float(sum((value - mean) ** 2 for value in exact) / (len(exact) - 1))


def _decimals(*unscaled: int, kind: pa.DataType | None = None) -> pa.Array:
    """Whole numbers as decimals, whatever the precision that Python would round to."""
    return pa.array([Decimal(number) for number in unscaled], kind or pa.decimal128(38, 0))


def test_a_decimal_of_38_nines_is_its_own_sum() -> None:
    assert set(_answers(_decimals(NINES), "sum(r.v)").values()) == {Decimal(NINES)}
    assert set(_answers(_decimals(-NINES), "sum(r.v)").values()) == {Decimal(-NINES)}
    assert set(_answers(_decimals(NINES, 1, -1), "sum(r.v)").values()) == {Decimal(NINES)}


@pytest.mark.parametrize(
    "numbers", [(NINES, 1), (-NINES, -1), (NINES, NINES), (-NINES, -NINES), (NINES,) * 4, (-NINES,) * 60]
)
def test_a_sum_of_decimals_that_has_39_digits_is_an_error(numbers: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match=r"overflows DECIMAL\(38,0\)"):
        _answers(_decimals(*numbers), "sum(r.v)")


@FEWER
@given(st.lists(DECIMALS, min_size=1, max_size=4))
@example([NINES, 1 - NINES, -1])
def test_decimals_add_up_exactly_or_overflow(numbers: list[int]) -> None:
    if abs(sum(numbers)) > NINES:
        with pytest.raises(UsageError, match="overflows"):
            _answers(_decimals(*numbers), "sum(r.v)")
    else:
        assert set(_answers(_decimals(*numbers), "sum(r.v)").values()) == {Decimal(sum(numbers))}


def test_decimals_wider_than_sparks_overflow_where_their_sum_is() -> None:
    wide = pa.decimal256(50, 0)
    assert set(_answers(_decimals(10**45, 7, -(10**45), kind=wide), "sum(r.v)").values()) == {Decimal(7)}
    with pytest.raises(UsageError, match="overflows"):
        _answers(_decimals(10**45, kind=wide), "sum(r.v)")


def test_a_mean_of_decimals_that_has_no_room_for_four_more_places_is_an_error() -> None:
    fits = 10**34 - 1
    assert set(_answers(_decimals(fits, -fits, fits, fits), "avg(r.v)").values()) == {Decimal(f"4{'9' * 33}.5")}
    with pytest.raises(UsageError, match=r"overflows DECIMAL\(38,4\)"):
        _answers(_decimals(fits + 1), "avg(r.v)")


@pytest.mark.parametrize(("sum_", "number"), [(12, 26), (59, 24), (11, 2), (-11, 2), (1, 3)])
def test_means_of_decimals_round_once_as_sparks_do(spark: SparkSession, sum_: int, number: int) -> None:
    values = pa.array([Decimal(sum_).scaleb(-38), *[Decimal(0)] * (number - 1)], pa.decimal128(38, 38))
    want = spark_frame(spark, pa.table({"v": values})).selectExpr("avg(v)").first()
    assert want is not None
    assert set(_answers(values, "avg(r.v)").values()) == {want[0]}
