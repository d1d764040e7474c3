"""What does not need Spark to be known: which rows a branch sees, nanoseconds, slices, exact arithmetic, messages."""

from __future__ import annotations

import calendar
import datetime as dt
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from typing import Any

import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from dovetail._core.columns.evaluate import evaluate
from dovetail._core.condition.dialect import AsWritten
from dovetail.errors import UnsupportedError, UsageError


def value(text: str, rows: int | None = None, **columns: pa.Array) -> pa.Array:
    node = sqlglot.parse_one(text, read=AsWritten)
    before = node.sql(dialect=AsWritten)
    count = rows if rows is not None else len(next(iter(columns.values())))
    result = evaluate(node, lambda column: columns[column.name], count)
    assert node.sql(dialect=AsWritten) == before
    assert all(part.parent is not None for part in node.walk() if part is not node)
    assert len(result) == count
    return result


def listed(text: str, **columns: pa.Array) -> list[Any]:
    return list(value(text, **columns).to_pylist())


A, B = pa.array([6, 1, None, 4]), pa.array([3, 0, 0, None])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("CASE WHEN b <> 0 THEN a / b END", [2.0, None, None, None]),
        ("IF(b = 0, 0, a div b)", [2, 0, 0, None]),
        ("b = 0 OR a % b = 0", [True, True, True, None]),
        ("b <> 0 AND a % b = 0", [True, False, False, None]),
        ("coalesce(b, 10 % (a - 6))", [3, 0, 0, 0]),
        ("nvl2(nullif(b, 0), a % b, -1)", [0, -1, -1, -1]),
    ],
)
def test_branch_sees_only_the_rows_that_take_it(text: str, wanted: list[object]) -> None:
    assert listed(text, a=A, b=B) == wanted


def test_nested_branches_narrow_the_rows_of_the_outer_ones() -> None:
    text = "CASE WHEN a > 1 THEN CASE WHEN b <> 0 THEN a % b ELSE 7 END WHEN b = 0 THEN 8 END"
    assert listed(text, a=A, b=B) == [0, 8, 8, 7]


def test_columns_may_be_slices_of_larger_arrays() -> None:
    words = pa.array(["zzz", "äbc", None, "xäb"]).slice(1)
    money = pa.array([Decimal(9), Decimal("1.5"), None, Decimal("-2.5")], pa.decimal128(20, 1)).slice(1)
    flags = pa.array([False, True, None, False]).slice(1)
    assert listed("substring(s, 2)", s=words) == ["bc", None, "äb"]
    assert listed("instr(s, 'b')", s=words) == [2, None, 3]
    assert listed("d + d", d=money) == [Decimal("3.0"), None, Decimal("-5.0")]
    assert listed("cast(d AS STRING)", d=money) == ["1.5", None, "-2.5"]
    assert listed("NOT f OR s LIKE '%c'", f=flags, s=words) == [True, None, True]


def test_nanoseconds_are_kept_by_comparisons_and_by_steps_of_time() -> None:
    fine, coarse = pa.array([1001, 999], pa.timestamp("ns", "UTC")), pa.array([1, 1], pa.timestamp("us", "UTC"))
    assert listed("a > b", a=fine, b=coarse) == [True, False]
    moved = value("a + INTERVAL 1 MICROSECOND", a=fine)
    assert moved.type == pa.timestamp("ns", "UTC")
    assert moved.cast(pa.int64()).to_pylist() == [2001, 1999]


def test_functions_of_time_see_nanoseconds_as_spark_would() -> None:
    fine = pa.array([-1, 1_999], pa.timestamp("ns", "UTC"))
    assert listed("unix_micros(a)", a=fine) == [-1, 1]
    assert listed("year(a)", a=fine) == [1969, 1970]


def test_decimals_beyond_38_digits_are_compared_exactly() -> None:
    wide = pa.array([Decimal(10**45), Decimal("0.5"), None], pa.decimal256(50, 2))
    assert listed("a > b", a=wide, b=pa.array([1, 1, 1])) == [True, False, None]
    assert listed("a = c", a=wide, c=pa.array([1e45, 0.5, 0.5])) == [True, True, None]


def test_constant_is_repeated_and_null_has_no_type() -> None:
    assert value("1 + 1", rows=3).to_pylist() == [2, 2, 2]
    assert value("NULL", rows=2).type == pa.null()
    assert len(value("'a'", rows=0)) == 0


def test_field_of_a_struct_is_found_whatever_its_case_and_made_canonical() -> None:
    kind = pa.struct([("Price", pa.uint32()), ("inner", pa.struct([("x", pa.large_string())]))])
    struct = pa.array([{"Price": 1, "inner": {"x": "a"}}, None, {"Price": None, "inner": None}], kind)
    assert value("(s).price", s=struct).type == pa.int64()
    assert listed("(s).price", s=struct) == [1, None, None]
    assert listed("((s).inner).X", s=struct) == ["a", None, None]
    with pytest.raises(
        UsageError, match=r"^field 'prize' not found; the struct has 'Price', 'inner'\. Hint: did you mean 'Price'\?$"
    ):
        value("(s).prize", s=struct)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("a / 0", UsageError, "division by zero in 'a / 0'"),
        ("a = TRUE", UsageError, "'a = TRUE' compares BIGINT with BOOLEAN, which Spark refuses"),
        ("a + TRUE", UsageError, "'a \\+ TRUE' takes no BIGINT and BOOLEAN; Spark refuses it, too"),
        ("cast('x' AS INT)", UsageError, "'x' of type STRING cannot be cast to INT"),
        ("a * 9223372036854775807", UsageError, "overflows BIGINT"),
        ("frobnicate(a)", UnsupportedError, "function frobnicate in 'FROBNICATE\\(a\\)' is not evaluated"),
        ("md5(a)", UnsupportedError, "function md5 in 'MD5\\(a\\)' is not evaluated"),
        (
            "cast('2020-01-01 01:02:03 Europe/Berlin' AS TIMESTAMP)",
            UnsupportedError,
            "time zone of '2020-01-01 01:02:03 Eur",
        ),
        ("cast(a AS DECIMAL(50, 2))", UsageError, "'DECIMAL\\(50, 2\\)' is no type; a decimal has 1 to 38 digits"),
        ("cast(a AS DECIMAL(5, 7))", UsageError, "'DECIMAL\\(5, 7\\)' is no type"),
        ("cast(a AS DECIMAL(x, 2))", UsageError, "'DECIMAL\\(X, 2\\)' is no type"),
        ("cast(a AS DECIMAL(1, 2, 3))", UsageError, "'DECIMAL\\(1, 2, 3\\)' is no type"),
        ("INTERVAL 106751992 DAYS", UsageError, "'106751992' DAYS\" overflows INTERVAL DAY TO SECOND"),
        ("a IN (SELECT 1)", UnsupportedError, "IN over anything but a list"),
    ],
)
def test_message_says_what_was_wrong_in_one_line(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=rf"^[^\n]*{message}[^\n]*$"):
        value(text, a=A)


WORDS = st.text(st.sampled_from("aé😀\x00ß "), max_size=6)
PLACES = st.integers(-8, 8)


@given(st.lists(st.tuples(WORDS, PLACES, PLACES), min_size=1, max_size=8))
def test_substring_is_a_slice_of_characters(cases: list[tuple[str, int, int]]) -> None:
    words, starts, counts = (pa.array(list(side)) for side in zip(*cases, strict=True))
    assert listed("substring(s, i, n)", s=words, i=starts, n=counts) == [sliced(*case) for case in cases]


def sliced(word: str, start: int, count: int) -> str:
    first = start - 1 if start > 0 else len(word) + start if start < 0 else 0
    return word[max(first, 0) : max(first + max(count, 0), 0)]


MONEY = st.decimals(1 - 10**9, 10**9 - 1, places=3, allow_nan=False)
PRICE = pa.decimal128(12, 3)


@given(st.lists(st.tuples(MONEY, MONEY), min_size=1, max_size=8), st.sampled_from("+-*/%"))
def test_decimals_are_computed_exactly_and_rounded_once(cases: list[tuple[Decimal, Decimal]], sign: str) -> None:
    cases = [(one, other) for one, other in cases if other or sign not in "/%"]
    left, right = (pa.array([case[side] for case in cases], PRICE) for side in (0, 1))
    got = value(f"a {sign} b", a=left, b=right)
    assert got.to_pylist() == [computed(one, other, sign, got.type.scale) for one, other in cases]


def computed(one: Decimal, other: Decimal, sign: str, scale: int) -> Decimal:
    with localcontext(Context(prec=200, rounding=ROUND_HALF_UP)):
        results = {"+": one + other, "-": one - other, "*": one * other}
        exact = results[sign] if sign in results else (one / other if sign == "/" else one % other)
        return exact.quantize(Decimal(1).scaleb(-scale))


DAYS = st.dates(dt.date(1, 1, 1), dt.date(9000, 12, 31))


@given(st.lists(st.tuples(DAYS, st.integers(-11_000, 11_000)), min_size=1, max_size=8))
def test_months_are_added_by_the_calendar(cases: list[tuple[dt.date, int]]) -> None:
    cases = [(day, step) for day, step in cases if 1 <= (day.year * 12 + day.month - 1 + step) // 12 <= 9999]
    days, steps = pa.array([day for day, _ in cases], pa.date32()), pa.array([step for _, step in cases], pa.int32())
    assert listed("add_months(d, n)", d=days, n=steps) == [later(day, step) for day, step in cases]


def later(day: dt.date, step: int) -> dt.date:
    year, month = divmod(day.year * 12 + day.month - 1 + step, 12)
    return dt.date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))
