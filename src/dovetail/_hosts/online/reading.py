"""How the rows of one side are read: expressions in the types that the join compares, times as words."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from dovetail._core.columns.cast import cast

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from dovetail._core.columns.table import Columns
    from dovetail._core.condition.values import Expression
    from dovetail._hosts.online.definition import Definition

    Ints = NDArray[np.int64]


class Given:
    """A batch of one side; its expressions are evaluated when they are asked for."""

    def __init__(self, definition: Definition, side: int, batch: pa.RecordBatch) -> None:
        self.batch = batch
        self._definition, self._side = definition, side

    @cached_property
    def columns(self) -> Columns:
        """All columns by name."""
        return self._definition.columns(self._side, self.batch)


class Read(NamedTuple):
    """An expression to be read in a type; the number of its column, if it is one and stays as it is."""

    expression: Expression
    kind: pa.DataType | None
    column: int | None

    def array(self, given: Given) -> pa.Array:
        """Its values."""
        if self.column is not None:
            return given.batch.column(self.column)
        found = given.columns.evaluate(self.expression)
        return found if self.kind is None else cast(found, self.kind)


class Timed(NamedTuple):
    """Rows of one side: their equality keys, times as ticks, and the times as order keys, the least and greatest."""

    keys: list[pa.Array]
    ticks: NDArray[Any]
    at: Ints
    least: int
    greatest: int
