"""Two sides in one frame, flat: a row belongs to one side, so columns of one type share a place.

Side by side, as two structs of which one is NULL, the same rows take Spark twice the time to write for Python.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

    from dovetail._hosts.spark.sides import SparkSide

PLACE = "place"
"""Twice the number of a row's cell, and one more if the row is the anchor's: a column less for Spark to write."""


@dataclass(frozen=True)
class Overlay:
    """The place of every column that travels, for the anchor and for the other side."""

    anchor: tuple[tuple[str, str], ...]
    other: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, anchor: SparkSide, other: SparkSide) -> Overlay:
        """Number the columns of each type on either side."""
        return cls(_placed(anchor), _placed(other))

    def split(self, batch: pa.RecordBatch, *kept: str) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """The rows of either side, under their own names; columns in `kept` are of both."""
        mine = pc.equal(pc.bit_wise_and(batch.column(PLACE), pa.scalar(1, pa.int32())), 1)
        both = tuple((name, name) for name in kept)
        return _pick(batch, self.anchor + both, mine), _pick(batch, self.other + both, pc.invert(mine))


def _placed(side: SparkSide) -> tuple[tuple[str, str], ...]:
    seen: Counter[str] = Counter()
    found = []
    for name in side.travelling:
        kind = side.schema[name].dataType.simpleString()
        found.append((name, f"{kind} {seen[kind]}"))
        seen[kind] += 1
    return tuple(found)


def _pick(batch: pa.RecordBatch, places: tuple[tuple[str, str], ...], rows: pa.BooleanArray) -> pa.RecordBatch:
    columns = [batch.column(place) for _, place in places]
    return pa.RecordBatch.from_arrays(columns, names=[name for name, _ in places]).filter(rows)


def moved_over(overlay: Overlay, number: int, anchors: DataFrame, others: DataFrame, *kept: str) -> DataFrame:
    """Both sides in one frame of so many partitions, each row in that of its `cell`; columns in `kept` are of both."""
    kinds: dict[str, DataType] = {}
    for frame, places in ((anchors, overlay.anchor), (others, overlay.other)):
        kinds |= {place: frame.schema[name].dataType for name, place in places}

    def laid(frame: DataFrame, places: tuple[tuple[str, str], ...], *, anchor: bool) -> DataFrame:
        own = {place: name for name, place in places}
        columns = [
            (F.col(own[place]) if place in own else F.lit(None).cast(kind)).alias(place)
            for place, kind in kinds.items()
        ]
        return frame.select(F.expr(f"CAST(2 * cell + {int(anchor)} AS INT) AS {PLACE}"), *kept, *columns)

    both = laid(anchors, overlay.anchor, anchor=True).union(laid(others, overlay.other, anchor=False))
    return both.repartitionById(number, F.expr(f"shiftright({PLACE}, 1)"))
