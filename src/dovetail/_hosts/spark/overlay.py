"""Two sides in one frame, flat: a row belongs to one side, so columns of one type share a place.

Side by side, as two structs of which one is NULL, the same rows take Spark twice the time to write for Python.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F

from dovetail._hosts.spark.places import PLACE, is_anchor, is_guest, place_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

    from dovetail._hosts.spark.sides import SparkSide


@dataclass(frozen=True)
class Overlay:
    """The place of every column that travels, for the anchor and for the other side."""

    anchor: tuple[tuple[str, str], ...]
    other: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, anchor: SparkSide, other: SparkSide) -> Overlay:
        """Number the columns of each type on either side."""
        kinds = list(dict.fromkeys(_kind(side, name) for side in (anchor, other) for name in side.travelling))
        return cls(_placed(anchor, kinds), _placed(other, kinds))

    def laid(self, anchors: DataFrame, others: DataFrame) -> DataFrame:
        """The rows of both sides, each of which has a `cell`, with their places."""
        kinds: dict[str, DataType] = {}
        for frame, places in ((anchors, self.anchor), (others, self.other)):
            kinds |= {place: frame.schema[name].dataType for name, place in places}

        def lay(frame: DataFrame, places: tuple[tuple[str, str], ...], *, anchor: bool) -> DataFrame:
            own = {place: name for name, place in places}
            columns = [
                (F.col(own[place]) if place in own else F.lit(None).cast(kind)).alias(place)
                for place, kind in kinds.items()
            ]
            return frame.select(F.expr(f"{place_text(anchor=anchor)} AS {PLACE}"), *columns)

        return lay(anchors, self.anchor, anchor=True).union(lay(others, self.other, anchor=False))

    def anchor_columns(self, anchor: SparkSide, names: Sequence[str]) -> tuple[str, ...]:
        """Where columns of the anchor travel."""
        return tuple(dict(self.anchor)[dict(anchor.same)[name]] for name in names)

    def other_columns(self, other: SparkSide, names: Sequence[str]) -> tuple[str, ...]:
        """Where columns of the other side travel."""
        return tuple(dict(self.other)[dict(other.same)[name]] for name in names)

    def sides(
        self, parcels: Iterable[tuple[int, pa.Table]], own: str | None = None
    ) -> tuple[pa.Table, pa.Table] | None:
        """The rows of either side in a task's cell, under their own names; a column `own` tells them from guests."""
        ours, theirs = [], []
        mark = () if own is None else ((own, own),)
        for place, parcel in parcels:
            rows, anchor = parcel, is_anchor(place)
            if own is not None:
                rows = parcel.append_column(own, pa.repeat(pa.scalar(not is_guest(place)), parcel.num_rows))
            # One side's rows tell the types of the other's columns, too: a cell may have none of them.
            ours.append(_pick(rows if anchor else rows.slice(0, 0), self.anchor + mark))
            theirs.append(_pick(rows.slice(0, 0) if anchor else rows, self.other + mark))
        return (pa.concat_tables(ours), pa.concat_tables(theirs)) if ours else None


def _placed(side: SparkSide, kinds: list[str]) -> tuple[tuple[str, str], ...]:
    seen: Counter[str] = Counter()
    found = []
    for name in side.travelling:
        kind = _kind(side, name)
        found.append((name, f"t{kinds.index(kind)}_{seen[kind]}"))
        seen[kind] += 1
    return tuple(found)


def _kind(side: SparkSide, name: str) -> str:
    """The type of a column, in which users' own types are told apart: to Spark, each is called `udt`."""
    return str(side.schema[name].dataType.json())


def _pick(rows: pa.Table, places: tuple[tuple[str, str], ...]) -> pa.Table:
    return pa.Table.from_arrays([rows.column(place) for _, place in places], names=[name for name, _ in places])
