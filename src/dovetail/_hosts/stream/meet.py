"""One join of two tables, as the caller asked for it: the arrow host's, in a task."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from dovetail._core.condition.inputs import Inputs
from dovetail._core.plan.query import read_how, read_query
from dovetail._core.plan.timed import read_asof, read_window_join
from dovetail._core.plan.validity import read_temporal
from dovetail._hosts.arrow import asof, explain, join, temporal, window
from dovetail._hosts.arrow.frames import open_frames

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from dovetail._core.condition.inputs import Input
    from dovetail._core.plan.plan import Plan
    from dovetail._core.plan.query import OutputColumn, Query
    from dovetail._core.plan.validity import Temporal
    from dovetail._hosts.arrow.frames import Frame

    Meets = Callable[[pa.Table, pa.Table], pa.Table]

_READ: dict[str, Callable[..., Any]] = {"join": read_query, "asof": read_asof, "window": read_window_join}
_RUN: dict[str, Callable[..., Any]] = {"join": join.run, "asof": asof.run, "window": window.run}
_EXPLAIN: dict[str, Callable[..., Any]] = {"join": explain.run, "asof": asof.explain, "window": window.explain}


@dataclass(frozen=True)
class Meet:
    """A call of `dv.join` or one of its sisters, for any two tables of the inputs' columns."""

    what: str
    inputs: tuple[Input, Input]
    call: dict[str, Any]

    @cached_property
    def asked(self) -> Any:
        """The call, read."""
        if self.what == "temporal":
            return read_temporal(self.inputs, **self.call)
        return _READ[self.what](Inputs(*self.inputs), **self.call)

    def __call__(self, left: pa.Table, right: pa.Table) -> pa.Table:
        """The rows that the call gives for these."""
        opened = self._opened(left, right)
        if self.what == "temporal":
            return cast("pa.Table", temporal.run(self.asked, opened))
        return cast("pa.Table", _RUN[self.what](self.asked, *opened.values()))

    @property
    def shown(self) -> tuple[OutputColumn, ...]:
        """The columns of the result that show the inputs' own."""
        if self.what == "temporal":
            return cast("Temporal", self.asked).shown
        query = self.asked if self.what == "join" else self.asked.query
        return cast("Query", query).output

    def explain(self, left: pa.Table, right: pa.Table) -> Plan:
        """How these are joined."""
        opened = self._opened(left, right)
        if self.what == "temporal":
            return temporal.explain(self.asked, opened)
        return cast("Plan", _EXPLAIN[self.what](self.asked, *opened.values()))

    def _opened(self, left: pa.Table, right: pa.Table) -> dict[str, Frame]:
        return open_frames({own.name: table for own, table in zip(self.inputs, (left, right), strict=True)})

    @property
    def turns(self) -> tuple[Meets, ...]:
        """What is done for rows that drive the join: a full one is driven by either input in turn."""
        if self.what == "join" and read_how(self.call.get("how", "inner")) == "full":
            return replace(self, call=self.call | {"how": "left"}), Unmatched(self)
        return (self,)


@dataclass(frozen=True)
class Unmatched:
    """The right rows that no left one meets, as a full join shows them."""

    full: Meet

    @cached_property
    def anti(self) -> Meet:
        """The join that finds them."""
        return Meet("join", self.full.inputs[::-1], {"on": self.full.call["on"], "how": "anti"})

    def __call__(self, left: pa.Table, right: pa.Table) -> pa.Table:
        """The rows that the full join gives for these, without those of left rows."""
        return self.full(left.slice(0, 0), self.anti(right, left))
