"""What a checkpoint belongs to: a join, in words that are the same in every process, however the call was spelled.

What is remembered serves one join only: rows that another would need may be gone, and rows that it would meet may have
been met. So the words stand beside the rows, and those of a query that goes on are compared with them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from dovetail._core.condition.inputs import Inputs
from dovetail._core.condition.parse import told
from dovetail._core.condition.residual import as_residual
from dovetail._core.condition.split import read_condition
from dovetail._core.plan.offset import UNBOUNDED, size_of
from dovetail._core.plan.query import Query
from dovetail._core.plan.timed import AsOf, WindowJoin
from dovetail._hosts.stream.runs import AT, UNTIL
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from dovetail._core.condition.values import Comparison, Condition, Equality
    from dovetail._core.plan.offset import Offset
    from dovetail._core.plan.timed import Window
    from dovetail._core.plan.validity import Temporal, Validity

    Words = dict[str, str]

_NONE = "none"


def definition_of(asked: Query | AsOf | WindowJoin | Temporal, inputs: dict[str, str], cells: int) -> str:
    """A join in words; `inputs` tells what is remembered of each."""
    remembered = {f"columns of {name}": columns for name, columns in inputs.items()}
    return json.dumps({**_words(asked), **remembered, "partitions": str(cells)})


def check_definition(known: str, got: str) -> None:
    """Refuse another join than the one whose rows are remembered; what there is to join by is told first."""
    before, now = json.loads(known), json.loads(got)
    differing = [own for own in {**before, **now} if before.get(own) != now.get(own)]
    if differing:
        what = min(differing, key=lambda own: not own.startswith("columns"))
        raise UsageError.other_join(what, told(before.get(what, _NONE)), told(now.get(what, _NONE)))


def columns_told(schema: pa.Schema, time: str) -> str:
    """The columns that are remembered of an input, and which is the one of its watermark."""
    columns = [f"{own.name.removeprefix('dovetail ')} {own.type}" for own in schema if own.name not in (AT, UNTIL)]
    return f"{', '.join(columns)}; event time {time}"


def _words(asked: Query | AsOf | WindowJoin | Temporal) -> Words:
    if isinstance(asked, Query):
        return {"kind": "join", **_of_query(asked)}
    if isinstance(asked, AsOf):
        return {"kind": "as-of join", **_of_query(asked.query), **_of_asof(asked)}
    if isinstance(asked, WindowJoin):
        windows = "; ".join(map(_window, asked.windows))
        return {"kind": "window join", **_of_query(asked.query), "windows": windows}
    return {"kind": "temporal join", **_of_temporal(asked)}


def _of_query(query: Query) -> Words:
    return {
        "on": _conjuncts(query.condition),
        "how": query.how,
        "select": _listed(f"{own.shows} AS {own.name}" for own in query.output),
        "agg": _listed(query.aggregates),
        "per": query.per or _NONE,
    }


def _of_asof(asked: AsOf) -> Words:
    return {
        "direction": asked.direction,
        "strict": "yes" if asked.strict else "no",
        "tolerance": _length(asked.tolerance),
        "ties": asked.ties,
        "tie_break": _listed(asked.tie_break),
        "nearest_tie": asked.nearest_tie,
    }


def _window(own: Window) -> str:
    closed = f"{'closed' if own.lower_closed else 'open'} to {'closed' if own.upper_closed else 'open'}"
    prevailing = ", with the prevailing row" if own.include_prevailing else ""
    lengths = f"{_length(own.preceding)} preceding, {_length(own.following)} following"
    return f"{lengths}, {closed}{prevailing}: {_listed(own.aggregates)}"


def _of_temporal(asked: Temporal) -> Words:
    condition = read_condition(asked.on, Inputs(*asked.inputs))
    valid = {f"validity of {side.name}": _validity(own) for side, own in zip(asked.inputs, asked.validity, strict=True)}
    return {"on": _conjuncts(condition), "how": asked.how, **valid}


def _validity(own: Validity) -> str:
    if own.window is None:
        return f"from {own.start} to {own.end}"
    return f"from {own.start}, {own.window.kind} {own.window.length} ns"


def _conjuncts(condition: Condition) -> str:
    """The parts of a condition, sorted: their order does not matter, nor how often they are said."""
    pairs: tuple[Equality | Comparison, ...] = (*condition.keys, *condition.comparisons)
    parts = (*map(as_residual, pairs), *condition.left_filters, *condition.right_filters, *condition.residuals)
    return " AND ".join(sorted({f"({own})" for own in parts}))


def _length(own: Offset | None) -> str:
    return UNBOUNDED if own is None else f"{size_of(own)} ns"


def _listed(parts: Iterable[object]) -> str:
    return ", ".join(map(str, parts)) or _NONE
