"""How long the rows of a stream matter: until which event time a partner can come, as it is read from the call.

A comparison of both inputs bounds the partners of a row where the other input's part is its event time, moved by a
fixed length: of `o.start + INTERVAL 5 MINUTES <= p.at`, or `p.at - o.start >= INTERVAL 5 MINUTES`, a row `p` has no
partner whose `o.start` is after `p.at` less five minutes. Event times to come are never before the watermark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dovetail._core.columns.moved import length_of, moved_column
from dovetail._core.condition.difference import differences
from dovetail._core.condition.inputs import Inputs
from dovetail._core.condition.parse import column_expression
from dovetail._core.plan.offset import UNBOUNDED, Duration, PerRow, size_of
from dovetail._core.plan.query import Query, read_query
from dovetail._core.plan.timed import AsOf, WindowJoin
from dovetail._hosts.stream.step import Rule
from dovetail._hosts.stream.until import Bound, Until
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dovetail._core.condition.difference import Difference
    from dovetail._core.condition.inputs import Input
    from dovetail._core.condition.values import Comparison, Condition, Equality, Expression
    from dovetail._core.plan.offset import Offset
    from dovetail._core.plan.validity import Temporal, Validity

    Asked = Query | AsOf | WindowJoin | Temporal
    Times = tuple[str, str]

_MICRO = 1_000
_LEFT_ALONE = ("inner", "left", "semi", "anti")


@dataclass(frozen=True)
class Reach:
    """What a join needs of its streams: the keys, and UNTIL of either."""

    keys: tuple[Equality, ...]
    untils: tuple[Until, Until]
    cells: int | None = None


def rules_of(asked: Asked) -> tuple[Rule, ...]:
    """Whose rows drive a join, in turn; what no stream can be asked for is refused."""
    if isinstance(asked, Query):
        return _rules_of_join(asked)
    if isinstance(asked, AsOf):
        _check_how(asked.query.how, _LEFT_ALONE)
        return (Rule(waits=True, prevailing=_takes_one(asked)),)
    if isinstance(asked, WindowJoin):
        _check_algorithm(asked.algorithm)
        endless = any(own.preceding is None for own in asked.windows)
        return (Rule(waits=True, prevailing=not endless and any(own.include_prevailing for own in asked.windows)),)
    _check_how(asked.how, _LEFT_ALONE)
    _check_algorithm(asked.algorithm)
    return (Rule(waits=asked.how != "inner"),)


def _rules_of_join(query: Query) -> tuple[Rule, ...]:
    _check_algorithm(query.algorithm)
    if query.knobs.window is not None:
        raise UsageError.not_of_streams("window", query.knobs.window, "none")
    left, right = Rule(waits=True), Rule(driving=1, waits=True)
    if query.per is not None:
        return (left if query.per == "left" else right,)
    return {"inner": (Rule(),), "right": (right,), "full": (left, right)}.get(query.how, (left,))


def _takes_one(asked: AsOf) -> bool:
    """Whether the last row before a left one is its only candidate, however long ago that was."""
    condition = asked.query.condition
    single = len(condition.comparisons) == 1 and not condition.residuals
    return asked.direction == "backward" and asked.tolerance is None and single


def reach_of(asked: Asked, times: Times) -> Reach:
    """How far rows reach; `times` are the inputs' event times."""
    if isinstance(asked, Query):
        return _reach_of_join(asked, times)
    if isinstance(asked, AsOf):
        return _reach_of_asof(asked, times)
    if isinstance(asked, WindowJoin):
        return _reach_of_window(asked, times)
    return _reach_of_temporal(asked, times)


def _reach_of_join(query: Query, times: Times) -> Reach:
    condition, inputs = query.condition, query.inputs
    distances = tuple(differences(condition, inputs))
    untils = (
        Until(tuple(_closing(condition, distances, inputs.right.name, times[1]))),
        Until(tuple(_closing(condition.flip(), distances, inputs.left.name, times[0]))),
    )
    for rule in rules_of(query):
        if rule.waits and not untils[rule.driving].bounds:
            names = (inputs.left.name, inputs.right.name)
            raise UsageError.never_due(names[rule.driving], names[1 - rule.driving], times[1 - rule.driving])
    return Reach(condition.keys, _filtered(query, untils), query.cells)


def _filtered(query: Query, untils: tuple[Until, Until]) -> tuple[Until, Until]:
    """The same; a row that its own filters leave out has no partner."""
    left, right = (
        until.filtered(tuple(part.sql for part in parts))
        for parts, until in zip((query.condition.left_filters, query.condition.right_filters), untils, strict=True)
    )
    return left, right


def _closing(condition: Condition, distances: Iterable[Difference], other: str, time: str) -> Iterator[Bound]:
    """What bounds the other input's event time from above, for a row of the left one."""
    pairs: list[Equality | Comparison] = [own for own in condition.keys if not own.null_safe]
    pairs += [own for own in condition.comparisons if not own.op.rises]
    for own in pairs:
        moved = _moved(own.right, other, time)
        if moved is not None:
            yield Bound(own.left.sql, -moved)
    for distance in distances:
        yield from _closing_by(distance, other, time)


def _closing_by(own: Difference, other: str, time: str) -> Iterator[Bound]:
    """The same by a distance of the two: `r.ts - l.ts <= INTERVAL 5 MINUTES`."""
    length = None if own.added else length_of(own.bound.node)
    if length is None:
        return
    first, second = _moved(own.first, other, time), _moved(own.second, other, time)
    if first is not None and (own.op is None or own.op.rises):
        yield Bound(own.second.sql, length - first)
    if second is not None and (own.op is None or own.absolute or not own.op.rises):
        yield Bound(own.first.sql, (length if own.absolute else -length) - second)


def _moved(part: Expression, name: str, time: str) -> int | None:
    """By how many microseconds an event time is moved; None if it is anything else."""
    found = moved_column(part.node)
    return sum(found.lengths) if found is not None and (found.column.table, found.column.name) == (name, time) else None


def _reach_of_asof(asked: AsOf, times: Times) -> Reach:
    if asked.direction != "backward" and asked.tolerance is None:
        raise UsageError.not_of_streams("direction", asked.direction, "'backward', or a tolerance beside it")
    length = _micros("tolerance", asked.tolerance)
    return _by_time(
        asked.query,
        times,
        after=0 if asked.direction == "backward" else length,
        before=0 if asked.direction == "forward" or _takes_one(asked) else length,
    )


def _reach_of_window(asked: WindowJoin, times: Times) -> Reach:
    if any(own.following is None for own in asked.windows):
        raise UsageError.not_of_streams("following", UNBOUNDED, "a duration")
    after = [_micros("following", own.following) for own in asked.windows]
    before = [_micros("preceding", own.preceding) for own in asked.windows]
    return _by_time(asked.query, times, after=_greatest(after), before=_greatest(before))


def _greatest(lengths: list[int | None]) -> int | None:
    known = [own for own in lengths if own is not None]
    return max(known) if len(known) == len(lengths) else None


def _by_time(query: Query, times: Times, *, after: int | None, before: int | None) -> Reach:
    """By time: how far after a left row, and how far before it, a right one can be; None: without end."""
    sides = (query.inputs.left, query.inputs.right)
    _check_axis(sides, query.condition.comparisons[0], times)
    left, right = (
        Until(() if length is None else (Bound(column_expression(side.name, time).sql, length),))
        for side, time, length in zip(sides, times, (after, before), strict=True)
    )
    return Reach(query.condition.keys, _filtered(query, (left, right)), query.cells)


def _micros(option: str, offset: Offset | None) -> int | None:
    """A length in microseconds, rounded up; None: without end."""
    if offset is None:
        return None
    if isinstance(offset, PerRow):
        raise UsageError.not_of_streams(option, offset.column.node.name, "a duration")
    if size_of(offset) == 0:
        return 0
    if not isinstance(offset, Duration):
        raise UsageError.not_of_streams(option, str(offset.value), "a duration")
    return -(-offset.nanoseconds // _MICRO)


def _check_how(how: str, taken: tuple[str, ...]) -> None:
    if how not in taken:
        raise UsageError.not_of_streams("how", how, ", ".join(map(repr, taken)))


def _check_algorithm(algorithm: str) -> None:
    if algorithm != "auto":
        raise UsageError.not_of_streams("algorithm", algorithm, "'auto'")


def _check_axis(sides: tuple[Input, Input], axis: Comparison, times: Times) -> None:
    """Refuse a time that is not the one whose watermark is known."""
    for side, own, time in zip(sides, (axis.left, axis.right), times, strict=True):
        if own != column_expression(side.name, time):
            raise UsageError.other_time(side.name, own.node.name or own.sql, time)


def _reach_of_temporal(asked: Temporal, times: Times) -> Reach:
    left, right = asked.inputs
    for side, own, time in zip(asked.inputs, asked.validity, times, strict=True):
        if side.find(own.start) != time:
            raise UsageError.other_time(side.name, own.start, time)
    untils = (_end(left, asked.validity[0]), _end(right, asked.validity[1]))
    if asked.how != "inner" and not untils[0].bounds:
        raise UsageError.never_due(left.name, right.name, times[1])
    query = read_query(Inputs(*asked.hidden_inputs), on=asked.overlapping)
    return Reach(query.condition.keys, _filtered(query, untils))


def _end(side: Input, own: Validity) -> Until:
    """The last instant at which a row is valid."""
    if own.end is not None:
        column = side.find(own.end)
        assert column is not None
        return Until((Bound(column_expression(side.name, column).sql, -1, may_be_open=True),))
    assert own.window is not None
    if own.window.kind == "unbounded":
        return Until()
    return Until((Bound(column_expression(side.name, own.start).sql, -(-own.window.length // _MICRO)),))
