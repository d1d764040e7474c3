"""The naive references by hand: what they say of NULL, NaN, ties and types, and how they refuse."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from dovetail.errors import UnsupportedError, UsageError
from dovetail.testing import assert_same_rows, naive_aggregate, naive_join

NAN = math.nan


def _holds(one: object, sign: str, other: object, *types: pa.DataType) -> bool:
    """Whether a pair of single values matches."""
    left_type, right_type = (types * 2)[:2] if types else (None, None)
    left, right = pa.table({"x": pa.array([one], left_type)}), pa.table({"x": pa.array([other], right_type)})
    return bool(naive_join(left, right, f"l.x {sign} r.x"))


LEFT = [{"k": 1, "x": 10}, {"k": 2, "x": 20}, {"k": None, "x": 30}]
RIGHT = [{"k": 1, "y": 5}, {"k": 1, "y": 15}, {"k": 3, "y": 0}, {"k": None, "y": 0}]


@pytest.mark.parametrize(
    ("how", "rows"),
    [
        ("inner", [(1, 10, 1, 5)]),
        ("left", [(1, 10, 1, 5), (2, 20, None, None), (None, 30, None, None)]),
        ("right", [(1, 10, 1, 5), (None, None, 1, 15), (None, None, 3, 0), (None, None, None, 0)]),
        ("semi", [(1, 10)]),
        ("anti", [(2, 20), (None, 30)]),
        ("leftOuter", [(1, 10, 1, 5), (2, 20, None, None), (None, 30, None, None)]),
        ("left_semi", [(1, 10)]),
    ],
)
def test_every_join_type_keeps_its_rows(how: str, rows: list[tuple[Any, ...]]) -> None:
    assert_same_rows(naive_join(LEFT, RIGHT, "l.k = r.k AND l.x > r.y", how), rows)


def test_a_full_join_pads_both_sides() -> None:
    rows: list[tuple[int | None, ...]] = [(1, 10, 1, 5), (2, 20, None, None), (None, 30, None, None)]
    rows += [(None, None, 1, 15), (None, None, 3, 0), (None, None, None, 0)]
    assert_same_rows(naive_join(LEFT, RIGHT, "l.k = r.k AND l.x > r.y", "full"), rows)


def test_an_empty_table_without_columns_pads_with_nothing() -> None:
    assert naive_join(LEFT, [], "l.x > 15", "left") == [(1, 10), (2, 20), (None, 30)]


def test_columns_without_an_input_and_in_any_case_are_found() -> None:
    assert naive_join(LEFT, RIGHT, "X > Y AND L.K = r.K") == [(1, 10, 1, 5)]


@pytest.mark.parametrize(
    ("condition", "matches"),
    [
        ("l.n = r.n", False),
        ("NOT (l.n = r.n)", False),
        ("l.n <=> r.n", True),
        ("l.n IS DISTINCT FROM r.n", False),
        ("l.n IS DISTINCT FROM r.one", True),
        ("l.n > 0 OR r.one = 1", True),
        ("l.n > 0 AND r.one = 1", False),
        ("NOT (l.n > 0 AND r.one = 2)", True),
        ("(l.n > 0) IS NULL", True),
        ("r.one IN (2, l.n)", False),
        ("r.one NOT IN (2, l.n)", False),
        ("r.one IN (1, l.n)", True),
        ("l.n NOT BETWEEN 1 AND 2", False),
        ("r.one NOT BETWEEN 2 AND l.n", True),
        ("CASE WHEN l.n > 0 THEN FALSE ELSE TRUE END", True),
        ("coalesce(l.n, r.one) = 1", True),
        ("least(l.n, r.one) = greatest(r.one, NULL)", True),
        ("(l.n, r.one) = (r.n, 1)", True),
        ("(l.n > 0) IS NOT TRUE", True),
    ],
)
def test_logic_with_null_has_three_values(condition: str, *, matches: bool) -> None:
    table = pa.table({"n": pa.array([None], pa.int64()), "one": pa.array([1], pa.int32())})
    assert bool(naive_join(table, table, condition)) is matches


def test_nan_is_the_greatest_number_and_equals_itself() -> None:
    assert _holds(NAN, "=", NAN)
    assert _holds(NAN, ">", math.inf)
    assert not _holds(NAN, ">", NAN)
    assert _holds(NAN, ">=", 1.5, pa.float32(), pa.float64())


def test_zero_has_no_sign_in_a_comparison() -> None:
    assert _holds(-0.0, "=", 0.0)
    assert not _holds(-0.0, "<", 0.0)


def test_a_bigint_meets_a_double_as_a_double() -> None:
    assert _holds(2**53 + 1, "=", float(2**53))
    assert not _holds(2**53 + 1, "=", 2**53)


def test_a_float_is_not_the_decimal_it_was_written_as() -> None:
    assert _holds(0.1, ">", Decimal("0.1"), pa.float32(), pa.decimal128(2, 1))


def test_decimals_of_different_scales_are_exact() -> None:
    wide, narrow = pa.decimal128(38, 10), pa.decimal128(10, 2)
    assert _holds(Decimal("1.0000000001"), ">", Decimal("1.00"), wide, narrow)
    assert _holds(Decimal("1.5000000000"), "=", Decimal("1.50"), wide, narrow)


def test_decimals_beyond_38_digits_lose_their_fraction_as_in_spark() -> None:
    assert _holds(Decimal("1.4"), "=", Decimal(1), pa.decimal128(38, 10), pa.decimal128(38, 0))
    assert _holds(Decimal("1.5"), "=", Decimal(2), pa.decimal128(38, 10), pa.decimal128(38, 0))


def test_strings_are_ordered_by_their_utf8_bytes() -> None:
    assert _holds("\U0001f600", ">", "\uffff")
    assert _holds("a", ">", "B")
    assert _holds("", "<", "\0")


def test_binaries_are_ordered_by_unsigned_bytes() -> None:
    assert _holds(b"\x80", ">", b"\x7f")
    assert _holds(b"", "<", b"\0")


def test_false_is_below_true() -> None:
    assert _holds(one=False, sign="<", other=True)


def test_a_date_is_the_start_of_its_day_in_utc() -> None:
    day, noon = dt.date(2020, 2, 29), dt.datetime(2020, 2, 29, 12, tzinfo=dt.UTC)
    assert _holds(day, "=", noon.replace(hour=0))
    assert _holds(day, "<", noon)
    assert _holds(noon, "=", noon.replace(tzinfo=None))


@pytest.mark.parametrize(
    ("condition", "matches"),
    [
        ("l.day + INTERVAL 1 DAY = r.day + 1", True),
        ("l.at + INTERVAL 90 MINUTES = l.at + INTERVAL '1' HOUR + INTERVAL '1800' SECOND", True),
        ("l.at - r.at <= INTERVAL 0 SECONDS", True),
        ("l.at + INTERVAL 1 MICROSECOND > r.at", True),
        ("l.day + INTERVAL 1 HOUR > r.day", True),
        ("l.at BETWEEN r.at - INTERVAL 1 DAY 2 HOURS AND r.at - INTERVAL 1 DAY", False),
        ("l.at >= '2020-02-29'", True),
        ("l.day = DATE '2020-02-29' AND l.at < TIMESTAMP '2020-02-29 12:00:01'", True),
        ("7 % -3 = 1 AND -7 % 3 = -1", True),
        ("1 / 2 = 0.5D AND 7 / 2 > 3", True),
        ("floor(-1.5) = -2 AND ceil(-1.5D) = -1", True),
        ("abs(-3) = 3 AND -(-3) = 3", True),
        ("1Y + 1 = 2L AND 1.5BD * 2 = 3", True),
    ],
)
def test_arithmetic_on_numbers_and_moments(condition: str, *, matches: bool) -> None:
    table = pa.table({"day": [dt.date(2020, 2, 29)], "at": [dt.datetime(2020, 2, 29, 12, tzinfo=dt.UTC)]})
    assert bool(naive_join(table, table, condition)) is matches


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("l.b + 1Y > 0", "'128' overflows tinyint"),
        ("-l.low > 0", "'9223372036854775808' overflows bigint"),
        ("l.low / 0 = 1", "division by zero in 'l.low / 0'"),
        ("l.b % (l.b - l.b) = 1", "division by zero"),
        ("l.s = l.low", "'l.s = l.low' takes no string and bigint"),
        ("l.s", "condition 'l.s' is no boolean"),
        ("NULL", "condition 'NULL' is no boolean"),
        ("l.nope = 1", "column 'nope' not found in 'l'"),
        ("nope = 1", "column 'nope' not found in any input"),
        ("q.b = 1", "input 'q' not found"),
        ("b = 1", "column 'b' is ambiguous"),
        ("l.b >", "cannot be read"),
    ],
)
def test_what_spark_refuses_is_refused(condition: str, message: str) -> None:
    table = pa.table({"b": pa.array([127], pa.int8()), "low": [-(2**63)], "s": ["a"]})
    with pytest.raises(UsageError, match=message):
        naive_join(table, table, condition)


@pytest.mark.parametrize("condition", ["l.s LIKE 'a%'", "upper(l.s) = 'A'", "l.s + INTERVAL 1 MONTH > r.s"])
def test_what_the_reference_does_not_know_it_says(condition: str) -> None:
    with pytest.raises(UnsupportedError, match="is not known to the naive reference"):
        naive_join([{"s": "a"}], [{"s": "a"}], condition)


def test_a_type_that_spark_lacks_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="column 'u' is uint64"):
        naive_join(pa.table({"u": pa.array([1], pa.uint64())}), [{"x": 1}], "u = x")


def test_an_unknown_join_type_is_refused() -> None:
    with pytest.raises(UsageError, match="how 'sideways' is not known"):
        naive_join(LEFT, RIGHT, "l.k = r.k", "sideways")


PRICES = [
    {"at": 1, "price": 10, "cost": Decimal("1.50"), "rate": 0.1},
    {"at": 3, "price": None, "cost": Decimal("2.25"), "rate": NAN},
    {"at": 2, "price": 30, "cost": None, "rate": 0.2},
    {"at": 2, "price": 20, "cost": Decimal("0.25"), "rate": 0.3},
]


@pytest.mark.parametrize(
    ("aggregate", "early", "late"),
    [
        ("count(*)", 3, 4),
        ("count(r.price)", 3, 3),
        ("sum(r.price)", 60, 60),
        ("avg(r.price)", 20.0, 20.0),
        ("min(r.price)", 10, 10),
        ("max(r.cost)", Decimal("1.50"), Decimal("2.25")),
        ("sum(r.cost)", Decimal("1.75"), Decimal("4.00")),
        ("avg(r.cost)", Decimal("0.875"), Decimal("1.333333")),
        ("first(r.price)", 10, 10),
        ("last(r.price)", 30, None),
        ("first(r.rate)", 0.1, 0.1),
        ("max(r.rate)", 0.3, NAN),
        ("sum(r.price * 2)", 120, 120),
    ],
)
def test_an_aggregate_folds_the_partners_of_every_row(aggregate: str, early: object, late: object) -> None:
    trips = [{"at": 2}, {"at": 9}, {"at": 0}]
    nothing = 0 if aggregate.startswith("count") else None
    got = naive_aggregate(trips, PRICES, "l.at >= r.at", {"value": aggregate})
    assert_same_rows(got, [(2, early), (9, late), (0, nothing)])


def test_an_aggregate_may_be_per_right_row() -> None:
    got = naive_aggregate([{"at": 2}, {"at": 9}], PRICES, "l.at > r.at", {"n": "count(*)", "at": "last(l.at)"}, per="r")
    assert [row[-2:] for row in got] == [(2, 9), (1, 9), (1, 9), (1, 9)]


def test_first_goes_by_the_first_inequality_and_then_by_the_value() -> None:
    base = [{"k": 1, "x": 5}]
    other = [
        {"k": 1, "x": 4, "y": 1, "v": "c"},
        {"k": 1, "x": 3, "y": 2, "v": "b"},
        {"k": 1, "x": 3, "y": 2, "v": None},
    ]
    by_x = naive_aggregate(base, other, "l.k = r.k AND l.x > r.x AND l.x > r.y", {"f": "first(r.v)", "g": "last(r.v)"})
    by_y = naive_aggregate(base, other, "l.k = r.k AND NOT (l.x <= r.y) AND l.x > r.x", {"f": "first(r.v)"})
    assert by_x == [(1, 5, None, "c")]
    assert by_y == [(1, 5, "c")]


def test_a_sum_beyond_a_bigint_is_refused() -> None:
    with pytest.raises(UsageError, match="overflows bigint"):
        naive_aggregate([{"x": 0}], [{"y": 2**63 - 1}, {"y": 1}], "l.x < r.y", {"s": "sum(r.y)"})


@pytest.mark.parametrize(
    ("aggregate", "message"),
    [
        ("median(r.y)", "is not known"),
        ("sum(DISTINCT r.y)", "is not known"),
        ("sum(r.s)", "needs a number; got string"),
    ],
)
def test_an_aggregate_that_is_none_is_refused(aggregate: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        naive_aggregate([{"x": 0}], [{"y": 1, "s": "a"}], "l.x < r.y", {"a": aggregate})


def test_the_kept_input_must_exist() -> None:
    with pytest.raises(UsageError, match="input 'q' not found"):
        naive_aggregate([{"x": 0}], [{"y": 1}], "l.x < r.y", {"n": "count(*)"}, per="q")


def test_same_rows_in_another_order_are_the_same() -> None:
    assert_same_rows([(1, NAN), (2, -0.0)], pa.table({"a": [2, 1], "b": [0.0, NAN]}))
    assert_same_rows([{"a": Decimal("1.50")}], [(Decimal("1.5"),)])


@pytest.mark.parametrize(
    ("got", "want"),
    [
        ([(1,), (1,)], [(1,)]),
        ([(True,)], [(1,)]),
        ([(None,)], [(NAN,)]),
        ([(1, None)], [(1,)]),
        ([("1",)], [(1,)]),
        ([(dt.datetime(2020, 1, 1, tzinfo=dt.UTC),)], [(dt.datetime(2020, 1, 1),)]),  # noqa: DTZ001 -- the point
    ],
)
def test_other_rows_are_not_the_same(got: list[Any], want: list[Any]) -> None:
    with pytest.raises(AssertionError, match="rows differ"):
        assert_same_rows(got, want)


def test_the_difference_fits_one_screen() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_same_rows([(i, "x" * 500) for i in range(1000)], [(-1, "y")])
    lines = str(caught.value).splitlines()
    assert lines[0] == "rows differ: got 1000, want 1; 1 missing, 1000 extra"
    assert lines[1] == "  missing 1x (-1, 'y')"
    assert lines[-1] == "  extra   and 992 other rows"
    assert len(lines) < 24
    assert max(map(len, lines)) < 120


def test_a_tolerance_forgives_floats_alone() -> None:
    assert_same_rows([(1, 0.1 + 0.2)], [(1, 0.3)], tolerance=1e-12)
    with pytest.raises(AssertionError, match="1 missing, 1 extra"):
        assert_same_rows([(1, 0.31)], [(1, 0.3)], tolerance=1e-12)
    with pytest.raises(AssertionError, match="1 missing, 1 extra"):
        assert_same_rows([(2, 0.3)], [(1, 0.3)], tolerance=1e-12)
