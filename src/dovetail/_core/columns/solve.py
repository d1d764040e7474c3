"""Solve differences of both sides for one of them, so that a side can be sorted: `abs(l.a - r.a) <= 10` is a band.

Whole numbers, decimals and moments are solved exactly, and the difference itself need not be tested any more. What may
leave the range of whole numbers is kept in it: below the least there is none, so the least will do for a bound. Doubles
round: their bounds are widened by more than any rounding, and the difference is still tested pair by pair. That
is done only where infinity and NaN are out of the question: for `abs(...)`, and between two numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, reduce
from math import isfinite
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from dovetail._core.columns.decimals import decimal_of_integer, sum_type
from dovetail._core.columns.open_ends import bounded
from dovetail._core.columns.types import BIGINT, MAX_PRECISION, family, is_of_nanoseconds
from dovetail._core.condition.difference import differences
from dovetail._core.condition.parse import expression, parse, sides
from dovetail._core.condition.split import MOST_DRIVING
from dovetail._core.condition.values import Comparison, Equality, Op

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from dovetail._core.condition.difference import Difference
    from dovetail._core.condition.inputs import Inputs
    from dovetail._core.condition.values import Expression
    from dovetail._core.plan.query import Query

    Types = Mapping[str, pa.DataType | None]
    Kinds = Sequence[pa.DataType]
    Shift = Callable[[str, str, str, Op | None], tuple[str, Op | None]]

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_INT_BITS = 32
_INFINITY = "CAST('Infinity' AS DOUBLE)"
_ROUNDING = {False: "1e-15D", True: "1e-6D"}
"""More than all roundings of a bound, relative to its terms: of doubles, and of floats."""
_WIDE = "CAST({} AS DECIMAL(20,0))"
"""Whole numbers in a type that holds their sums."""
_NO_TIME, _TICK = "INTERVAL '0' SECOND", "INTERVAL '1' MICROSECOND"
_SHORTEST, _LONGEST = (
    f"INTERVAL '{end}' DAY TO SECOND" for end in ("-106751991 04:00:54.775808", "106751991 04:00:54.775807")
)
_ORIGINS = {
    "date": "(({}) - DATE'1970-01-01')",
    "zoned": "(({}) - TIMESTAMP_LTZ'1970-01-01 00:00:00Z')",
    "local": "(({}) - TIMESTAMP_NTZ'1970-01-01 00:00:00')",
}


@dataclass(frozen=True, slots=True)
class _Way:
    """How to solve for a side: how both terms and the bound are written, and how a term is shifted by the bound."""

    terms: tuple[str, str, str]
    shift: Shift
    exact: bool = True


def solved(query: Query, type_of: Callable[[list[Expression]], Types], *, wraps: bool = False) -> Query:
    """The same call, with differences solved and open ends bounded; `wraps`: too large whole numbers begin anew.

    An algorithm that was asked for and takes one inequality, or goes by keys, gets the condition as it is written.
    """
    if query.knobs.partitioned or query.knobs.outer:
        return query
    return bounded(_solved(query, type_of, wraps=wraps), type_of)


def _solved(query: Query, type_of: Callable[[list[Expression]], Types], *, wraps: bool) -> Query:
    condition, inputs = query.condition, query.inputs
    found = list(differences(condition, inputs))
    if not found:
        return query
    types, closed = type_of([term for own in found for term in own.terms]), _closed(found)
    keys, comparisons, done = list(condition.keys), list(condition.comparisons), set()
    for own in found:
        kinds = [types[term.sql] for term in own.terms]
        way = _way(own, kinds, closed=own in closed, wraps=wraps) if None not in kinds else None
        if way is None or len(comparisons) + 1 >= MOST_DRIVING:
            continue
        for part in _parts(own, way, inputs):
            if isinstance(part, Equality):
                keys.append(part)
            else:
                comparisons.append(part)
        if way.exact:
            done.add(own.written)
    residuals = tuple(own for own in condition.residuals if own not in done)
    solution = replace(condition, keys=tuple(keys), comparisons=tuple(comparisons), residuals=residuals)
    return replace(query, condition=solution)


def _closed(found: list[Difference]) -> list[Difference]:
    """Those that leave no way to infinity: `abs(...)`, and what lies between two numbers."""
    numbered = [own for own in found if own.op is not None and _is_number(own.bound.node)]
    below, above = ({own.of for own in numbered if own.op in ops} for ops in ((Op.LT, Op.LE), (Op.GT, Op.GE)))
    return [own for own in found if own.absolute or (own in numbered and own.of in below & above)]


def _way(own: Difference, kinds: Kinds, *, closed: bool, wraps: bool) -> _Way | None:
    """How to solve a difference of these types; None if it cannot be."""
    families = [family(kind) for kind in kinds]
    if wraps and set(families[:2]) == {"integer"}:
        return None
    if set(families) <= {"integer"}:
        return _whole(own, kinds)
    if set(families) <= {"integer", "decimal"}:
        return _Way(_exact(families), _plain) if _fit(kinds) else None
    if set(families) <= {"integer", "decimal", "float"} and closed and not own.added:
        return _doubles(kinds)
    if families[2] == "day_time" and not own.added:
        calendars = {_calendar(kind) for kind in kinds[:2]}
        origin = _ORIGINS.get(calendars.pop()) if len(calendars) == 1 else None
        return None if origin is None else _Way((origin, origin, "({})"), _within_time)
    return None


def _whole(own: Difference, kinds: Kinds) -> _Way:
    if all(kind.bit_width <= _INT_BITS for kind in kinds):
        return _Way(("CAST({} AS BIGINT)",) * 3, _plain)
    if _is_figures(own.bound.node) and not own.added:
        term = "({})" if kinds[0] == kinds[1] == BIGINT else "CAST({} AS BIGINT)"
        return _Way((term, term, "{}"), _within)
    return _Way((_WIDE,) * 3, _plain)


def _doubles(kinds: Kinds) -> _Way | None:
    """Bounds in doubles; None for decimals whose difference is rounded by more than a double is."""
    if "float" not in map(family, kinds[:2]) and not _fit(kinds[:2]):
        return None
    rounding = _ROUNDING[pa.float32() in kinds]
    return _Way(("CAST({} AS DOUBLE)",) * 3, partial(_loose, rounding), exact=False)


def _exact(families: list[str]) -> tuple[str, str, str]:
    first, second, bound = (_WIDE if own == "integer" else "({})" for own in families)
    return first, second, bound


def _fit(kinds: Kinds) -> bool:
    """Whether such numbers can be added and compared without losing a digit."""
    wide = (kind if family(kind) == "decimal" else decimal_of_integer(BIGINT) for kind in kinds)
    return bool(reduce(sum_type, wide).precision < MAX_PRECISION)


def _calendar(kind: pa.DataType) -> str:
    if family(kind) != "stamp" or is_of_nanoseconds(kind):
        return family(kind)
    return "zoned" if kind.tz else "local"


def _parts(own: Difference, way: _Way, inputs: Inputs) -> Iterator[Comparison | Equality]:
    """What the difference says of one side alone."""
    first, second, bound = (form.format(term.sql) for form, term in zip(way.terms, own.terms, strict=True))
    moved, alone, op = (first, second, own.op and own.op.flip()) if own.bound_first else (second, first, own.op)
    for sign, asked in _signs(own, op):
        text, meant = (f"{bound} - {moved}", asked) if own.added else way.shift(moved, sign, bound, asked)
        yield _part(own, parse(alone, inputs).unnest(), meant, parse(text, inputs).unnest(), inputs)


def _signs(own: Difference, op: Op | None) -> Iterator[tuple[str, Op | None]]:
    """Whether the bound is added or taken away, and how what stands alone compares."""
    if own.added:
        yield "", own.op
        return
    sign = "-" if own.bound_first else "+"
    yield sign, op
    if own.absolute and op is not None:
        yield "+-"[sign == "+"], op.flip()


def _part(own: Difference, alone: exp.Expr, op: Op | None, moved: exp.Expr, inputs: Inputs) -> Comparison | Equality:
    one, other = expression(alone), expression(moved)
    alone_left = ("left" in sides(own.first.node, inputs)) != own.bound_first
    written = own.written.sql
    part = Comparison(one, op, other, written) if op is not None else Equality(one, other, written=written)
    return part if alone_left else part.flip()


def _plain(term: str, sign: str, bound: str, op: Op | None) -> tuple[str, Op | None]:
    return f"{term} {sign} {bound}", op


def _within(term: str, sign: str, bound: str, op: Op | None) -> tuple[str, Op | None]:
    """Whole numbers of 64 bits and one that is known: what leaves their range is less than all, or more than all."""
    step = int(f"{sign}1") * int(bound.replace(" ", "")) - (op is Op.LT) + (op is Op.GT)
    meant = {Op.LT: Op.LE, Op.GT: Op.GE}.get(op, op) if op else None
    if step == 0:
        return term, meant
    inside = f"{term} <= {_MOST - step}" if step > 0 else f"{term} >= {_LEAST - step}"
    shifted = f"{term} {'+' if step > 0 else '-'} {abs(step)}"
    if (meant is Op.LE and step > 0) or (meant is Op.GE and step < 0):
        return f"CASE WHEN NOT {inside} THEN {_MOST if step > 0 else _LEAST} ELSE {shifted} END", meant
    return f"CASE WHEN {inside} THEN {shifted} END", meant


def _within_time(term: str, sign: str, bound: str, op: Op | None) -> tuple[str, Op | None]:
    """Likewise of moments, told by how long after the first of 1970 they are, and of a bound that each row may have."""
    meant = {Op.LT: Op.LE, Op.GT: Op.GE}.get(op, op) if op else None
    if meant is not op:
        bound = f"({bound} {'-' if (op is Op.LT) == (sign == '+') else '+'} {_TICK})"
    back, shifted = "+-"[sign == "+"], f"{term} {sign} {bound}"
    most, least = (_LONGEST if meant is Op.LE else "NULL"), (_SHORTEST if meant is Op.GE else "NULL")
    later = f"CASE WHEN {term} > {_LONGEST} {back} {bound} THEN {most} ELSE {shifted} END"
    sooner = f"CASE WHEN {term} < {_SHORTEST} {back} {bound} THEN {least} ELSE {shifted} END"
    return f"CASE WHEN {bound} {'>' if sign == '+' else '<'} {_NO_TIME} THEN {later} ELSE {sooner} END", meant


def _loose(rounding: str, term: str, sign: str, bound: str, op: Op | None) -> tuple[str, Op | None]:
    """A bound that no rounding can pass; an infinite or unknown distance reaches everything."""
    rises = op in (Op.LT, Op.LE)
    slack = f"(abs({term}) + abs({bound})) * {rounding}"
    shifted = f"{term} {sign} {bound} {'+' if rises else '-'} {slack}"
    everything = "CAST('NaN' AS DOUBLE)" if rises else f"-{_INFINITY}"
    far = f"abs({bound}) >= {_INFINITY}"
    return (
        f"CASE WHEN {far} THEN {everything} WHEN abs({term}) < {_INFINITY} THEN {shifted} END",
        Op.LE if rises else Op.GE,
    )


def _is_figures(node: exp.Expr) -> bool:
    """Whether a node is a number in figures, and no infinite one."""
    inner = node.this if isinstance(node, exp.Neg) else node
    return isinstance(inner, exp.Literal) and not inner.is_string and isfinite(float(inner.name))


def _is_number(node: exp.Expr) -> bool:
    """Whether a node is that, or a cast of it, as `1.5D` is."""
    inner = node.this if isinstance(node, exp.Neg) else node
    return _is_figures(inner.this if isinstance(inner, exp.Cast) else inner)
