"""The plan of a join of three and more inputs, as a person reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dovetail._core.condition.parse import told
from dovetail._core.plan.graph import tree
from dovetail._core.plan.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dovetail._core.plan.many import ManyQuery


def many_plan(
    host: str,
    query: ManyQuery,
    order: Sequence[str],
    rows: Mapping[str, int],
    shares: Mapping[frozenset[str], float],
    results: int | None = None,
) -> Plan:
    """Tell the order of the steps with the rows that each is thought to leave; or that nothing is paired at all.

    `results` is their number if it is known.
    """
    if query.per is not None:
        why = f"every input is folded into its neighbour, towards {query.per!r}: no pair is made"
        return _plan(host, query, "fold", why)
    left, products, steps = float(rows[order[0]]), 0.0, []
    for number, name in enumerate(order[1:], start=1):
        products += left * rows[name]
        left *= rows[name]
        for other in order[:number]:
            left *= shares.get(frozenset((name, other)), 1.0)
        steps.append((f"step {number}", f"{_first(order, number)} with {name}, about {round(left):,} rows"))
    chosen = "as given" if query.order == "given" else "the fewest rows first, judged by samples"
    why = f"two at a time, {chosen}: {', '.join(order)}"
    known = {"products": round(products), "exact": results is not None}
    return _plan(
        host, query, "cascade", why, tuple(steps), results=round(left) if results is None else results, **known
    )


def _first(order: Sequence[str], number: int) -> str:
    return order[0] if number == 1 else "the result"


def _plan(
    host: str,
    query: ManyQuery,
    algorithm: str,
    reason: str,
    uses: tuple[tuple[str, str], ...] = (),
    **known: Any,
) -> Plan:
    own = query.knobs.algorithm
    return Plan(
        host=host,
        kind=_kind(query),
        how="inner",
        algorithm=algorithm if own == "auto" else f"{algorithm} of {own}",
        condition=told(query.sql),
        uses=uses,
        reason=reason,
        **known,
    )


def _kind(query: ManyQuery) -> str:
    """What a reader would call the graph of the conditions."""
    edges = {part.owners for part in query.conjuncts if len(part.owners) > 1}
    number = f"{len(query.inputs)} inputs"
    if tree(query.names[0], query.names, edges) is None:
        return f"{number} in a cycle"
    ends = [sum(name in edge for edge in edges) for name in query.names]
    return f"{number} in a chain" if max(ends) <= 2 else f"{number} in a star"  # noqa: PLR2004 -- two neighbours at most
