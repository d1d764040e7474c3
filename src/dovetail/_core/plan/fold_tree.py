"""Aggregates over a chain or star of inputs, without a single pair: every input is folded into its neighbour.

The inputs hang from the one that is kept. From the leaves up, each is folded into its parent by a two-way join with
aggregates; what a row brings along is how many combinations hang from it, and, for every aggregate over an input below
it, that aggregate's part.

    r.a < s.b AND s.b <= t.c AND t.d > u.e, per s        s: count of r  x  (sum over t of its count of u)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dovetail._core.condition.dialect import AsWritten
from dovetail._core.condition.parse import column_expression, owners, quoted, told
from dovetail._core.plan.cascade import both, named
from dovetail._core.plan.graph import tree
from dovetail.errors import UnsupportedError, UsageError

if TYPE_CHECKING:
    from sqlglot import exp

    from dovetail._core.plan.aggregates import Aggregate
    from dovetail._core.plan.many import ManyQuery

_NEEDS = {"count": ("n",), "sum": ("s",), "avg": ("s", "n"), "min": ("m",), "max": ("m",)}
"""What travels for each function: the number of values, their sum, the least or greatest."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Fold `child` into `parent`: the condition, what is kept of the parent, and the aggregates it gains."""

    parent: str
    child: str
    on: str
    select: str
    agg: dict[str, str]


@dataclass(frozen=True, slots=True)
class FoldTree:
    """The folds in their order, and what the result shows of the kept input."""

    folds: tuple[Fold, ...]
    kept: str
    output: tuple[str, ...]


@dataclass
class _Node:
    """An input on the way: the counts that its children left in it, which were added up, and each aggregate's part."""

    name: str
    columns: list[str]
    counts: list[str] = field(default_factory=list)
    summed: set[str] = field(default_factory=set)
    parts: dict[tuple[int, str], tuple[str, str]] = field(default_factory=dict)

    def text(self, column: str) -> str:
        return column_expression(self.name, column).sql

    def times_counts(self, *, but: str | None = None) -> str:
        """The combinations that hang from a row, leaving out one child."""
        return " * ".join(self._count(own) for own in self.counts if own != but)

    def _count(self, column: str) -> str:
        """A count; one that was added up is NULL where there was nothing to add."""
        return f"coalesce({self.text(column)}, 0)" if column in self.summed else self.text(column)

    def part(self, number: int, need: str, argument: exp.Expr | None) -> str | None:
        """What a row brings to an aggregate, as an expression; None if the aggregate is not over this input's tree."""
        if argument is not None:
            return self._own_part(need, argument.sql(dialect=AsWritten))
        if (number, need) not in self.parts:
            return None
        column, via = self.parts[number, need]
        others = self.times_counts(but=via)
        return self.text(column) if need == "m" or not others else f"{self.text(column)} * {others}"

    def _own_part(self, need: str, argument: str) -> str:
        combinations = self.times_counts() or "1"
        if need == "n":
            return f"CASE WHEN ({argument}) IS NULL THEN 0 ELSE {combinations} END"
        return f"({argument})" if need == "m" or combinations == "1" else f"({argument}) * {combinations}"


def fold_tree(query: ManyQuery) -> FoldTree:
    """The folds that answer a call with aggregates over three and more inputs."""
    assert query.per is not None
    children = tree(query.per, query.names, (part.owners for part in query.conjuncts if len(part.owners) > 1))
    if children is None:
        raise UnsupportedError.agg_of_many(repr(told(query.sql)))
    for aggregate in query.aggregates:
        _check(aggregate, query.per, query.names)
    builder = _Builder(query, children)
    root = builder.node(query.per)
    shown = tuple(named(column.shows.node, column.name) for column in query.output)
    results = tuple(f"{builder.result(root, i)} AS {quoted(own.name)}" for i, own in enumerate(query.aggregates))
    return FoldTree(tuple(builder.folds), query.per, (*shown, *results))


def _check(aggregate: Aggregate, per: str, names: list[str]) -> None:
    if aggregate.function not in _NEEDS or aggregate.where is not None:
        raise UnsupportedError.agg_of_many(repr(told(aggregate)))
    read = _owners(aggregate)
    if per in read:
        raise UsageError.aggregate_of_per(told(aggregate), [name for name in names if name != per])
    if aggregate.argument is not None and len(read) != 1:
        raise UnsupportedError.agg_of_many(repr(told(aggregate)))


def _owners(aggregate: Aggregate) -> frozenset[str]:
    return frozenset() if aggregate.argument is None else owners(aggregate.argument.node)


class _Builder:
    """The folds found so far, from the leaves up."""

    def __init__(self, query: ManyQuery, children: dict[str, list[str]]) -> None:
        self._query, self._children = query, children
        self.folds: list[Fold] = []

    def node(self, name: str) -> _Node:
        """An input after all its children were folded into it."""
        node = _Node(name, list(self._query.named(name).columns))
        for child in self._children[name]:
            self._fold(node, self.node(child))
        return node

    def _fold(self, node: _Node, child: _Node) -> None:
        count = f"dovetail c{len(self.folds)}"
        agg = {count: f"sum({child.times_counts()})" if child.counts else "count(*)"}
        for (number, need), text in self._parts(child).items():
            name = f"dovetail {need}{number}"
            agg[name] = text
            node.parts[number, need] = name, count
        kept = ", ".join(named(column_expression(node.name, column).node, column) for column in node.columns)
        self.folds.append(Fold(node.name, child.name, self._on(node, child), kept, agg))
        node.counts.append(count)
        node.summed |= {count} if child.counts else set()
        node.columns += agg

    def _parts(self, child: _Node) -> dict[tuple[int, str], str]:
        """What every aggregate over the child's tree takes from its rows."""
        found = {}
        for number, aggregate in enumerate(self._query.aggregates):
            own = aggregate.argument.node if aggregate.argument and child.name in _owners(aggregate) else None
            for need in _NEEDS[aggregate.function]:
                part = child.part(number, need, own)
                if part is not None:
                    found[number, need] = f"{aggregate.function if need == 'm' else 'sum'}({part})"
        return found

    def _on(self, node: _Node, child: _Node) -> str:
        """The conditions between the two, the child's filters, and that something hangs from each of its branches.

        What speaks of the kept input alone, or of none, belongs to its first fold.
        """
        first = node.name == self._query.per and not node.counts
        spoken = {node.name, child.name}
        parts = [
            part for part in self._query.conjuncts if part.owners <= spoken and (first or child.name in part.owners)
        ]
        return " AND ".join([both(parts, lambda own: own), *(f"{child.text(own)} > 0" for own in child.counts)])

    def result(self, root: _Node, number: int) -> str:
        """An aggregate as an expression of the kept input and what it gained."""
        aggregate = self._query.aggregates[number]
        if aggregate.argument is None:
            return root.times_counts()
        parts = [root.part(number, need, None) for need in _NEEDS[aggregate.function]]
        if aggregate.function == "count":
            return f"coalesce({parts[0]}, 0)"
        alive = " AND ".join(f"{root.text(own)} > 0" for own in root.counts)
        if aggregate.function == "avg":
            return f"CASE WHEN {alive} AND {parts[1]} > 0 THEN {parts[0]} / ({parts[1]}) END"
        return f"CASE WHEN {alive} THEN {parts[0]} END"
