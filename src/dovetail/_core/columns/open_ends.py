"""Bound comparisons that one side can waive: `l.at < r.end OR r.end IS NULL`, as the last row of a history has no end.

Where the waiver holds, the value becomes the greatest of its type, or the least, so that a side can be sorted by it.
What the caller wrote is still tested, on the pairs that this leaves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from dovetail._core.columns.coerce import comparison_type
from dovetail._core.columns.types import family, is_of_nanoseconds, sql_name
from dovetail._core.condition.parse import expression, parse, sides
from dovetail._core.condition.residual import OPS
from dovetail._core.condition.split import MOST_DRIVING
from dovetail._core.condition.values import Comparison

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pyarrow as pa

    from dovetail._core.condition.inputs import Inputs
    from dovetail._core.condition.values import Condition, Equality, Expression, Op, Side
    from dovetail._core.plan.query import Query

    Types = Mapping[str, pa.DataType | None]

_LONGEST = "INTERVAL '{}106751991 04:00:54.77580{}' DAY TO SECOND"


@dataclass(frozen=True, slots=True)
class OpenEnd:
    """A comparison OR some waivers, each of one side: where one is true, the comparison need not hold."""

    written: Expression
    comparison: Comparison
    waivers: Mapping[Side, tuple[Expression, ...]]

    @property
    def terms(self) -> tuple[Expression, Expression]:
        """All whose types matter."""
        return self.comparison.left, self.comparison.right


def open_ends(condition: Condition, inputs: Inputs) -> Iterator[OpenEnd]:
    """The residuals that are such comparisons."""
    for residual in condition.residuals:
        found = _open_end(residual, inputs) if isinstance(residual.node, exp.Or) else None
        if found is not None:
            yield found


def _open_end(residual: Expression, inputs: Inputs) -> OpenEnd | None:
    waivers: dict[Side, tuple[Expression, ...]] = {"left": (), "right": ()}
    comparisons = []
    for part in (own.unnest() for own in residual.node.flatten()):
        spoken_of = sides(part, inputs)
        if len(spoken_of) == 1:
            (side,) = spoken_of
            waivers[side] += (expression(part),)
        else:
            comparisons.append(_comparison(part, inputs))
    only = comparisons[0] if len(comparisons) == 1 else None
    return None if only is None else OpenEnd(residual, only, waivers)


def _comparison(node: exp.Expr, inputs: Inputs) -> Comparison | None:
    """A comparison of the left side with the right one; None if a node is something else."""
    op = OPS.get(type(node))
    if op is None:
        return None
    first, second = node.this.unnest(), node.expression.unnest()
    found = Comparison(expression(first), op, expression(second))
    spoken_of = [*sides(first, inputs), *sides(second, inputs)]
    if spoken_of == ["left", "right"]:
        return found
    return found.flip() if spoken_of == ["right", "left"] else None


def bounded(query: Query, type_of: Callable[[list[Expression]], Types]) -> Query:
    """The same call, with a comparison beside each such residual that every pair satisfies which it lets pass."""
    condition = query.condition
    found = list(open_ends(condition, query.inputs))[: MOST_DRIVING - len(condition.comparisons)]
    types = type_of([term for own in found for term in own.terms]) if found else {}
    bounds = [_bound(own, types, condition, query.inputs) for own in found]
    comparisons = (*condition.comparisons, *(own for own in bounds if own is not None))
    return replace(query, condition=replace(condition, comparisons=comparisons)) if any(bounds) else query


def _bound(own: OpenEnd, types: Types, condition: Condition, inputs: Inputs) -> Comparison | None:
    left, right = (types[term.sql] for term in own.terms)
    kind = None if left is None or right is None else comparison_type(left, right)
    ends = None if kind is None else _ends(kind)
    if ends is None:
        return None
    op = own.comparison.op
    least, most = ends if op.rises else ends[::-1]
    return Comparison(
        _reaching(own, "left", least, condition, inputs),
        _closed(op),
        _reaching(own, "right", most, condition, inputs),
        f"({own.written.sql})",
    )


def _closed(op: Op) -> Op:
    """The comparison that equal values pass, too: the end of a type is no value beyond all others."""
    return next(own for own in OPS.values() if own.rises is op.rises and not own.strict)


def _reaching(own: OpenEnd, side: Side, end: str, condition: Condition, inputs: Inputs) -> Expression:
    """A side's value; `end` where it waives the comparison, or has none and the other side may waive it."""
    term: Expression = getattr(own.comparison, side)
    text = term.sql
    if own.waivers["right" if side == "left" else "left"] and term not in _needed(condition):
        text = f"coalesce({text}, {end})"
    if own.waivers[side]:
        text = f"CASE WHEN {' OR '.join(f'({waiver})' for waiver in own.waivers[side])} THEN {end} ELSE {text} END"
    return expression(parse(text, inputs).unnest())


def _needed(condition: Condition) -> set[Expression]:
    """What no pair matches without: a row in which one of these is NULL has no partner."""
    keys = [key for key in condition.keys if not key.null_safe]
    parts: list[Equality | Comparison] = [*keys, *condition.comparisons]
    return {term for part in parts for term in (part.left, part.right)}


def _ends(kind: pa.DataType) -> tuple[str, str] | None:
    """The least and the greatest value of a type, in Spark SQL; None for types that have none."""
    name = family(kind)
    if name == "integer":
        return _cast(-(1 << (kind.bit_width - 1)), kind), _cast((1 << (kind.bit_width - 1)) - 1, kind)
    if name == "float":
        return _cast("'-Infinity'", kind), _cast("'NaN'", kind)
    if name == "decimal":
        digits = "9" * (kind.precision - kind.scale) or "0"
        most = f"{digits}.{'9' * kind.scale}" if kind.scale else digits
        return _cast(f"-{most}", kind), _cast(most, kind)
    if name == "date":
        return f"date_from_unix_date({-(1 << 31)})", f"date_from_unix_date({(1 << 31) - 1})"
    if name == "stamp" and not is_of_nanoseconds(kind):
        return _moment("-", 8, kind), _moment("", 7, kind)
    return None


def _cast(value: object, kind: pa.DataType) -> str:
    return f"CAST({value} AS {sql_name(kind)})"


def _moment(sign: str, digit: int, kind: pa.DataType) -> str:
    """The first or the last microsecond of 64 bits."""
    if kind.tz:
        return f"timestamp_micros({sign}922337203685477580{digit})"
    return f"TIMESTAMP_NTZ'1970-01-01 00:00:00' + {_LONGEST.format(sign, digit)}"
