"""The same rows, in whatever order: whether two answers are, and where they are not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dovetail.testing._values import Value

SHOWN = 8
WIDTH = 116


def assert_same_rows(got: Any, want: Any, *, tolerance: float = 0.0) -> None:
    """Raise an AssertionError that fits one screen unless both hold the same rows equally often.

    The order of rows does not count, nor do column names. NaN equals itself, -0.0 equals 0.0, and numbers are equal
    by value; true is no number. None equals only None.

    Parameters
    ----------
    got, want
        An Arrow table, a Spark DataFrame, anything that speaks Arrow (Polars, DuckDB, pandas), or a list of tuples or
        of dicts.
    tolerance
        How far apart, relative to the larger, two floats may be: sums of doubles depend on their order.

    Examples
    --------
    >>> assert_same_rows([(1, float("nan")), (2, -0.0)], [(2, 0.0), (1, float("nan"))])
    >>> assert_same_rows([(1, "a"), (1, "a")], [(1, "a"), (2, None)])
    Traceback (most recent call last):
        ...
    AssertionError: rows differ: got 2, want 2; 1 missing, 1 extra
      missing 1x (2, None)
      extra   1x (1, 'a')
    """
    got_rows, want_rows = _rows_of(got), _rows_of(want)
    have, need = Counter(map(_key, got_rows)), Counter(map(_key, want_rows))
    missing, extra = need - have, have - need
    if tolerance:
        missing, extra = _without_near(missing, extra, tolerance)
    if missing or extra:
        raise AssertionError(_difference(missing, extra, len(got_rows), len(want_rows)))


def _rows_of(frame: Any) -> list[tuple[Value, ...]]:
    if hasattr(frame, "toArrow"):
        frame = frame.toArrow()
    if hasattr(frame, "__arrow_c_stream__"):
        table = pa.table(frame)
        columns = [column.to_pylist() for column in table.columns]
        return list(zip(*columns, strict=True)) if columns else [()] * len(table)
    return [_row_of(row) for row in frame]


def _row_of(row: Mapping[str, Value] | Iterable[Value]) -> tuple[Value, ...]:
    return tuple(row.values()) if isinstance(row, Mapping) else tuple(row)


@dataclass(frozen=True, slots=True, repr=False)
class _Truth:
    """A boolean that equals no number."""

    value: bool

    def __repr__(self) -> str:
        return repr(self.value)


class _NaN:
    """The one NaN, equal to itself."""

    def __repr__(self) -> str:
        return "nan"


_NAN = _NaN()


def _key(row: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return a row that is equal to another exactly where Spark would call them the same."""
    return tuple(map(_plain, row))


def _plain(value: Value) -> Value:
    if isinstance(value, bool):
        return _Truth(value)
    if isinstance(value, float) and math.isnan(value):
        return _NAN
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    return tuple(map(_plain, value)) if isinstance(value, list) else value


def _without_near(missing: Counter[Any], extra: Counter[Any], tolerance: float) -> tuple[Counter[Any], Counter[Any]]:
    """Strike out rows that differ only by so much in their floats."""
    spare = list(extra.elements())
    left_over = []
    for row in missing.elements():
        near = next((other for other in spare if _near(row, other, tolerance)), None)
        if near is None:
            left_over.append(row)
        else:
            spare.remove(near)
    return Counter(left_over), Counter(spare)


def _near(row: tuple[Value, ...], other: tuple[Value, ...], tolerance: float) -> bool:
    return len(row) == len(other) and all(_near_values(a, b, tolerance) for a, b in zip(row, other, strict=True))


def _near_values(one: Value, other: Value, tolerance: float) -> bool:
    if isinstance(one, float) and isinstance(other, (float, int, Decimal)):
        return math.isclose(one, other, rel_tol=tolerance)
    return bool(one == other)


def _difference(missing: Counter[Any], extra: Counter[Any], got: int, want: int) -> str:
    head = f"rows differ: got {got}, want {want}; {missing.total()} missing, {extra.total()} extra"
    return "\n".join([head, *_listed("missing", missing), *_listed("extra", extra)])


def _listed(title: str, rows: Counter[Any]) -> list[str]:
    """Return a line per distinct row, the first few of them, each cut to the screen."""
    lines = [f"  {title:7} {count}x {row!r}" for row, count in list(rows.items())[:SHOWN]]
    if len(rows) > SHOWN:
        lines.append(f"  {title:7} and {len(rows) - SHOWN} other rows")
    return [line if len(line) <= WIDTH else line[: WIDTH - 3] + "..." for line in lines]
