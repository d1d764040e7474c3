"""The naive temporal join: every combination of rows is looked at, and every instant at which something changes."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import pairwise, product
from typing import TYPE_CHECKING, TypeAlias

from dovetail.testing._interpreter import parse, read_condition
from dovetail.testing._joins import plain_how
from dovetail.testing._kinds import BIGINT, DATE, DOUBLE, FRACTIONS, INTEGERS, common_kind, decimal_kind, is_decimal
from dovetail.testing._sides import side_of
from dovetail.testing._values import MICROS_PER_DAY, to_python, widen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dovetail.testing._kinds import Kind
    from dovetail.testing._sides import Rows, Side
    from dovetail.testing._values import Value

Window: TypeAlias = "tuple[str, float | Decimal | dt.timedelta | None]"
Ends: TypeAlias = "tuple[Value, Value]"


@dataclass(frozen=True, slots=True)
class _Valid:
    """An input and, for every row, its interval of validity; None where it has none."""

    side: Side
    ends: list[Ends | None]


def naive_temporal(
    inputs: Mapping[str, Rows],
    on: str,
    *,
    ts: str | None = None,
    window: Window | None = None,
    valid: tuple[str, str] | None = None,
    how: str = "inner",
) -> list[tuple[Value, ...]]:
    """Join rows while they are valid, by looking at every combination of them.

    The arguments are those of `temporal_join`, but a window is a pair such as `("sliding", 10)` or `("fixed",
    timedelta(seconds=5))` or `("unbounded", None)`, and one name serves all inputs.

    Returns
    -------
    list of tuples
        The values of all inputs, None where there is no partner, then the start and the end of the validity.

    Examples
    --------
    >>> one = [{"x": 42, "start": 10, "end": 15}]
    >>> other = [{"y": 42, "start": 4, "end": 12}]
    >>> naive_temporal({"a": one, "b": other}, "a.x = b.y", valid=("start", "end"), how="left")
    [(42, 10, 15, 42, 4, 12, 10, 12), (42, 10, 15, None, None, None, 12, 15)]
    """
    how = plain_how(how)
    sides = [side_of(name, rows) for name, rows in inputs.items()]
    columns = valid if valid is not None else (ts or "",)
    kind = _axis(sides, columns)
    found = [_Valid(side, _ends(side, columns, window, kind)) for side in sides]
    results = _combinations(found, on)
    rows = []
    if how not in ("semi", "anti"):
        rows += [(sum((o.side.rows[i] for o, i in zip(found, at, strict=True)), ()), ends) for at, ends in results]
    for number, keeps in enumerate((how in ("left", "full", "semi", "anti"), how in ("right", "full"))):
        if keeps:
            rows += _of_one_side(number, found, results, how)
    return [
        row + tuple(None if end is None else to_python(end, kind) for end in _told(ends, kind)) for row, ends in rows
    ]


def _axis(sides: Sequence[Side], columns: Sequence[str]) -> Kind:
    """Return the type in which all instants are told."""
    kinds = [side.kinds[_at(side, name)] for side in sides for name in columns]
    kind = reduce(lambda one, other: common_kind(one, other) or one, kinds)
    if kind in INTEGERS:
        return BIGINT
    return DOUBLE if kind in FRACTIONS else decimal_kind(18, kind.scale) if is_decimal(kind) else kind


def _at(side: Side, name: str) -> int:
    at = side.find(name)
    assert at is not None
    return at


def _ends(side: Side, columns: Sequence[str], window: Window | None, kind: Kind) -> list[Ends | None]:
    places = [_at(side, name) for name in columns]
    rows = [[_exact(widen(row[at], side.kinds[at], kind)) for at in places] for row in side.values]
    if window is None:
        return [_interval(start, end) for start, end in rows]
    return [None if start is None else _interval(start, _end(start, window, kind)) for (start,) in rows]


def _exact(value: Value) -> Value:
    """Return an instant as a number to compute with; NaN is none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return value if isinstance(value, float) else Fraction(value)


def _interval(start: Value, end: Value) -> Ends | None:
    return None if start is None or (end is not None and end <= start) else (start, end)


def _end(start: Value, window: Window, kind: Kind) -> Value:
    """Return the first instant of the axis at which a row is no longer valid; None if there is none."""
    name, length = window
    if length is None:
        return None
    size = _length(length, kind)
    if kind == DOUBLE:
        step = float(size)
        end = (
            start + step
            if name == "sliding"
            else (math.floor(start / step) + 1) * step
            if math.isfinite(start)
            else start
        )
        return None if math.isinf(end) else end
    tick = Fraction(1, 10**kind.scale) if is_decimal(kind) else Fraction(1)
    exact = start + size if name == "sliding" else (start // size + 1) * size
    end = math.ceil(exact / tick) * tick
    most = 10 ** (18 - kind.scale) - tick if is_decimal(kind) else 2**63 - 1
    return None if end > most or (end == most and kind == BIGINT) else end


def _length(length: float | Decimal | dt.timedelta, kind: Kind) -> Fraction:
    if isinstance(length, dt.timedelta):
        return Fraction(length // dt.timedelta(microseconds=1), MICROS_PER_DAY if kind == DATE else 1)
    return Fraction(length)


def _told(ends: Ends, kind: Kind) -> Ends:
    """Return the ends as values of the axis again."""
    start, end = (
        None
        if own is None
        else own
        if kind == DOUBLE
        else Decimal(own.numerator) / own.denominator
        if is_decimal(kind)
        else int(own)
        for own in ends
    )
    return start, end


def _combinations(found: Sequence[_Valid], on: str) -> list[tuple[tuple[int, ...], Ends]]:
    """Return the rows that match and are valid at one time, with the time that they share."""
    condition = read_condition(parse(on), tuple(own.side for own in found))  # type: ignore[arg-type]
    results = []
    for rows in product(*(range(len(own.ends)) for own in found)):
        ends = [own.ends[i] for own, i in zip(found, rows, strict=True)]
        if any(own is None for own in ends):
            continue
        shared = reduce(_shared, ends)
        values = tuple(own.side.values[i] for own, i in zip(found, rows, strict=True))
        if shared is not None and condition.value(values) is True:  # type: ignore[arg-type]
            results.append((rows, shared))
    return results


def _shared(one: Ends | None, other: Ends | None) -> Ends | None:
    if one is None or other is None:
        return None
    start, end = max(one[0], other[0]), _least(one[1], other[1])
    return None if end is not None and end <= start else (start, end)


def _least(one: Value, other: Value) -> Value:
    return other if one is None else one if other is None else min(one, other)


def _of_one_side(
    number: int, found: Sequence[_Valid], results: list[tuple[tuple[int, ...], Ends]], how: str
) -> list[tuple[tuple[Value, ...], Ends]]:
    """Return the stretches of one side's rows in which no partner is valid (semi: in which one is)."""
    rows = []
    for i, ends in enumerate(found[number].ends):
        if ends is None:
            continue
        own = found[number].side.rows[i]
        padding = (None,) * len(found[1 - number].side.columns)
        shown = own if how in ("semi", "anti") else own + padding if number == 0 else padding + own
        met = [shared for at, shared in results if at[number] == i]
        rows += [(shown, stretch) for stretch in _stretches(ends, met, covered=how == "semi")]
    return rows


def _stretches(ends: Ends, met: list[Ends], *, covered: bool) -> list[Ends]:
    """Cut an interval where something changes, keep the pieces that are (not) covered, put neighbours together."""
    changes = {ends, *met}
    points = sorted({own[0] for own in changes} | {own[1] for own in changes if own[1] is not None})
    pieces: list[Ends] = [*pairwise(points), *([(points[-1], None)] if ends[1] is None else [])]
    kept: list[Ends] = []
    for start, end in pieces:
        if any(_contains(own, start) for own in met) is not covered:
            continue
        if kept and kept[-1][1] == start:
            kept[-1] = (kept[-1][0], end)
        else:
            kept.append((start, end))
    return kept


def _contains(own: Ends, instant: Value) -> bool:
    return bool(own[0] <= instant and (own[1] is None or instant < own[1]))
