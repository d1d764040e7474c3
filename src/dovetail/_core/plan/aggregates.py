"""The aggregates of a call: which function over which expression of the other side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dovetail._core.condition.parse import expression, owners, resolve, sides
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

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
}


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`function(argument)` over a row's partners; no argument stands for `count(*)`."""

    name: str
    function: str
    argument: Expression | None

    def __str__(self) -> str:
        return f"{self.function}({self.argument or '*'}) AS {self.name}"


def read_aggregates(agg: Mapping[str, str], per: Side, inputs: Inputs) -> tuple[Aggregate, ...]:
    """Parse the aggregates of a call; each argument may speak only of the side that is folded."""
    if not agg:
        raise UsageError.agg_without_per(given="per")
    return tuple(_read(name, text, per, inputs) for name, text in agg.items())


def _read(name: str, text: str, per: Side, inputs: Inputs) -> Aggregate:
    found = read_aggregate(name, text, inputs)
    if found.argument is not None and per in sides(found.argument.node, inputs):
        other = inputs.right if per == "left" else inputs.left
        raise UsageError.aggregate_of_per(text, other.name)
    return found


def read_aggregate(name: str, text: str, inputs: Names) -> Aggregate:
    """Parse one aggregate over any of the inputs."""
    try:
        node = sqlglot.parse_one(text, read="spark").unnest()
    except SqlglotError:
        raise UsageError.unknown_aggregate(text, FUNCTIONS.values()) from None
    function = FUNCTIONS.get(type(node))
    if function is None or _has_more_than_one_argument(node):
        raise UsageError.unknown_aggregate(text, FUNCTIONS.values())
    if isinstance(node.this, exp.Star):
        if function != "count":
            raise UsageError.unknown_aggregate(text, FUNCTIONS.values())
        return Aggregate(name, function, None)
    argument = resolve(node.this, inputs)
    if not owners(argument) and function == "count" and isinstance(argument, exp.Literal):
        return Aggregate(name, function, None)
    return Aggregate(name, function, expression(argument))


def _has_more_than_one_argument(node: exp.Expr) -> bool:
    return isinstance(node.this, exp.Distinct) or bool(node.args.get("expressions"))
