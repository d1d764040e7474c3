"""The column types that joins are tested on, and values of each: many ties, and the ends of the type."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pyarrow as pa


@dataclass(frozen=True)
class Domain:
    """A column type and the values to draw from: many ties, and the ends of the type.

    `tame` leaves out what overflows when it is moved by one of `steps`, the offsets of a band.
    """

    arrow: pa.DataType
    values: list[Any]
    tame: list[Any] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)


def _integers(bits: int, *more: int) -> list[int]:
    return [0, 1, 2, 3, -1, *more, -(1 << (bits - 1)), (1 << (bits - 1)) - 1]


def _decimals(*texts: str) -> list[Decimal]:
    return [Decimal(text) for text in texts]


def _days(*texts: str) -> list[dt.date]:
    return [dt.date.fromisoformat(text) for text in texts]


def _instants(zone: dt.tzinfo | None, *texts: str) -> list[dt.datetime]:
    return [dt.datetime.fromisoformat(text).replace(tzinfo=zone) for text in texts]


_SMALL = [0, 1, 2, 3, 5, -1, -2]
_WHOLE_STEPS = ["0", "1", "2", "3"]
_TIME_STEPS = ["INTERVAL 1 DAY", "INTERVAL '5' MINUTE", "INTERVAL 90 SECONDS", "INTERVAL 1 MICROSECOND"]
_FLOATS = [0.0, -0.0, 1.0, 1.5, 2.0, -1.0, 0.1, float("nan"), float("inf"), float("-inf")]
_DATES = _days(
    "1970-01-01", "1970-01-02", "1970-01-03", "1969-12-31", "2020-02-29", "1582-10-10", "0001-01-01", "9999-12-31"
)
_TIMES = [
    "1970-01-01T00:00",
    "1970-01-01T00:05",
    "1970-01-01T00:04:59.999999",
    "1970-01-02T00:00",
    "1969-12-31T23:59:59.999999",
    "2020-02-29T12:30",
    "0001-01-01T00:00",
    "9999-12-31T23:59:59.999999",
]

DOMAINS = {
    "int8": Domain(pa.int8(), _integers(8), _SMALL, _WHOLE_STEPS),
    "int16": Domain(pa.int16(), _integers(16), _SMALL, _WHOLE_STEPS),
    "int32": Domain(pa.int32(), _integers(32), _SMALL, _WHOLE_STEPS),
    "int64": Domain(pa.int64(), _integers(64, 2**53, 2**53 + 1), [*_SMALL, 2**53, 2**53 + 1], _WHOLE_STEPS),
    "float32": Domain(pa.float32(), [*_FLOATS, 3.4028234663852886e38], _FLOATS, ["1", "0.5", "1.5D"]),
    "float64": Domain(pa.float64(), [*_FLOATS, 2.0**53, 5e-324, 1.7976931348623157e308], _FLOATS, ["1", "0.5", "2D"]),
    "decimal(10,2)": Domain(
        pa.decimal128(10, 2),
        _decimals("0", "1", "1.5", "2", "0.01", "-1", "99999999.99", "-99999999.99"),
        _decimals("0", "1", "1.5", "2", "0.01", "-1", "99999999.99", "-99999999.99"),
        ["1", "0.5", "0.25", "0.001"],
    ),
    "decimal(12,4)": Domain(
        pa.decimal128(12, 4), _decimals("0", "1", "1.5", "1.0001", "0.01", "0.0099", "-1", "99999999.9999")
    ),
    "decimal(38,10)": Domain(
        pa.decimal128(38, 10),
        _decimals("0", "1", "1.5", "1.0000000001", "-1", f"{'9' * 28}.{'9' * 10}", f"-{'9' * 28}.{'9' * 10}"),
        _decimals("0", "1", "1.5", "1.0000000001", "-1", "2.9999999996"),
        ["1", "0.5", "0.0000000001"],
    ),
    "decimal(38,0)": Domain(pa.decimal128(38, 0), _decimals("0", "1", "2", "-1", "9" * 38, "-" + "9" * 38)),
    "string": Domain(pa.string(), ["", "a", "A", "ab", "b", "a ", "\0", "é", "e\u0301", "\uffff", "\U0001f600"]),
    "binary": Domain(pa.binary(), [b"", b"\0", b"\0\0", b"a", b"\x7f", b"\x80", b"\xff", b"\xff\0"]),
    "boolean": Domain(pa.bool_(), [False, True]),
    "date": Domain(pa.date32(), _DATES, _DATES, ["1", "INTERVAL 1 DAY", "INTERVAL 2 DAYS", "INTERVAL 12 HOURS"]),
    "timestamp": Domain(pa.timestamp("us", "UTC"), _instants(dt.UTC, *_TIMES), _instants(dt.UTC, *_TIMES), _TIME_STEPS),
    "timestamp_ntz": Domain(pa.timestamp("us"), _instants(None, *_TIMES), _instants(None, *_TIMES), _TIME_STEPS),
}

MIXED = [
    ("int8", "int64"),
    ("int16", "int32"),
    ("int32", "int64"),
    ("int32", "float64"),
    ("int64", "float64"),
    ("int64", "float32"),
    ("float32", "float64"),
    ("decimal(10,2)", "int32"),
    ("decimal(38,10)", "int64"),
    ("decimal(10,2)", "decimal(12,4)"),
    ("decimal(10,2)", "decimal(38,10)"),
    ("decimal(38,0)", "decimal(38,10)"),
    ("decimal(10,2)", "float64"),
    ("decimal(38,10)", "float32"),
    ("date", "timestamp"),
    ("date", "timestamp_ntz"),
    ("timestamp", "timestamp_ntz"),
]
SAME = [(name, name) for name in DOMAINS]
PAIRS = SAME + MIXED + [(b, a) for a, b in MIXED]
BAND_PAIRS = [(a, b) for a, b in PAIRS if DOMAINS[a].steps and DOMAINS[b].steps]
