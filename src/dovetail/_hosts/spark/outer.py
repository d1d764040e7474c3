"""Equality joins that leave the large side where it is: chosen, brought under way, and told to `explain`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.condition.residual import by_keys
from dovetail._core.plan.decide import BROADCAST_BYTES
from dovetail._core.plan.outer import Sized, asked_outer, chosen_outer
from dovetail._hosts.spark.bits import RowBits, read_of
from dovetail._hosts.spark.dense import SENT_BYTES, DenseKeys
from dovetail._hosts.spark.der import der
from dovetail._hosts.spark.known import Known
from dovetail._hosts.spark.pairs import joined_by_spark
from dovetail._hosts.spark.replicate import replicate
from dovetail._hosts.spark.ring import ring
from dovetail._hosts.spark.sampled import sample_of
from dovetail._hosts.spark.small import bounded
from dovetail._hosts.spark.statistics import count_pieces
from dovetail._hosts.spark.types import arrow_type, leaves, row_width
from dovetail.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

    from dovetail._core.plan.outer import Outer
    from dovetail._core.plan.query import Query
    from dovetail._hosts.spark.bits import Bits
    from dovetail._hosts.spark.frames import SparkFrame
    from dovetail._hosts.spark.sides import Sides, SparkSide


@dataclass(frozen=True)
class OuterJoin:
    """A join by one of these algorithms, of which nothing has been read yet."""

    query: Query
    known: Known
    frames: tuple[SparkFrame, SparkFrame]
    outer: Outer

    def result(self) -> DataFrame | None:
        """The rows that the caller sees; None if the side that was to travel turns out too large, and `auto` asks."""
        if self.outer.algorithm == "spark":
            return joined_by_spark(self.query, *self.frames)
        if self.outer.algorithm == "redistribute":
            return joined_by_spark(self.query, *self.frames, "merge")
        if self.outer.algorithm == "ring":
            turned = self.known.sides if self.outer.travels == "left" else self.known.sides.flip()
            return ring(self.query, turned) or joined_by_spark(self.query, *self.frames)
        if self.query.algorithm != "auto":
            self._refuse_too_large()
        if self.outer.algorithm == "replicate":
            table = self._brought()
            return None if table is None else replicate(self.query, self.outer.travels, self.frames, table)
        bits = self._bits()
        return None if bits is None else der(self.query, self.outer.travels, self.frames, bits)

    @property
    def small(self) -> SparkFrame:
        """The side that travels."""
        return self.frames[0 if self.outer.travels == "left" else 1]

    @property
    def large(self) -> SparkFrame:
        """The side that stays."""
        return self.frames[1 if self.outer.travels == "left" else 0]

    def _bits(self) -> Bits | None:
        """Bits of the small side's keys or, where these tell no numbers, of its rows; None if it is too large."""
        keys = DenseKeys.of(self.query, self.outer.travels, self.small, self.large)
        if keys is not None:
            small, large = self.known.planned if self.outer.travels == "left" else self.known.planned[::-1]
            dense = keys.bits(sent=small.size <= SENT_BYTES, sampled=large.is_scan)
            if dense is not None:
                return dense
        table = self._brought()
        return None if table is None else RowBits.of(self.query, self.outer.travels, self.small, self.large, table)

    def _brought(self) -> pa.Table | None:
        """The columns of the small side that anything reads, in the driver; None if they are too much."""
        frame = read_of(self.query, self.small)
        return bounded(frame, row_width(frame.schema))

    def _refuse_too_large(self) -> None:
        """Count the rows of a side that is to travel by the caller's word, not by its size."""
        side: SparkSide = getattr(self.known.sides, self.outer.travels)
        if count_pieces(side).rows * row_width(read_of(self.query, self.small).schema) > BROADCAST_BYTES:
            raise UsageError.too_large_to_travel(self.outer.algorithm, self.small.name, BROADCAST_BYTES)


def by_outer_keys(query: Query) -> Query:
    """A query whose algorithm was asked for and goes by keys alone: all other comparisons are tested pair by pair."""
    return replace(query, condition=by_keys(query.condition)) if query.knobs.outer else query


def outer_join(query: Query, sides: Sides, left: SparkFrame, right: SparkFrame) -> OuterJoin | None:
    """The join that was asked for or that suits the sizes; None if it is not for these algorithms."""
    free = query.algorithm == "auto" and query.cells is None and query.how != "inner" and query.per is None
    only_keys = bool(sides.condition.keys) and not sides.condition.comparisons
    if not query.knobs.outer and not (free and only_keys):
        return None
    known = Known(sides)
    sized = tuple(Sized(own.name, size) for own, size in zip((left, right), known.estimates, strict=True))
    if query.knobs.outer:
        if query.algorithm != "redistribute":
            sides.refuse_what_cannot_leave()
        return OuterJoin(query, known, (left, right), asked_outer(query.algorithm, *sized))
    found = chosen_outer(query.how, *sized, hot=lambda: hottest(known))
    if found is None:
        return None
    join = OuterJoin(query, known, (left, right), found)
    return join if all(travels(field.dataType) for field in join.small.frame.schema.fields) else None


def travels(kind: DataType) -> bool:
    """Whether values of a type come back from the driver as they went there."""
    return all(arrow_type(own) is not None for own in leaves(kind))


def hottest(known: Known) -> float:
    """The share of the commonest key among the rows of the larger side, by its sample."""
    sample, _ = sample_of(known.sides.condition, *(own.sample for own in known.statistics))
    codes = sample.left_codes if known.estimates[0] > known.estimates[1] else sample.right_codes
    return (
        0.0 if codes is None or codes.size == 0 else float(np.unique(codes, return_counts=True)[1].max() / codes.size)
    )
