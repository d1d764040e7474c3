"""The aggregates of a call: which function over which expression of the other side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dovetail._core.condition.parse import expression, resolve, sides
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from dovetail._core.condition.dialect import AsWritten
    from dovetail._core.condition.inputs import Inputs, Names
    from dovetail._core.condition.values import Expression, Side

FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.First: "first",
    exp.Last: "last",
    exp.Stddev: "stddev",
    exp.StddevSamp: "stddev",
    exp.Variance: "variance",
}
DISTINCT = "count_distinct"
KNOWN = (*dict.fromkeys(FUNCTIONS.values()), DISTINCT)
_NAMED = {DISTINCT: DISTINCT, "mean": "avg", "std": "stddev"}
"""Functions that the parser has no node for; Spark has two names for some."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`function(argument) FILTER (WHERE where)` over a row's partners; no argument stands for `count(*)`."""

    name: str
    function: str
    argument: Expression | None
    where: Expression | None = None

    def __str__(self) -> str:
        only = "" if self.where is None else f" FILTER (WHERE {self.where})"
        return f"{self.function}({self.argument or '*'}){only} AS {self.name}"


def read_aggregates(agg: Mapping[str, str], per: Side, inputs: Inputs) -> tuple[Aggregate, ...]:
    """Parse the aggregates of a call; each argument may speak only of the side that is folded."""
    named = checked_names(agg)
    if not named:
        raise UsageError.agg_without_per(given="per")
    return tuple(_read(name, text, per, inputs) for name, text in named)


def checked_names(agg: Mapping[str, str]) -> list[tuple[str, str]]:
    """The aggregates of a call with their names, which are texts."""
    if not isinstance(agg, Mapping) or not all(isinstance(name, str) for name in agg):
        raise UsageError.no_aggregates(agg)
    return list(agg.items())


def _read(name: str, text: str, per: Side, inputs: Inputs) -> Aggregate:
    found = read_aggregate(name, text, inputs)
    for part in (found.argument, found.where):
        if part is not None and per in sides(part.node, inputs):
            other = inputs.right if per == "left" else inputs.left
            raise UsageError.aggregate_of_per(text, [other.name])
    return found


def read_aggregate(name: str, text: str, inputs: Names) -> Aggregate:
    """Parse one aggregate over any of the inputs."""
    call, where = _filtered(_parsed(text, inputs.dialect))
    function, argument = _called(call, text)
    condition = None if where is None else expression(resolve(where, inputs))
    if argument is None:
        return Aggregate(name, function, None, condition)
    value = resolve(argument, inputs)
    if function == "count" and isinstance(value, exp.Literal):
        return Aggregate(name, function, None, condition)
    return Aggregate(name, function, expression(value if condition is None else _where(value, condition)), condition)


def _where(value: exp.Expr, condition: Expression) -> exp.Expr:
    """An argument that is computed only where a FILTER holds: elsewhere it might fail."""
    if isinstance(value, exp.Column):
        return value
    return exp.Case(ifs=[exp.If(this=condition.node.copy(), true=value)])


def _parsed(text: str, dialect: type[AsWritten]) -> exp.Expr:
    try:
        return sqlglot.parse_one(text, read=dialect).unnest()
    except (AttributeError, SqlglotError, TypeError):
        raise UsageError.unknown_aggregate(text, KNOWN) from None
    except RecursionError:
        raise UsageError.too_deep("aggregate", text) from None


def _filtered(node: exp.Expr) -> tuple[exp.Expr, exp.Expr | None]:
    """The call, and the condition of its FILTER."""
    return (node.this, node.expression.this) if isinstance(node, exp.Filter) else (node, None)


def _called(node: exp.Expr, text: str) -> tuple[str, exp.Expr | None]:
    """The function and its one argument; None stands for `*`."""
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct):
        arguments, function = node.this.expressions, DISTINCT
    elif isinstance(node, exp.Anonymous):
        arguments, function = node.expressions, _NAMED.get(node.name.lower(), "")
    else:
        arguments, function = [node.this, *(node.args.get("expressions") or [])], FUNCTIONS.get(type(node), "")
    star = function == "count" and isinstance(arguments[0], exp.Star)
    if not function or len(arguments) != 1 or (isinstance(arguments[0], (exp.Distinct, exp.Star)) and not star):
        raise UsageError.unknown_aggregate(text, KNOWN)
    return function, None if star else arguments[0]
