"""One join of two tables, as the caller asked for it: the arrow host's, in a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from dovetail._core.condition.inputs import Inputs
from dovetail._core.plan.query import read_query
from dovetail._core.plan.timed import read_asof, read_window_join
from dovetail._core.plan.validity import read_temporal
from dovetail._hosts.arrow import asof, join, temporal, window
from dovetail._hosts.arrow.frames import open_frames

if TYPE_CHECKING:
    import pyarrow as pa

    from dovetail._core.condition.inputs import Input

_PAIRS: dict[str, tuple[Any, Any]] = {
    "join": (read_query, join.run),
    "asof": (read_asof, asof.run),
    "window": (read_window_join, window.run),
}


@dataclass(frozen=True)
class Meet:
    """A call of `dv.join` or one of its sisters, for any two tables of the inputs' columns."""

    what: str
    inputs: tuple[Input, Input]
    call: dict[str, Any]

    def __call__(self, left: pa.Table, right: pa.Table) -> pa.Table:
        """The rows that the call gives for these."""
        opened = open_frames({own.name: table for own, table in zip(self.inputs, (left, right), strict=True)})
        if self.what == "temporal":
            return cast("pa.Table", temporal.run(read_temporal(self.inputs, **self.call), opened))
        read, run = _PAIRS[self.what]
        return cast("pa.Table", run(read(Inputs(*self.inputs), **self.call), *opened.values()))
