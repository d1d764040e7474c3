"""A join of many inputs as two-way joins, one after the other: the first two, then the result with the next.

Every step is told in Spark SQL, as a caller would write it, so that any host can run it. What is joined so far is one
input of the next step, named SO_FAR, with columns called `input.column`; only what later steps or the result read goes
along.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from dovetail._core.condition.dialect import AsWritten
from dovetail._core.condition.parse import column_expression, columns_of, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from dovetail._core.plan.many import Conjunct, ManyQuery

SO_FAR = "so far"
SAMPLED_ROWS = 300
"""Rows of each input by which it is judged what share of the pairs a condition keeps."""


@dataclass(frozen=True, slots=True)
class Step:
    """One two-way join: the names of its inputs, its condition, and what it shows."""

    left: str
    right: str
    on: str
    select: str


def cascade(query: ManyQuery, order: Sequence[str]) -> list[Step]:
    """The steps that join the inputs in this order."""
    waiting = list(query.conjuncts)
    steps: list[Step] = []
    for number in range(1, len(order)):
        joined = set(order[: number + 1])
        now = [part for part in waiting if part.owners <= joined]
        waiting = [part for part in waiting if part not in now]
        moved = _moved(set(order[:number])) if number > 1 else _unmoved
        last = number == len(order) - 1
        shown = _result(query, moved) if last else _carried(query, order[: number + 1], waiting, moved)
        steps.append(Step(SO_FAR if number > 1 else order[0], order[number], both(now, moved), shown))
    return steps


def both(parts: Iterable[Conjunct], moved: Callable[[exp.Expr], exp.Expr]) -> str:
    """The conjunction of some parts as text; of none, TRUE."""
    texts = [f"({moved(part.node).sql(dialect=AsWritten)})" for part in parts]
    return " AND ".join(texts) or "TRUE"


def _unmoved(node: exp.Expr) -> exp.Expr:
    return node


def _moved(joined: set[str]) -> Callable[[exp.Expr], exp.Expr]:
    """Rewrite columns of inputs that are joined already to where they stand now."""

    def move(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column) and part.table in joined:
            return column_expression(SO_FAR, f"{part.table}.{part.name}").node
        return part

    return lambda node: node.transform(move)


def _result(query: ManyQuery, moved: Callable[[exp.Expr], exp.Expr]) -> str:
    """What the caller sees."""
    return ", ".join(named(moved(column.shows.node), column.name) for column in query.output)


def _carried(
    query: ManyQuery, joined: Sequence[str], waiting: Iterable[Conjunct], moved: Callable[[exp.Expr], exp.Expr]
) -> str:
    """The columns of joined inputs that are still to be read; if none is, one that is there."""
    nodes = [column.shows.node for column in query.output] + [part.node for part in waiting]
    read = [
        (name, column)
        for name in joined
        for column in query.named(name).columns
        if any(column in columns_of(node, name) for node in nodes)
    ]
    first = query.named(joined[0])
    return ", ".join(
        named(moved(column_expression(name, column).node), f"{name}.{column}")
        for name, column in read or [(first.name, first.columns[0])]
    )


def named(node: exp.Expr, name: str) -> str:
    """An item of a select list."""
    return f"{node.sql(dialect=AsWritten)} AS {quoted(name)}"


def connected_pairs(query: ManyQuery) -> dict[frozenset[str], str]:
    """The pairs of inputs that a condition connects, with all that it says of the two."""
    pairs = {part.owners for part in query.conjuncts if len(part.owners) == 2}  # noqa: PLR2004 -- two make a pair
    return {
        pair: both((p for p in query.conjuncts if p.owners <= pair), _unmoved) for pair in sorted(pairs, key=sorted)
    }


def greedy_order(query: ManyQuery, rows: Mapping[str, int], shares: Mapping[frozenset[str], float]) -> list[str]:
    """Begin with the pair that leaves the fewest rows, then always add the input that leaves the fewest.

    `shares` say, for two inputs that a condition connects, which share of their pairs it keeps.
    """
    names = query.names
    best = min(
        (frozenset(pair) for pair in shares),
        key=lambda pair: shares[pair] * _product(rows[name] for name in pair),
        default=frozenset(names[:2]),
    )
    order = [name for name in names if name in best]
    while len(order) < len(names):
        order.append(min(_reachable(query, order), key=lambda name: rows[name] * _kept(name, order, shares)))
    return order


def _reachable(query: ManyQuery, order: list[str]) -> list[str]:
    """The inputs that a condition connects with those in the order; all that are left if it takes several at once."""
    left = [name for name in query.names if name not in order]
    near = [
        name
        for name in left
        if any(
            name in part.owners and part.owners <= {*order, name} for part in query.conjuncts if len(part.owners) > 1
        )
    ]
    return near or left


def _kept(name: str, order: Iterable[str], shares: Mapping[frozenset[str], float]) -> float:
    return _product(shares.get(frozenset((name, other)), 1.0) for other in order)


def _product(factors: Iterable[float]) -> float:
    found = 1.0
    for factor in factors:
        found *= factor
    return found
