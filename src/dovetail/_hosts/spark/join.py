"""A join of two DataFrames, by the first of the ways that will do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from dovetail._core.plan.decide import Decision, Facts, broadcast, decide
from dovetail._core.plan.knobs import FAMILY
from dovetail._hosts.spark.branch import Branch, aggregate_types
from dovetail._hosts.spark.choice import may_be_sparks, spark_is_best, weighed
from dovetail._hosts.spark.count_windows import unnumbered, windowed
from dovetail._hosts.spark.frames import cores_of
from dovetail._hosts.spark.known import Known
from dovetail._hosts.spark.marks import Marked
from dovetail._hosts.spark.outer import OuterJoin, by_outer_keys, outer_join
from dovetail._hosts.spark.pairs import joined_by_spark
from dovetail._hosts.spark.prefilter import prefilter, prefilter_left
from dovetail._hosts.spark.residuals import task_can_test
from dovetail._hosts.spark.sides import analysed, project
from dovetail._hosts.spark.small import extremes_of
from dovetail._hosts.spark.statistics import Pieces
from dovetail._hosts.spark.unfold import Unfolding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from dovetail._core.condition.values import Side
    from dovetail._core.plan.query import How, Query
    from dovetail._hosts.spark.frames import SparkFrame
    from dovetail._hosts.spark.sides import Sides, SparkSide
    from dovetail._hosts.spark.small import Brought


@dataclass(frozen=True)
class SparksOwn:
    """Spark's own join; `reason` says why it was chosen, if neither the caller nor the condition did."""

    query: Query
    sides: Sides
    frames: tuple[SparkFrame, SparkFrame]
    reason: str | None = None

    def result(self) -> DataFrame:
        """Spark's join, with our output columns."""
        return joined_by_spark(self.query, *self.frames)


@dataclass(frozen=True)
class Branches:
    """Joins of placed rows that make up the answer side by side."""

    query: Query
    each: list[Branch | Marked]

    def result(self) -> DataFrame:
        """The rows of all."""
        return reduce(lambda one, other: one.unionAll(other), [own.result() for own in self.each])


Way = OuterJoin | SparksOwn | Unfolding | Branches
"""How a join may be carried out. Its `result` is what the caller sees; None if the way turns out to be closed."""


def run(query: Query, left: SparkFrame, right: SparkFrame) -> DataFrame:
    """Join two DataFrames; a small side or the statistics are read now, the rows when Spark asks for them."""
    found = (way.result() for way in ways(query, left, right))
    return next(result for result in found if result is not None)


def ways(query: Query, left: SparkFrame, right: SparkFrame) -> Iterator[Way]:
    """How two DataFrames may be joined, the best way first; the last is never closed."""
    query = by_outer_keys(query)
    query, sides, frames = opened(query, left, right)
    outer = outer_join(query, sides, *frames)
    if outer is not None:
        yield outer
    if stays_with_spark(query, sides):
        yield SparksOwn(query, sides, frames)
        return
    sides.refuse_what_cannot_leave()
    aggregate_types(query, sides)
    known = Known(sides, sampled=may_be_sparks(query, sides.condition))
    unfolding = Unfolding.of(query, known)
    if unfolding is not None:
        yield unfolding
        return
    reason = spark_is_best(query, known)
    yield Branches(query, branches(query, known)) if reason is None else SparksOwn(query, sides, frames, reason)


def opened(query: Query, left: SparkFrame, right: SparkFrame) -> tuple[Query, Sides, tuple[SparkFrame, SparkFrame]]:
    """Both sides, projected, once Spark has found nothing wrong with the call and the windows are numbered."""
    window = query.knobs.window
    query, types = analysed(query, unnumbered(left, window), unnumbered(right, window))
    frames = windowed(left, window), windowed(right, window)
    return query, project(query, types, *frames), frames


def broadcast_unread(query: Query, left: SparkFrame, right: SparkFrame) -> DataFrame:
    """An inner join whose right side travels to the tasks of the left one, of which nothing is read before."""
    query, sides, frames = opened(query, left, right)
    if stays_with_spark(query, sides):
        return SparksOwn(query, sides, frames).result()
    decision = Decision("left", "broadcast", 1, "the right side is small and the left one is not read before")
    return Branch(query, Known(sides), "inner", decision, sides, Pieces(0, 0)).result()


def stays_with_spark(query: Query, sides: Sides) -> bool:
    """Whether the plan is Spark's own join: asked for, nothing that an order helps with, or what cannot leave Spark."""
    if query.per is not None:
        return False
    if query.algorithm == "auto":
        return not sides.condition.comparisons or sides.cannot_leave is not None or bool(sides.only_sparks)
    return query.algorithm == "spark" or (query.knobs.partitioned and not sides.condition.comparisons)


def branches(query: Query, known: Known) -> list[Branch | Marked]:
    """The joins that make up the answer: a FULL join is a left join and the unmatched right rows."""
    if query.how == "full":
        turned = known.larger_left if query.algorithm == "auto" else known
        return [*_branches(query, turned, "left"), *_branches(query, turned.flip(), "anti")]
    if query.how == "right":
        return _branches(query, known.flip(), "left")
    if query.per == "right":
        return _branches(query, known.flip(), query.how)
    return _branches(query, known, query.how)


def _branches(query: Query, known: Known, how: How) -> list[Branch | Marked]:
    """Decide on anchor and placement, with the sides so turned that the anchor may be the left one."""
    found = _with_small_side(query, known, how)
    return [found] if found is not None else _by_marks(query, known, how) or [_by_statistics(query, known, how)]


def _with_small_side(query: Query, known: Known, how: How) -> Branch | None:
    """A broadcast of a side that Spark takes to be small; None if there is no such side, or it is not."""
    if query.algorithm != "auto" or query.cells is not None or known.is_read:
        return None
    turned = known if _keeps_left(query, how) else known.larger_left
    if turned.brought is None:
        return None
    return _broadcast(query, turned, how, turned.brought)


def _by_marks(query: Query, known: Known, how: How) -> list[Branch | Marked]:
    """A small left side whose rows are kept travels all the same, and its marks tell the rest; none if it cannot be."""
    free = query.algorithm == "auto" and query.cells is None and query.per is None and not known.is_read
    turned = known.flip()
    if not free or how == "inner" or not task_can_test(known.sides) or turned.kept is None:
        return []
    pairs = _broadcast(query, turned, "inner", turned.kept)
    marked = Marked(pairs, seen=how == "semi")
    return [pairs, marked] if how == "left" else [marked]


def _broadcast(query: Query, known: Known, how: How, brought: Brought) -> Branch:
    """A right side that was brought goes to the tasks of the left one."""
    sides, other, pieces = known.sides, brought.table, brought.pieces
    facts = _facts(sides.left, pieces.rows), _facts(sides.right, other.num_rows)
    decision = broadcast("left", *facts, fixed=_keeps_left(query, how), cells=cores_of(sides.left.frame))
    if not _keeps_left(query, how) or how == "semi":
        sides = prefilter_left(sides, extremes_of(other, sides.right))
    return Branch(query, known, how, decision, sides, pieces, other)


def _keeps_left(query: Query, how: How) -> bool:
    """Whether the left side is the anchor, whatever its size."""
    return how != "inner" or query.per is not None


def _facts(side: SparkSide, rows: int) -> Facts:
    return Facts(side.name, rows, side.row_bytes)


def _by_statistics(query: Query, known: Known, how: How) -> Branch:
    left, right = known.statistics
    facts = _facts(known.sides.left, left.fitting), _facts(known.sides.right, right.fitting)
    per: Side | None = None if query.per is None else "left"
    cores = cores_of(known.sides.left.frame)
    cells = None if query.knobs.partitioned else query.cells
    decision = decide(how, per, *facts, asked=query.algorithm, cells=cells, cores=cores)
    turned = known if decision.anchor == "left" else known.flip()
    decision = weighed(query, turned, decision, cores)
    keep = how in ("left", "anti") or per is not None
    left, right = turned.statistics
    sides = turned.sides
    if decision.algorithm not in FAMILY or (decision.algorithm == "prefap" and query.knobs.prefilter):
        sides = prefilter(sides, left, right, keep_left=keep)
    return Branch(query, turned, how, decision, sides, left)
