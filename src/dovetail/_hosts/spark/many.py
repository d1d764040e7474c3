"""A join of three and more DataFrames: two-way joins one after the other, or folds along a tree.

An input that fits a broadcast travels to the tasks that hold what is joined so far, whose rows need not be read for
statistics first; a larger one is joined like any other two, which reads the rows so far once more.
"""

from __future__ import annotations

from functools import reduce
from math import prod
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from dovetail._core.condition.inputs import Inputs
from dovetail._core.condition.parse import columns_of, quoted, told
from dovetail._core.plan.cascade import SAMPLED_ROWS, cascade, connected_pairs, greedy_order
from dovetail._core.plan.decide import BROADCAST_BYTES
from dovetail._core.plan.fold_tree import fold_tree
from dovetail._core.plan.many import read_many
from dovetail._core.plan.many_plan import many_plan
from dovetail._core.plan.query import read_query
from dovetail._hosts.spark import join as two
from dovetail._hosts.spark.count_windows import unnumbered, windowed
from dovetail._hosts.spark.frames import SparkFrame, open_frames
from dovetail._hosts.spark.handed import collected, created
from dovetail._hosts.spark.now import at_one_moment
from dovetail._hosts.spark.refusals import first_line, unlogged
from dovetail._hosts.spark.types import row_width
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from dovetail._core.plan.cascade import Step
    from dovetail._core.plan.many import ManyQuery
    from dovetail._core.plan.plan import Plan

    Frames = dict[str, SparkFrame]


def run(frames: dict[str, Any], **call: Any) -> DataFrame:
    """Join three and more DataFrames."""
    query, opened = _open(frames, call)
    if query.per is not None:
        return _folded(query, opened)
    rows = _rows(opened)
    steps = cascade(query, _order(query, opened, rows)[0])
    found = opened[steps[0].left].frame
    for number, step in enumerate(steps):
        travels = number > 0 and query.knobs.algorithm == "auto" and _fits(opened[step.right], rows[step.right])
        found = _step(query, step, found, opened[step.right].frame, unread=travels)
    return found


def explain(frames: dict[str, Any], **call: Any) -> Plan:
    """Say in which order the DataFrames will be joined, and why."""
    query, opened = _open(frames, call)
    rows = _rows(opened)
    if query.per is not None:
        fold_tree(query)
        return many_plan("spark", query, query.names, rows, {})
    order, shares = _order(query, opened, rows)
    return many_plan("spark", query, order, rows, shares)


def _open(frames: dict[str, Any], call: dict[str, Any]) -> tuple[ManyQuery, Frames]:
    opened = {own.name: own for own in open_frames(frames)}
    inputs = [own.input for own in opened.values()]
    call = at_one_moment(call, next(iter(opened.values())).session)
    kinds = {(name, f.name): f.dataType.simpleString() for name, own in opened.items() for f in own.frame.schema.fields}
    query = read_many(inputs, kinds, **call)
    window = call.get("window")
    _check(query, {name: unnumbered(own, window) for name, own in opened.items()})
    return query, {name: windowed(own, window) for name, own in opened.items()}


def _check(query: ManyQuery, frames: Frames) -> None:
    """Let Spark analyse the condition and the select list over all inputs at once; nothing runs."""
    shown = [column.shows.sql for column in query.output]
    shown += [own.argument.sql for own in query.aggregates if own.argument is not None]
    try:
        with unlogged():
            every = reduce(lambda one, other: one.crossJoin(other), (f.frame.alias(n) for n, f in frames.items()))
            _ = every.filter(F.expr(query.sql)).select(*(F.expr(s).alias(f"c{i}") for i, s in enumerate(shown))).schema
    except PySparkException as error:
        raise UsageError.spark_refuses(told(query.sql), first_line(error)) from None


def _step(query: ManyQuery, step: Step, left: DataFrame, right: DataFrame, *, unread: bool) -> DataFrame:
    """One two-way join."""
    frames = SparkFrame(step.left, left), SparkFrame(step.right, right)
    asked = read_query(_inputs(*frames), on=step.on, select=step.select, **query.knobs.as_call())
    return two.broadcast_unread(asked, *frames) if unread else two.run(asked, *frames)


def _inputs(left: SparkFrame, right: SparkFrame) -> Inputs:
    return Inputs(left.input, right.input)


def _rows(frames: Frames) -> dict[str, int]:
    """The rows of every input, counted in one job."""
    return dict(zip(frames, _one_row([_count(own.frame) for own in frames.values()]), strict=True))


def _fits(own: SparkFrame, rows: int) -> bool:
    """Whether an input can travel to every task."""
    return rows * row_width(own.frame.schema) <= BROADCAST_BYTES


def _order(
    query: ManyQuery, frames: Frames, rows: Mapping[str, int]
) -> tuple[list[str], Mapping[frozenset[str], float]]:
    """The order of the steps, and the share of pairs that each condition keeps, judged by samples."""
    if query.order == "given":
        return query.names, {}
    read = {name: _read(query, own) for name, own in frames.items()}
    samples = {name: collected(own.orderBy(F.rand(0)).limit(SAMPLED_ROWS)) for name, own in read.items()}
    kept = {name: created(own.sparkSession, samples[name], own.schema) for name, own in read.items()}
    pairs = connected_pairs(query)
    joined = [_count(_pair(pair, on, kept)) for pair, on in pairs.items()]
    counts = _one_row(joined) if joined else ()
    shares = {
        pair: count / max(1, prod(samples[name].num_rows for name in pair))
        for pair, count in zip(pairs, counts, strict=True)
    }
    return greedy_order(query, rows, shares), shares


def _read(query: ManyQuery, own: SparkFrame) -> DataFrame:
    """The columns of an input that the condition reads."""
    read = set().union(*(columns_of(part.node, own.name) for part in query.conjuncts))
    return own.frame.select(*(quoted(name) for name in own.frame.columns if name in read))


def _pair(pair: frozenset[str], on: str, frames: Mapping[str, DataFrame]) -> DataFrame:
    first, second = (name for name in frames if name in pair)
    return frames[first].alias(first).join(frames[second].alias(second), F.expr(on))


def _count(frame: DataFrame) -> DataFrame:
    return frame.agg(F.count(F.lit(1)))


def _one_row(frames: list[DataFrame]) -> tuple[int, ...]:
    """Several frames of one number each, asked for in one job."""
    side_by_side = reduce(lambda one, other: one.crossJoin(other), frames)
    return tuple(side_by_side.toDF(*(f"n{i}" for i in range(len(frames)))).collect()[0])


def _folded(query: ManyQuery, frames: Frames) -> DataFrame:
    """Fold every input into its parent, then show what is kept."""
    found = {name: own.frame for name, own in frames.items()}
    tree = fold_tree(query)
    for fold in tree.folds:
        sides = SparkFrame(fold.parent, found[fold.parent]), SparkFrame(fold.child, found[fold.child])
        asked = read_query(_inputs(*sides), on=fold.on, select=fold.select, agg=fold.agg, per=fold.parent)
        found[fold.parent] = two.run(asked, *sides)
    return found[tree.kept].alias(tree.kept).selectExpr(*tree.output)
