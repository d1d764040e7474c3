"""Aggregates per row of one input, without pairs: against the naive reference, on both hosts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

import dovetail as dv
from dovetail.errors import UsageError
from dovetail.testing import assert_same_rows, naive_aggregate
from tests.amount import one_in
from tests.spark_answers import spark_frame
from tests.strategies import KINDS, cases, sample

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.strategies import Case

NUMBERS = {"n": "count(*)", "there": "count({0}.x)", "total": "sum({0}.{1})", "mean": "avg({0}.{1})"}
SPREADS = {
    "kinds": "count_distinct({0}.x)",
    "spread": "stddev({0}.{1})",
    "some": "sum({0}.{1}) FILTER (WHERE {0}.{1} > 0)",
    "late": "last({0}.x) FILTER (WHERE {0}.{1} IS NULL)",
}
ENDS = {"least": "min({0}.x)", "most": "max({0}.x)", "first": "first({0}.x)", "last": "last({0}.x)"}


def _agg(per: str) -> dict[str, str]:
    other = ("r", "w") if per == "l" else ("l", "v")
    return {name: text.format(*other) for name, text in (NUMBERS | SPREADS | ENDS).items()}


def _check(case: Case) -> None:
    for per in ("l", "r"):
        got = dv.join(case.left, case.right, on=case.on, agg=_agg(per), per=per)
        assert_same_rows(got, naive_aggregate(case.left, case.right, case.on, _agg(per), per), tolerance=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_aggregates_are_the_naive_ones(kind: str) -> None:
    fewer = settings(max_examples=one_in(8))  # each is folded from either side
    fewer(given(cases(kind, hows=["inner"]))(_check))()


@pytest.mark.parametrize("placement", [{}, {"algorithm": "range", "partitions": 3}])
def test_spark_folds_as_arrow_does(spark: SparkSession, placement: dict[str, Any]) -> None:
    drawn = [case for kind in KINDS for case in sample(kind, 1, seed=5, hows=["inner"])]

    def folded(case: Case) -> pa.Table:
        left, right = spark_frame(spark, case.left), spark_frame(spark, case.right)
        return dv.join(left, right, on=case.on, agg=_agg("l"), per="l", **placement).toArrow()

    with ThreadPoolExecutor(3) as pool:
        for case, got in zip(drawn, pool.map(folded, drawn), strict=True):
            assert_same_rows(got, naive_aggregate(case.left, case.right, case.on, _agg("l"), "l"), tolerance=1e-12)


def test_a_sum_of_integers_is_exact_beyond_what_a_double_holds() -> None:
    base = pa.table({"a": [0, 5]})
    rows = pa.table({"b": [1, 2, 6], "v": [2**62, 2**62 - 1, 1]})
    got = dv.join(base, rows, on="l.a < r.b AND r.b < l.a + 3", agg={"s": "sum(r.v)"}, per="l")
    assert got.column("s").to_pylist() == [2**63 - 1, 1]


def test_a_sum_that_overflows_is_an_error_as_in_spark() -> None:
    rows = pa.table({"b": [1, 2], "v": [2**62, 2**62]})
    with pytest.raises(UsageError, match=r"overflows BIGINT"):
        dv.join(pa.table({"a": [0]}), rows, on="l.a < r.b", agg={"s": "sum(r.v)"}, per="l")


def test_decimals_add_up_exactly_and_grow_as_sparks_do() -> None:
    money = pa.array([Decimal("0.10"), Decimal("0.20"), Decimal("-0.05")], pa.decimal128(10, 2))
    got = dv.join(
        pa.table({"a": [0]}),
        pa.table({"b": [1, 2, 3], "v": money}),
        on="l.a < r.b",
        agg={"s": "sum(r.v)", "m": "avg(r.v)"},
        per="l",
    )
    assert got.schema.field("s").type == pa.decimal128(20, 2)
    assert got.schema.field("m").type == pa.decimal128(14, 6)
    assert got.to_pylist() == [{"a": 0, "s": Decimal("0.25"), "m": Decimal("0.083333")}]


def test_one_infinity_spoils_only_the_sums_that_meet_it() -> None:
    rows = pa.table({"b": [1, 2, 3], "v": [1.0, float("inf"), 2.0]})
    got = dv.join(
        pa.table({"s": [1, 2, 3], "e": [1, 2, 3]}), rows, on="r.b BETWEEN l.s AND l.e", agg={"t": "sum(r.v)"}, per="l"
    )
    assert got.column("t").to_pylist() == [1.0, float("inf"), 2.0]


def test_spark_has_two_names_for_some() -> None:
    table = pa.table({"a": [1, 2, 4]})
    agg = {"mean": "mean(r.a)", "avg": "avg(r.a)", "std": "STD(r.a)", "stddev": "stddev(r.a)"}
    got = dv.join(table, table, on="l.a >= r.a", agg=agg, per="l")
    assert got["mean"].to_pylist() == got["avg"].to_pylist() == [1.0, 1.5, 7 / 3]
    assert got["std"].to_pylist() == got["stddev"].to_pylist()


def test_half_a_trillion_pairs_are_counted_and_not_made() -> None:
    number = 1_000_000
    left, right = pa.table({"a": np.arange(number)}), pa.table({"b": np.arange(number)})
    got = dv.join(left, right, on="l.a < r.b", agg={"n": "count(*)"}, per="l")
    assert got.column("n").to_numpy().sum() == number * (number - 1) // 2


def test_sums_of_wide_decimals_are_those_of_python() -> None:
    random = np.random.default_rng(2)
    digits = [int.from_bytes(random.bytes(15), "little", signed=True) for _ in range(60)]
    money = [_exactly(number) for number in digits]
    rows = pa.table({"b": np.arange(60), "v": pa.array(money, pa.decimal128(38, 4))})
    spans = pa.table({"s": [0, 3, 59, 70], "e": [59, 20, 59, 80]})
    got = dv.join(spans, rows, on="r.b BETWEEN l.s AND l.e", agg={"t": "sum(r.v)"}, per="l", select="l.s")
    want = [_exactly(sum(digits)), _exactly(sum(digits[3:21])), _exactly(digits[59]), None]
    assert got.column("t").to_pylist() == want


def _exactly(unscaled: int) -> Decimal:
    """Four digits after the point, whatever the precision that Python would round to."""
    return Decimal((0 if unscaled >= 0 else 1, [int(digit) for digit in str(abs(unscaled))], -4))


def test_an_argument_is_computed_only_where_its_filter_holds(spark: SparkSession) -> None:
    left, right = pa.table({"a": [1, 2, 3]}), pa.table({"b": [0, 1, 2], "x": [1, 0, 2]})
    agg = {"s": "sum(10 / r.x) FILTER (WHERE r.x <> 0)", "n": "count(*) FILTER (WHERE 10 / nullif(r.x, 0) > 5)"}
    want = [{"a": 1, "s": 10.0, "n": 1}, {"a": 2, "s": 10.0, "n": 1}, {"a": 3, "s": 15.0, "n": 1}]
    assert dv.join(left, right, on="l.a > r.b", agg=agg, per="l").to_pylist() == want
    frames = spark_frame(spark, left), spark_frame(spark, right)
    assert_same_rows(dv.join(*frames, on="l.a > r.b", agg=agg, per="l").toArrow(), pa.Table.from_pylist(want))
    window = {"s": "sum(10 / x) FILTER (WHERE x <> 0)"}
    found = dv.window_join(*frames, on=("a", "b"), preceding="unbounded", agg=window).toArrow().sort_by("a")
    assert found["s"].to_pylist() == [10.0, 15.0, 15.0]


@pytest.mark.parametrize("on", ["l.k = r.k", "l.k <= r.k", "l.k <= r.k AND l.k >= r.j", "l.k <> r.j"])
def test_zeros_below_zero_keep_their_sign(on: str) -> None:
    left = pa.table({"k": [1]})
    right = pa.table({"k": [1, 1], "j": [0, 0], "z": [-0.0, -0.0], "f": pa.array([-0.0, None], pa.float32())})
    agg = {"least": "min(r.z)", "most": "max(r.z)", "narrow": "min(r.f)", "total": "sum(r.z)"}
    assert str(dv.join(left, right, on=on, agg=agg, per="l").to_pylist()) == (
        "[{'k': 1, 'least': -0.0, 'most': -0.0, 'narrow': -0.0, 'total': 0.0}]"
    )
