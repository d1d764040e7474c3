"""How long the rows of a stream matter: until which event time a partner can come, told as Spark SQL of one input.

A comparison of both inputs bounds the partners of a row where the other input's part is its event time, moved by a
fixed length: of `o.start + INTERVAL 5 MINUTES <= p.at`, a row `p` has no partner whose `o.start` is after `p.at` less
five minutes. Event times to come are never before the watermark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from dovetail._core.condition.duration import read_duration
from dovetail._core.condition.inputs import Inputs
from dovetail._core.condition.parse import column_expression
from dovetail._core.plan.offset import UNBOUNDED, Duration, PerRow, size_of
from dovetail._core.plan.query import read_query
from dovetail._core.plan.timed import read_asof, read_window_join
from dovetail._core.plan.validity import END, START, read_temporal
from dovetail._hosts.stream.step import FOR_GOOD, Rule
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dovetail._core.condition.inputs import Input
    from dovetail._core.condition.values import Comparison, Equality, Expression
    from dovetail._core.plan.offset import Offset
    from dovetail._core.plan.query import Query
    from dovetail._core.plan.timed import AsOf, WindowJoin
    from dovetail._core.plan.validity import Temporal, Validity

ALWAYS = f"{FOR_GOOD}L"
_MICRO = 1_000
_HIDDEN = {START, END}
_LEFT_ALONE = ("inner", "left", "semi", "anti")
_EITHER = (*_LEFT_ALONE, "right")


@dataclass(frozen=True)
class Reach:
    """A join of two streams, read: who drives it, the keys, and of both inputs UNTIL, in microseconds."""

    rule: Rule
    keys: tuple[Equality, ...]
    reads: tuple[Expression, ...]
    """What tasks evaluate of the rows."""
    untils: tuple[str, str]
    cells: int | None = None


def reach_of(what: str, inputs: Inputs, times: tuple[str, str], call: dict[str, Any]) -> Reach:
    """Read a call; `times` are the inputs' event times."""
    return _READ[what](inputs, times, call)


def _join(inputs: Inputs, times: tuple[str, str], call: dict[str, Any]) -> Reach:
    query = read_query(inputs, **call)
    _check_how(query.how, _EITHER)
    _check_algorithm(query.algorithm)
    if query.per == "right":
        raise UsageError.not_of_streams("per", inputs.right.name, repr(inputs.left.name))
    untils = (
        _least(_closing(query.condition.comparisons, inputs.right, times[1])),
        _least(_closing((own.flip() for own in query.condition.comparisons), inputs.left, times[0])),
    )
    rule = Rule(1 if query.how == "right" else 0, waits=query.how != "inner" or query.per is not None)
    if rule.waits and untils[rule.driving] == ALWAYS:
        names = (inputs.left.name, inputs.right.name)
        raise UsageError.never_due(names[rule.driving], names[1 - rule.driving], times[1 - rule.driving])
    reads = (*query.condition.parts, *(own.shows for own in query.output), *_folded(query))
    return Reach(rule, query.condition.keys, reads, untils, query.cells)


def _closing(comparisons: Iterable[Comparison], other: Input, time: str) -> Iterable[str]:
    """What bounds the other input's event time from above, for a row of the left one."""
    for own in comparisons:
        if own.op.rises or own.is_solved:
            continue
        moved = _moved(own.right.node, other.name, time)
        if moved is not None:
            yield f"unix_micros(CAST({own.left.sql} AS TIMESTAMP_LTZ)) - {moved}L"


def _moved(node: exp.Expr, name: str, time: str) -> int | None:
    """By how many microseconds an event time is moved; None if it is anything else."""
    if isinstance(node, exp.Paren):
        return _moved(node.this, name, time)
    if isinstance(node, exp.Column):
        return 0 if (node.table, node.name) == (name, time) else None
    if isinstance(node, (exp.Add, exp.Sub)) and isinstance(node.expression, exp.Interval):
        moved, length = _moved(node.this, name, time), _length(node.expression)
        if moved is not None and length is not None:
            return moved + (length if isinstance(node, exp.Add) else -length)
    return None


def _length(interval: exp.Interval) -> int | None:
    unit = interval.args.get("unit")
    length = read_duration(f"{interval.this.name} {'' if unit is None else unit.name}".strip())
    return None if length is None or length % _MICRO else length // _MICRO


def _least(bounds: Iterable[str]) -> str:
    found = list(bounds)
    return ALWAYS if not found else found[0] if len(found) == 1 else f"least({', '.join(found)})"


def _asof(inputs: Inputs, times: tuple[str, str], call: dict[str, Any]) -> Reach:
    asked = read_asof(inputs, **call)
    _check_how(asked.query.how, _LEFT_ALONE)
    if asked.direction != "backward" and asked.tolerance is None:
        raise UsageError.not_of_streams("direction", asked.direction, "'backward', or a tolerance beside it")
    _check_axis(inputs, asked.query.condition.comparisons[0], times)
    after = "0L" if asked.direction == "backward" else _micros("tolerance", asked.tolerance)
    before = "0L" if asked.direction == "forward" else _micros("tolerance", asked.tolerance)
    prevailing = (
        before == ALWAYS and len(asked.query.condition.comparisons) == 1 and not asked.query.condition.residuals
    )
    return _timed(inputs, times, asked, Rule(waits=True, prevailing=prevailing), (after, before))


def _window(inputs: Inputs, times: tuple[str, str], call: dict[str, Any]) -> Reach:
    asked = read_window_join(inputs, **call)
    _check_axis(inputs, asked.query.condition.comparisons[0], times)
    if any(own.following is None for own in asked.windows):
        raise UsageError.not_of_streams("following", UNBOUNDED, "a duration")
    after = [_micros("following", own.following) for own in asked.windows]
    before = [_micros("preceding", own.preceding) for own in asked.windows]
    prevailing = any(own.include_prevailing for own in asked.windows)
    ends = tuple(own[0] if len(own) == 1 else f"greatest({', '.join(own)})" for own in (after, before))
    if ALWAYS in before:
        ends, prevailing = (ends[0], ALWAYS), False
    return _timed(inputs, times, asked, Rule(waits=True, prevailing=prevailing), ends)


def _timed(
    inputs: Inputs, times: tuple[str, str], asked: AsOf | WindowJoin, rule: Rule, offsets: tuple[str, ...]
) -> Reach:
    """By time: `offsets` are how far after a left row, and how far before it, a right one can be."""
    untils = tuple(
        ALWAYS if own == ALWAYS else f"unix_micros({column_expression(side.name, time).sql}) + {own}"
        for side, time, own in zip((inputs.left, inputs.right), times, offsets, strict=True)
    )
    query = asked.query
    pairs: list[Equality | Comparison] = [*query.condition.keys, *query.condition.comparisons[1:]]
    parts = [part for own in pairs for part in (own.left, own.right)]
    parts += [*query.condition.residuals, *query.condition.left_filters, *query.condition.right_filters]
    parts += _folded(query)
    return Reach(rule, query.condition.keys, tuple(parts), (untils[0], untils[1]), query.cells)


def _folded(query: Query) -> list[Expression]:
    """What aggregates read."""
    return [part for own in query.aggregates for part in (own.argument, own.where) if part is not None]


def _micros(option: str, offset: Offset | None) -> str:
    """A length in microseconds, rounded up; None: without end."""
    if offset is None:
        return ALWAYS
    if isinstance(offset, PerRow):
        raise UsageError.not_of_streams(option, offset.column.node.name, "a duration")
    if size_of(offset) == 0:
        return "0L"
    if not isinstance(offset, Duration):
        raise UsageError.not_of_streams(option, str(offset.value), "a duration")
    return f"{-(-offset.nanoseconds // _MICRO)}L"


def _check_how(how: str, taken: tuple[str, ...]) -> None:
    if how not in taken:
        raise UsageError.not_of_streams("how", how, ", ".join(map(repr, taken)))


def _check_algorithm(algorithm: str) -> None:
    if algorithm != "auto":
        raise UsageError.not_of_streams("algorithm", algorithm, "'auto'")


def _check_axis(inputs: Inputs, axis: Comparison, times: tuple[str, str]) -> None:
    """Refuse a time that is not the one whose watermark is known."""
    for side, own, time in zip((inputs.left, inputs.right), (axis.left, axis.right), times, strict=True):
        if own != column_expression(side.name, time):
            raise UsageError.other_time(side.name, own.node.name or own.sql, time)


def _temporal(inputs: Inputs, times: tuple[str, str], call: dict[str, Any]) -> Reach:
    asked = read_temporal((inputs.left, inputs.right), **call)
    _check_how(asked.how, _LEFT_ALONE)
    _check_algorithm(asked.algorithm)
    for side, own, time in zip(asked.inputs, asked.validity, times, strict=True):
        if side.find(own.start) != time:
            raise UsageError.other_time(side.name, own.start, time)
    untils = (_end(inputs.left, asked.validity[0]), _end(inputs.right, asked.validity[1]))
    if asked.how != "inner" and untils[0] == ALWAYS:
        raise UsageError.never_due(inputs.left.name, inputs.right.name, times[1])
    condition = _equalities(asked)
    return Reach(Rule(waits=asked.how != "inner"), *condition, untils)


def _equalities(asked: Temporal) -> tuple[tuple[Equality, ...], tuple[Expression, ...]]:
    """The keys of a condition, and all that it evaluates."""
    query = read_query(Inputs(*asked.hidden_inputs), on=asked.overlapping)
    reads = (part for part in query.condition.parts if not {c.name for c in part.node.find_all(exp.Column)} & _HIDDEN)
    return query.condition.keys, tuple(reads)


def _end(side: Input, own: Validity) -> str:
    """The last instant at which a row is valid."""
    if own.end is not None:
        column = side.find(own.end)
        assert column is not None
        return (
            f"coalesce(unix_micros(CAST({column_expression(side.name, column).sql} AS TIMESTAMP_LTZ)) - 1L, {ALWAYS})"
        )
    assert own.window is not None
    if own.window.kind == "unbounded":
        return ALWAYS
    length = -(-own.window.length // _MICRO)
    return f"unix_micros({column_expression(side.name, own.start).sql}) + {length}L"


_READ = {"join": _join, "asof": _asof, "window": _window, "temporal": _temporal}
