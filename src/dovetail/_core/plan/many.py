"""A join of three and more inputs, as the caller asked for it: checked once and frozen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from dovetail._core.condition.dialect import AsWritten
from dovetail._core.condition.inputs import ManyInputs
from dovetail._core.condition.normalise import conjuncts
from dovetail._core.condition.parse import column_expression, owners
from dovetail._core.condition.split import parse_boolean
from dovetail._core.plan.aggregates import checked_names, read_aggregate
from dovetail._core.plan.graph import refuse_disconnected, refuse_impossible
from dovetail._core.plan.knobs import read_knobs, read_order
from dovetail._core.plan.query import WINDOW, every_column, read_how, read_per, refuse_twice, selected
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dovetail._core.condition.inputs import Input
    from dovetail._core.plan.aggregates import Aggregate
    from dovetail._core.plan.knobs import Knobs, Order
    from dovetail._core.plan.query import OutputColumn


@dataclass(frozen=True, slots=True)
class Conjunct:
    """A part of the condition that must hold, and the inputs that it speaks of."""

    node: exp.Expr
    owners: frozenset[str]


@dataclass(frozen=True, slots=True)
class ManyQuery:
    """An inner join of three and more inputs; `per` names the one that gets a row each, if the call aggregates."""

    inputs: tuple[Input, ...]
    sql: str
    conjuncts: tuple[Conjunct, ...]
    output: tuple[OutputColumn, ...]
    aggregates: tuple[Aggregate, ...]
    per: str | None
    knobs: Knobs
    order: Order

    @property
    def names(self) -> list[str]:
        """The inputs' names in the order of the call."""
        return [own.name for own in self.inputs]

    def named(self, name: str) -> Input:
        """The input of that name."""
        return next(own for own in self.inputs if own.name == name)


def read_many(
    inputs: Sequence[Input],
    kinds: Mapping[tuple[str, str], str],
    *,
    on: str,
    how: str = "inner",
    select: str | None = None,
    agg: Mapping[str, str] | None = None,
    per: str | None = None,
    **choices: Any,
) -> ManyQuery:
    """Check a call and freeze it; `kinds` are the types of the inputs' columns."""
    names = ManyInputs(tuple(inputs))
    if read_how(how) != "inner":
        raise UsageError.how_of_many(how)
    order = read_order(choices.pop("order", None))
    chosen = read_knobs(choices.pop("algorithm", "auto"), **choices)
    node = parse_boolean(on, names)
    parts = tuple(Conjunct(part, owners(part)) for part in conjuncts(node))
    refuse_disconnected([own.name for own in inputs], [part.owners for part in parts])
    refuse_impossible([part.node for part in parts], kinds)
    kept = _per(per, agg, names)
    aggregates = tuple(read_aggregate(name, text, names) for name, text in checked_names(agg or {}))
    shown = tuple(own for own in inputs if kept is None or own.name == kept)
    output = selected(select, names, shown) if select is not None else every_column(shown, aggregates)
    refuse_twice([column.name for column in output] + [aggregate.name for aggregate in aggregates], inputs[0])
    if chosen.window is not None:
        inputs, parts = _within_windows(inputs, parts)
        chosen = replace(chosen, window=None)
    sql = node.sql(dialect=AsWritten)
    return ManyQuery(tuple(inputs), sql, parts, output, aggregates, kept, chosen, order)


def _per(per: str | None, agg: Mapping[str, str] | None, names: ManyInputs) -> str | None:
    if (per is None) != (not agg):
        raise UsageError.agg_without_per(given="per" if per is not None else "agg")
    if per is None:
        return None
    return read_per(per, names).name


def _within_windows(
    inputs: Sequence[Input], parts: tuple[Conjunct, ...]
) -> tuple[tuple[Input, ...], tuple[Conjunct, ...]]:
    """The same condition between rows of equally numbered windows, whose numbers the host adds to every input."""
    first, *others = [own.name for own in inputs]
    same = [
        exp.EQ(this=column_expression(first, WINDOW).node, expression=column_expression(other, WINDOW).node)
        for other in others
    ]
    windowed = tuple(replace(own, columns=(*own.columns, WINDOW)) for own in inputs)
    return windowed, (*parts, *(Conjunct(node, owners(node)) for node in same))
