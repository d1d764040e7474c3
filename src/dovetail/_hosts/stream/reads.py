"""What tasks evaluate of a call: settings of the session must not change what it means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from dovetail._core.condition.inputs import Inputs
from dovetail._core.condition.parse import column_expression
from dovetail._core.plan.query import Query, read_query
from dovetail._core.plan.timed import AsOf, WindowJoin
from dovetail._core.plan.validity import END, START

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dovetail._core.condition.values import Comparison, Condition, Equality, Expression
    from dovetail._core.plan.validity import Temporal

    Pair = tuple[Expression, Expression]

_HIDDEN = {START, END}


@dataclass(frozen=True)
class Reads:
    """Expressions that are computed, and pairs of the left and the right input that are compared."""

    parts: tuple[Expression, ...]
    pairs: tuple[Pair, ...]


def reads_of(asked: Query | AsOf | WindowJoin | Temporal) -> Reads:
    """What tasks evaluate of a call; of columns that are shown as they are, nothing."""
    if isinstance(asked, Query):
        return _of_query(asked)
    if isinstance(asked, (AsOf, WindowJoin)):
        return _of_query(asked.query)
    found = _of_condition(read_query(Inputs(*asked.hidden_inputs), on=asked.overlapping).condition)
    return Reads(found.parts, (*found.pairs, *_validity(asked)))


def _of_query(query: Query) -> Reads:
    found = _of_condition(query.condition)
    made = [own.shows for own in query.output if own.plain is None]
    made += [part for own in query.aggregates for part in (own.argument, own.where) if part is not None]
    return Reads((*found.parts, *made), found.pairs)


def _of_condition(condition: Condition) -> Reads:
    compared: list[Equality | Comparison] = [*condition.keys, *condition.comparisons]
    return Reads(
        tuple(own for own in condition.parts if not _is_hidden(own)),
        tuple((own.left, own.right) for own in compared if not _is_hidden(own.left)),
    )


def _validity(asked: Temporal) -> Iterator[Pair]:
    """The ends of the left rows' validity, each with those of the right ones."""
    ours, theirs = (
        [column_expression(side.name, name) for name in (own.start, own.end) if name is not None]
        for side, own in zip(asked.inputs, asked.validity, strict=True)
    )
    return ((own, other) for own in ours for other in theirs)


def _is_hidden(part: Expression) -> bool:
    return bool({own.name for own in part.node.find_all(exp.Column)} & _HIDDEN)
