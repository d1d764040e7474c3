"""The plan of a join of streams: how rows meet, as the arrow host says, when, and how long they are remembered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dovetail._hosts.stream.run import Joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dovetail._core.plan.plan import Plan

Texts = tuple[str, str]


def explain(what: str, frames: dict[str, Any], call: dict[str, Any]) -> Plan:
    """Say how two frames, one of which streams at least, will be joined; nothing is read."""
    own = Joined.of(what, frames, call)
    plan = own.meet.explain(*(side.no_rows for side in own.sides))
    beside = own.reach is None
    said = replace(plan, host="stream", algorithm="look-up" if beside else "runs", reason=_reason(own))
    unknown = replace(said, products=None, results=None, matrix=None, rows_moved=None)
    return replace(unknown, cells=own.cells, uses=(*plan.uses, *_remembered(own)))


def _reason(own: Joined) -> str:
    names = [side.own.name for side in own.sides]
    if own.reach is None:
        still = next(side.own.name for side in own.sides if not side.own.frame.isStreaming)
        return f"{still} is no stream: all of it goes to every task, and rows are joined as they come"
    if not own.rules[0].waits:
        return "a row meets what is remembered of the other stream when it comes"
    kept = "either stream" if len(own.rules) > 1 else names[own.rules[0].driving]
    return f"a row of {kept} meets what is remembered of the other stream once no further partner can come"


def _remembered(own: Joined) -> Iterator[Texts]:
    """How long the rows of either input stay, and where."""
    if own.reach is None:
        return
    for i, (side, until) in enumerate(zip(own.sides, own.reach.untils, strict=True)):
        last = (
            "; the last of each key stays" if any(rule.prevailing and rule.driving != i for rule in own.rules) else ""
        )
        waits = "" if last or not until.bounds else _while_awaited(own, i)
        yield f"{side.own.name} stays", f"{until}{waits}{last}"
    by = "hash of the keys" if own.keys else "no key to place rows by"
    yield "cells", f"{own.cells}, {by}"


def _while_awaited(own: Joined, number: int) -> str:
    """Rows of the input that does not drive stay while one that waits can need them."""
    awaited = any(rule.waits and rule.driving != number for rule in own.rules)
    return ", and longer while a row that waits can need it" if awaited else ""
