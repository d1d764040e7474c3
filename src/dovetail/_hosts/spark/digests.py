"""Digests on Spark: rows that match all of a cell do not go there; a row of numbers does, for all that a task sends.

A fold by one inequality would send each row to half of all cells. So it goes to the one in which its value lies, and
the others get a sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.aggregate.digest import digests, has_digest
from dovetail._core.aggregate.run import Argument
from dovetail._core.columns.order_keys import order_keys
from dovetail._core.columns.table import one_chunk
from dovetail._core.emit.cell import has_sequence
from dovetail._hosts.spark.types import arrow_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail._core.placement.boxes import Cover
    from dovetail._core.plan.aggregates import Aggregate
    from dovetail._hosts.spark.overlay import Overlay
    from dovetail._hosts.spark.sides import Sides


@dataclass(frozen=True)
class Digester:
    """The aggregates of a fold, and in which columns what they read travels; None: they read nothing.

    `sequence` is the column by which `first` and `last` go.
    """

    aggregates: tuple[Aggregate, ...]
    arguments: tuple[tuple[str | None, str | None], ...]
    sequence: str | None
    cells: int

    @classmethod
    def of(cls, aggregates: tuple[Aggregate, ...], sides: Sides, overlay: Overlay, cells: int) -> Digester:
        """How to digest rows of the other side, the right one."""

        def travels(name: str) -> str | None:
            return overlay.other_columns(sides.right, [name])[0] if name in sides.right.frame.columns else None

        arguments = tuple((travels(f"g{i}"), travels(f"h{i}")) for i in range(len(aggregates)))
        ends = any(own.function in ("first", "last") for own in aggregates) and has_sequence(sides.condition)
        return cls(aggregates, arguments, travels("v0") if ends else None, cells)

    def table(self, rows: pa.Table, covers: Sequence[Cover]) -> tuple[NDArray[np.int64], pa.Table]:
        """The cells that rows cover, and a row of digest for each."""
        met = np.zeros(rows.num_rows, np.bool_)
        for cover in covers:
            met[cover.rows] = True
        number = np.cumsum(met) - 1
        covers = [cover._replace(rows=number[cover.rows]) for cover in covers]
        read = {name for names in (*self.arguments, (self.sequence,)) for name in names if name is not None}
        columns = {name: one_chunk(rows.column(name).filter(pa.array(met))) for name in read}
        sequence = np.zeros(number[-1] + 1, np.int64)
        if self.sequence is not None:
            sequence = order_keys([columns[self.sequence]])[0]
        arguments = [Argument(*(None if name is None else columns[name] for name in names)) for names in self.arguments]
        return digests(self.aggregates, arguments, sequence, covers, self.cells)


def can_digest(aggregates: tuple[Aggregate, ...], sides: Sides) -> bool:
    """Whether rows of the right side that match all of a cell can be digested."""
    condition = sides.condition
    if not aggregates or condition.residuals or not condition.comparisons:
        return False
    return has_digest(aggregates, arrow_type(sides.right.schema["v0"].dataType) if has_sequence(condition) else None)
