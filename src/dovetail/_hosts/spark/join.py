"""A join of two DataFrames: Spark's own where that is best, else cells joined by tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import BooleanType, DataType, LongType
from sqlglot import exp

from dovetail._core.aggregate.functions import result_type
from dovetail._core.plan.decide import Facts, decide
from dovetail._hosts.spark.place import placed, plan_cells
from dovetail._hosts.spark.prefilter import prefilter
from dovetail._hosts.spark.residuals import task_can_test
from dovetail._hosts.spark.sampled import sample_of
from dovetail._hosts.spark.sides import check, project
from dovetail._hosts.spark.statistics import read_statistics
from dovetail._hosts.spark.task import CellTask, Layout, broadcast_task, cell_task, settle
from dovetail._hosts.spark.types import arrow_type, schema_of, spark_type
from dovetail._hosts.spark.wire import pack
from dovetail.errors import UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from dovetail._core.condition.values import Side
    from dovetail._core.plan.decide import Decision
    from dovetail._core.plan.query import How, Query
    from dovetail._hosts.spark.frames import SparkFrame
    from dovetail._hosts.spark.sides import Sides, SparkSide
    from dovetail._hosts.spark.statistics import Statistics

CORES_UNKNOWN = 8
FEW_ROWS = 100_000


def run(query: Query, left: SparkFrame, right: SparkFrame) -> DataFrame:
    """Join two DataFrames; the statistics are read now, the rows when Spark asks for them."""
    check(query, left, right)
    sides = project(query, left, right)
    if stays_with_spark(query, sides):
        return sparks_own(query, left, right)
    aggregate_types(query, sides)
    parts = [branch.result() for branch in branches(query, sides, read_statistics(sides))]
    return parts[0] if len(parts) == 1 else parts[0].unionAll(parts[1])


def stays_with_spark(query: Query, sides: Sides) -> bool:
    """Whether the plan is Spark's own join: asked for, equality only, or nothing that an order helps with."""
    if query.per is not None:
        return False
    return query.algorithm == "spark" or (query.algorithm == "auto" and not sides.condition.comparisons)


def sparks_own(query: Query, left: SparkFrame, right: SparkFrame) -> DataFrame:
    """Spark's join, with our output columns."""
    joined = left.frame.alias(left.name).join(right.frame.alias(right.name), F.expr(query.condition.sql), query.how)
    return joined.select(*(F.expr(column.shows.sql).alias(column.name) for column in query.output))


@dataclass(frozen=True)
class Branch:
    """One join of which the anchor is the left side; a FULL join has two of them."""

    query: Query
    sides: Sides
    how: How
    decision: Decision
    left: Statistics
    right: Statistics

    def result(self) -> DataFrame:
        """The rows that the caller sees."""
        frame, places = self._rows()
        for (side, name), kind in self._absent(places).items():
            places[side, name] = f"n{len(places)}"
            frame = frame.withColumn(places[side, name], F.lit(None).cast(kind))
        shown = [F.expr(rewritten(own.shows.node, places)).alias(own.name) for own in self.query.output]
        folded = [F.col(f"o{i}").alias(own.name) for i, own in enumerate(self.query.aggregates)]
        return frame.select(*shown, *folded)

    def _rows(self) -> tuple[DataFrame, dict[tuple[str, str], str]]:
        """The joined rows, and where each input's columns stand: `a0`... of the anchor, `o0`... of the other side."""
        if task_can_test(self.sides):
            task = self._task(numbered=False)
            return self._run(task, schema_of(self._fields(task))), self._places(task)
        if self.query.per is not None:
            raise UnsupportedError.residual_with_agg(self.sides.condition.residuals[-1].sql)
        return self._tested_by_spark()

    def _tested_by_spark(self) -> tuple[DataFrame, dict[tuple[str, str], str]]:
        """Candidates from the tasks, the residuals tested by Spark, outer rows settled by the same tasks again."""
        task = self._task(numbered=True)
        frame, places = self._run(task, schema_of(self._fields(task))), self._places(task)
        parts = [f"({rewritten(part.node, places)})" for part in self.sides.condition.residuals]
        tested = frame.withColumn("holds", F.when(F.col("paired"), F.expr(" AND ".join(parts))))
        kept = [(field.name, field.dataType) for field in frame.schema.fields if field.name not in ("row", "paired")]
        return tested.mapInArrow(settle(self.how), schema_of(kept)), places

    def _places(self, task: CellTask) -> dict[tuple[str, str], str]:
        """Where the tasks put each input's columns."""
        places = {}
        for letter, layout in (("a", task.left), ("o", task.right)):
            for i, name in enumerate(layout.shown):
                places[layout.name, layout.payload[int(name[1:])]] = f"{letter}{i}"
        return places

    def _absent(self, places: dict[tuple[str, str], str]) -> dict[tuple[str, str], DataType]:
        """Columns that the result shows and this branch has no value for."""
        found = {}
        for side in (self.sides.left, self.sides.right):
            for name in self.query.read_by_output(side.name):
                if (side.name, name) not in places:
                    found[side.name, name] = side.schema[f"p{side.payload.index(name)}"].dataType
        return found

    def _task(self, *, numbered: bool) -> CellTask:
        left, right = (self._layout(side, everything=numbered) for side in (self.sides.left, self.sides.right))
        if self.how in ("semi", "anti") and not numbered:
            right = replace(right, shown=())
        return CellTask(self.sides.condition, self.how, left, right, self.query.aggregates, numbered)

    def _layout(self, side: SparkSide, *, everything: bool) -> Layout:
        shown = side.payload if everything else self.query.read_by_output(side.name)
        return Layout(side.name, side.payload, tuple(f"p{side.payload.index(name)}" for name in shown), side.same)

    def _fields(self, task: CellTask) -> list[tuple[str, DataType]]:
        """The columns that a task yields."""
        fields = [(f"a{i}", self.sides.left.schema[name].dataType) for i, name in enumerate(task.left.shown)]
        if task.numbered:
            fields.append(("row", LongType()))
        if self.query.per is not None:
            fields += [(f"o{i}", kind) for i, kind in enumerate(aggregate_types(self.query, self.sides))]
        else:
            fields += [(f"o{i}", self.sides.right.schema[name].dataType) for i, name in enumerate(task.right.shown)]
        return [*fields, ("paired", BooleanType())] if task.numbered else fields

    def _run(self, task: CellTask, schema: StructType) -> DataFrame:
        if self.decision.algorithm == "broadcast":
            other = pack(self.sides.right.frame.select(*self.sides.right.travelling).toArrow())
            anchors = self.sides.left.frame.select(*self.sides.left.travelling)
            return self._spread(anchors).mapInArrow(broadcast_task(task, other), schema)
        sample, sampled = sample_of(self.sides.condition, self.left, self.right)
        cells = plan_cells(self.sides, sample, sampled, self.decision.cells)
        return placed(self.sides, cells).mapInArrow(cell_task(task), schema)

    def _spread(self, frame: DataFrame) -> DataFrame:
        """An anchor that came in too few pieces for the cores is dealt out first."""
        few = self.left.tasks < self.decision.cells and self.left.rows > FEW_ROWS
        return frame.repartition(self.decision.cells) if few or self.query.cells else frame


def aggregate_types(query: Query, sides: Sides) -> list[DataType]:
    """The types of the aggregates; what cannot be folded is refused here, before anything runs."""
    folded = next((side for side in (sides.left, sides.right) if side.name != _kept(query)), sides.right)
    kinds = []
    for i, aggregate in enumerate(query.aggregates):
        argument = None if aggregate.argument is None else arrow_type(folded.schema[f"g{i}"].dataType)
        if aggregate.argument is not None and argument is None:
            raise UnsupportedError.aggregate_type(str(aggregate))
        kinds.append(DataType.fromDDL(spark_type(result_type(aggregate, argument))))
    return kinds


def _kept(query: Query) -> str:
    """The input that gets one row each."""
    return query.inputs.right.name if query.per == "right" else query.inputs.left.name


def branches(query: Query, sides: Sides, found: tuple[Statistics, Statistics]) -> list[Branch]:
    """The joins that make up the answer: a FULL join is a left join and the right rows without a partner."""
    if query.how == "full":
        ours = _branch(query, sides, "left", found)
        return [ours, _branch(query, sides.flip(), "anti", found[::-1])]
    if query.how == "right":
        return [_branch(query, sides.flip(), "left", found[::-1])]
    if query.per == "right":
        return [_branch(query, sides.flip(), query.how, found[::-1])]
    return [_branch(query, sides, query.how, found)]


def _branch(query: Query, sides: Sides, how: How, found: tuple[Statistics, Statistics]) -> Branch:
    """Decide on anchor and placement, with the sides so turned that the anchor may be the left one."""
    facts = [Facts(own.fitting, side.row_bytes) for own, side in zip(found, (sides.left, sides.right), strict=True)]
    per: Side | None = None if query.per is None else "left"
    cores = cores_of(sides.left.frame)
    decision = decide(how, per, *facts, asked=query.algorithm, cells=query.cells, cores=cores)
    if decision.anchor == "right":
        sides, found = sides.flip(), found[::-1]
    keep = how in ("left", "anti") or per is not None
    return Branch(query, prefilter(sides, *found, keep_left=keep), how, decision, *found)


def cores_of(frame: DataFrame) -> int:
    """How many tasks run at once; Connect does not tell."""
    try:
        return max(1, int(frame.sparkSession.sparkContext.defaultParallelism))
    except (AttributeError, PySparkException):
        return CORES_UNKNOWN


def rewritten(node: exp.Expr, places: dict[tuple[str, str], str]) -> str:
    """Spark SQL in which every column of an input is read from where it stands now."""

    def moved(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column) and (part.table, part.name) in places:
            return exp.column(exp.to_identifier(places[part.table, part.name], quoted=True))
        return part

    return node.transform(moved).sql(dialect="spark")
