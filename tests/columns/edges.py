"""The rows on which every expression is evaluated, by Spark and by us.

Edge values stand in `i8` to `i64`, `f32`, `f64`, `d` (DECIMAL(10,2)), `dw` (38,18), `dn` (38,0), `s`, `bo`, `da`, `ts`,
`nz` (without zone), `bi` and the struct `st`. Tame are `x`, `y` (INT), `m` (BIGINT), `u`, `v` (DOUBLE), `p`
(DECIMAL(6,3)), `q` (DECIMAL(12,1)); `y`, `v`, `q` are never zero, so that arithmetic does not overflow, divide by zero.
Strings that hold integers, doubles, dates and booleans: `sn`, `sv`, `sd`, `sb`. A pattern: `w`. A small position: `k`.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa

ZONED = pa.timestamp("us", "UTC")
NAN, INF = float("nan"), float("inf")
DAYS = [
    dt.date(2020, 1, 31),
    dt.date(2020, 2, 29),
    None,
    dt.date(1969, 12, 31),
    dt.date(1970, 1, 1),
    dt.date(1, 1, 1),
    dt.date(9999, 12, 31),
    dt.date(2021, 3, 1),
    dt.date(2020, 12, 31),
    dt.date(2024, 12, 30),
]


def at(day: str, time: str = "00:00:00") -> dt.datetime:
    return dt.datetime.fromisoformat(f"{day} {time}+00:00")


STAMPS = [
    at("2020-01-31", "01:02:03.456789"),
    at("2020-02-29", "23:59:59.999999"),
    None,
    at("1969-12-31", "23:59:59.500000"),
    at("1970-01-01"),
    at("0001-01-01"),
    at("9999-12-31", "23:59:59.999999"),
    at("2021-03-01", "12:00:00"),
    at("1968-02-29", "00:00:00.000001"),
    at("2020-01-31", "01:02:03.456789"),
]
TEXTS = ["", "abc", None, "  Straße ", "😀é\nx", "ABC", "a%b_c\\d", "ΑΣ ﬁ", "abcabc", "z"]

TABLE = pa.table(
    {
        "i8": pa.array([-128, 127, None, 0, 1, -1, 5, 3, 2, 7], pa.int8()),
        "i16": pa.array([-32768, 32767, None, 0, 1, -1, 5, 3, 2, 7], pa.int16()),
        "i32": pa.array([-(2**31), 2**31 - 1, None, 0, 1, -1, 16777217, 3, 2, 7], pa.int32()),
        "i64": pa.array([-(2**63), 2**63 - 1, None, 0, 1, -1, 9007199254740993, 3, 2, 7], pa.int64()),
        "f32": pa.array([-INF, INF, None, NAN, -0.0, 0.0, 1.5, 16777216.0, 0.1, 3.4e38], pa.float32()),
        "f64": pa.array([-INF, INF, None, NAN, -0.0, 0.0, 1.5, 9007199254740992.0, 0.1, 1e300], pa.float64()),
        "d": pa.array(
            [
                Decimal("-99999999.99"),
                Decimal("99999999.99"),
                None,
                Decimal(0),
                Decimal("0.01"),
                Decimal("1.50"),
                Decimal(7),
                Decimal("-0.5"),
                Decimal(3),
                Decimal(2),
            ],
            pa.decimal128(10, 2),
        ),
        "dw": pa.array(
            [
                Decimal("1.4"),
                Decimal("0.6"),
                None,
                Decimal(0),
                Decimal("-0.5"),
                Decimal("1.500000000000000001"),
                Decimal(7),
                Decimal("-1.5"),
                Decimal(3),
                Decimal(2),
            ],
            pa.decimal128(38, 18),
        ),
        "dn": pa.array(
            [
                Decimal(1),
                Decimal(10**37),
                None,
                Decimal(0),
                Decimal(-1),
                Decimal(2),
                Decimal(7),
                Decimal(-2),
                Decimal(3),
                Decimal(9),
            ],
            pa.decimal128(38, 0),
        ),
        "s": pa.array(TEXTS),
        "bo": pa.array([True, False, None, True, False, None, True, True, False, False]),
        "da": pa.array(DAYS, pa.date32()),
        "ts": pa.array(STAMPS, ZONED),
        "nz": pa.array(STAMPS, ZONED).view(pa.timestamp("us")),
        "bi": pa.array([b"", b"\xff\x00", None, b"abc", b"a", b"abc", b"\x00", b"b", b"ab", b"z"]),
        "st": pa.array(
            [{"a": 1, "B": "x"}, {"a": None, "B": "y"}, None, {"a": 1, "B": None}, {"a": 2, "B": "x"}] * 2,
            pa.struct([("a", pa.int32()), ("B", pa.string())]),
        ),
        "x": pa.array([1, -7, None, 0, 5, 100, -3, 8, 2, 7], pa.int32()),
        "y": pa.array([2, 3, 4, None, -1, 7, -2, 8, 5, 7], pa.int32()),
        "m": pa.array([10, -3, None, 0, 15, -25, 1000, 8, 65, 1], pa.int64()),
        "u": pa.array([1.5, -2.5, None, 0.0, 2.675, 1.005, 1e7, 0.1, -0.4, 123456.789]),
        "v": pa.array([2.0, 0.3, 4.0, None, -1.5, NAN, 1e-3, 3.0, INF, 7.0]),
        "p": pa.array(
            [
                Decimal("1.255"),
                Decimal("-1.5"),
                None,
                Decimal(0),
                Decimal("999.999"),
                Decimal("0.001"),
                Decimal(5),
                Decimal("-2.675"),
                Decimal("7.5"),
                Decimal(3),
            ],
            pa.decimal128(6, 3),
        ),
        "q": pa.array(
            [
                Decimal("2.5"),
                Decimal("-0.3"),
                Decimal(4),
                None,
                Decimal("12345678901.1"),
                Decimal(7),
                Decimal("-7.5"),
                Decimal(1),
                Decimal("0.1"),
                Decimal(3),
            ],
            pa.decimal128(12, 1),
        ),
        "d2": pa.array([*DAYS[1:], DAYS[0]], pa.date32()),
        "t2": pa.array([*STAMPS[1:], STAMPS[0]], ZONED),
        "sn": pa.array(["1", " -7 ", None, "0", "+5", "9223372036854775807", "-3", "8", "2", "0007"]),
        "sv": pa.array(["1.5", "NaN", None, "-Infinity", "1e3", ".5", "5.", " 8 ", "2d", "0.1"]),
        "sd": pa.array(
            [
                "2020-01-31",
                "2020-2-29",
                None,
                " 1969-12-31 ",
                "1970",
                "0001-01-01",
                "9999-12-31T05",
                "2021-03",
                "2020-12-31 x",
                "2024-12-30",
            ]
        ),
        "sb": pa.array(["true", " F ", None, "Yes", "n", "0", "1", "T", "no", "y"]),
        "w": pa.array(["%", "a_c", None, "%ß%", "😀__x", "abc", "a\\%b\\_c\\\\d", "", "%c%c", "z%"]),
        "k": pa.array([1, 2, 3, -2, 2, 0, -5, 10, None, 1], pa.int32()),
    }
)
