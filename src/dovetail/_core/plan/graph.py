"""The inputs of a condition as a graph: which of them it connects, and circles that no values satisfy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Arc = tuple[str, str, str]

_RISING = {exp.LT: "<", exp.LTE: "<="}
_FALLING = {exp.GT: "<", exp.GTE: "<="}


def refuse_disconnected(names: Sequence[str], parts: Iterable[frozenset[str]]) -> None:
    """Refuse inputs that nothing connects with the first one: every row would meet every row."""
    waiting = [part for part in parts if len(part) > 1]
    reached = {names[0]}
    while touching := [part for part in waiting if part & reached]:
        reached = reached.union(*touching)
        waiting = [part for part in waiting if part not in touching]
    if len(reached) < len(names):
        raise UsageError.disconnected(
            [name for name in names if name in reached], [name for name in names if name not in reached]
        )


def refuse_impossible(parts: Iterable[exp.Expr], kinds: Mapping[tuple[str, str], str]) -> None:
    """Refuse a circle such as `a < b`, `b <= c`, `c < a`.

    Only plain columns of one type count: between types, values are cast, and a circle of casts may close after all.
    """
    arcs = [arc for part in parts for arc in _arcs(part, kinds)]
    for start, sign, end in arcs:
        back = _path(end, start, arcs) if sign == "<" else None
        if back is not None:
            raise UsageError.impossible_cycle([start, "<", *back])


def _arcs(node: exp.Expr, kinds: Mapping[tuple[str, str], str]) -> Iterator[Arc]:
    """What a comparison or equality of two columns says: the one lies below the other."""
    if not isinstance(node, exp.Binary):
        return
    one, other = node.this.unnest(), node.expression.unnest()
    if not (isinstance(one, exp.Column) and isinstance(other, exp.Column)):
        return
    if kinds.get((one.table, one.name)) != kinds.get((other.table, other.name), ""):
        return
    first, second = f"{one.table}.{one.name}", f"{other.table}.{other.name}"
    if type(node) in _RISING:
        yield first, _RISING[type(node)], second
    elif type(node) in _FALLING:
        yield second, _FALLING[type(node)], first
    elif isinstance(node, exp.EQ):
        yield from ((first, "=", second), (second, "=", first))


def _path(start: str, end: str, arcs: Sequence[Arc], seen: frozenset[str] = frozenset()) -> list[str] | None:
    """The columns and signs from one column up to another; None if no arcs lead there."""
    if start == end:
        return [end]
    for own, sign, upper in arcs:
        if own == start and upper not in seen:
            rest = _path(upper, end, arcs, seen | {start})
            if rest is not None:
                return [start, sign, *rest]
    return None


def tree(root: str, names: Sequence[str], edges: Iterable[frozenset[str]]) -> dict[str, list[str]] | None:
    """The children of every input when the graph hangs from one of them; None if it has a circle."""
    between = set(edges)
    if len(between) != len(names) - 1 or any(len(edge) != 2 for edge in between):  # noqa: PLR2004 -- two ends
        return None
    children: dict[str, list[str]] = {}
    waiting = [root]
    while waiting:
        own = waiting.pop()
        children[own] = [name for name in names if frozenset((own, name)) in between and name not in children]
        waiting += children[own]
    return children
