"""The plan of a join by time: what is near, in words, and where its rows go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dovetail._core.condition.parse import told
from dovetail._core.plan.offset import Duration, PerRow
from dovetail._core.plan.plan import Plan

if TYPE_CHECKING:
    from dovetail._core.plan.offset import Offset
    from dovetail._core.plan.timed import AsOf, Window, WindowJoin

_NEAR = {
    ("backward", False): "the last at or before",
    ("backward", True): "the last before",
    ("forward", False): "the first at or after",
    ("forward", True): "the first after",
    ("nearest", False): "the nearest to",
    ("nearest", True): "the nearest to, but not at,",
}
IN_PROCESS = "both sides fit this process: sorted once by key and time, met in one walk"


def asof_plan(asked: AsOf, host: str, algorithm: str, reason: str, **known: Any) -> Plan:
    """Say which row an as-of join picks."""
    axis, within = asked.query.condition.comparisons[0], asked.tolerance
    reach = "" if within is None else f", within {_distance(within)}"
    picks = f"{axis.right} {_NEAR[asked.direction, asked.strict]} {axis.left}{reach}; of one time, {_TIES[asked.ties]}"
    uses = [("picks", picks)]
    tested = [*map(str, asked.query.condition.comparisons[1:]), *(own.sql for own in asked.query.condition.residuals)]
    if tested:
        uses.append(("where", " AND ".join(tested)))
    return _plan(asked, "as-of", host, algorithm, reason, uses, known)


_TIES = {"last": "the last", "first": "the first", "all": "all", "error": "an error"}


def window_plan(asked: WindowJoin, host: str, algorithm: str, reason: str, **known: Any) -> Plan:
    """Say what a window join folds."""
    axis = asked.query.condition.comparisons[0]
    uses = [
        (f"{axis.right} in {_reach(own)}", ", ".join(str(aggregate) for aggregate in own.aggregates))
        for own in asked.windows
    ]
    return _plan(asked, "window", host, algorithm, reason, uses, known)


def _plan(
    asked: AsOf | WindowJoin,
    kind: str,
    host: str,
    algorithm: str,
    reason: str,
    uses: list[tuple[str, str]],
    known: dict[str, Any],
) -> Plan:
    axis = asked.query.condition.comparisons[0]
    shown = tuple((told(name), told(text)) for name, text in uses)
    condition = " AND ".join(map(told, [*asked.query.condition.keys, f"{axis.left} near {axis.right}"]))
    return Plan(host, kind, asked.query.how, algorithm, condition, shown, reason, **known)


def _reach(window: Window) -> str:
    """The window as an interval around a base row's time."""
    left, right = "[" if window.lower_closed else "(", "]" if window.upper_closed else ")"
    prevailing = ", with what prevails" if window.include_prevailing else ""
    return f"{left}{_end('-', window.preceding)}, {_end('+', window.following)}{right}{prevailing}"


def _end(sign: str, offset: Offset | None) -> str:
    """Where a window ends; what is negative lies on the other side of the row's time."""
    distance = "unbounded" if offset is None else _distance(offset)
    return f"{'+' if sign == '-' else '-'}{distance[1:]}" if distance.startswith("-") else f"{sign}{distance}"


def _distance(offset: Offset) -> str:
    if isinstance(offset, PerRow):
        return str(offset.column)
    return f"{offset.nanoseconds / 1e9:g} s" if isinstance(offset, Duration) else f"{float(offset.value):g}"
