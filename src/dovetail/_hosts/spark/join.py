"""A join of two DataFrames: Spark's own where that is best, else cells joined by tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, DataType, DayTimeIntervalType, LongType

from dovetail._core.aggregate.functions import result_type
from dovetail._core.condition.parse import told
from dovetail._core.emit.cell import has_sequence
from dovetail._core.plan.decide import Decision, Facts, broadcast, decide
from dovetail._core.plan.knobs import FAMILY
from dovetail._hosts.spark.choice import DEALT, may_be_sparks, spark_is_best, weighed
from dovetail._hosts.spark.count_windows import unnumbered, windowed
from dovetail._hosts.spark.frames import cores_of
from dovetail._hosts.spark.handed import collected
from dovetail._hosts.spark.known import Known
from dovetail._hosts.spark.mapped import mapped
from dovetail._hosts.spark.marks import Marked
from dovetail._hosts.spark.outer import by_outer_keys, outer_join
from dovetail._hosts.spark.overlay import Overlay
from dovetail._hosts.spark.pairs import shown
from dovetail._hosts.spark.place import placed, plan_cells
from dovetail._hosts.spark.prefilter import prefilter, prefilter_left
from dovetail._hosts.spark.residuals import task_can_test
from dovetail._hosts.spark.rewrite import rewritten
from dovetail._hosts.spark.sampled import sample_of, sample_with_spans
from dovetail._hosts.spark.sides import analysed, project
from dovetail._hosts.spark.small import extremes_of
from dovetail._hosts.spark.statistics import Pieces
from dovetail._hosts.spark.task import NOTHING, CellTask, broadcast_task, cell_task
from dovetail._hosts.spark.tested import SEQUENCE, TOLD, Folding, settle
from dovetail._hosts.spark.theta import ThetaCells, placed_theta
from dovetail._hosts.spark.types import arrow_type, schema_of, spark_type
from dovetail._hosts.spark.unfold import Unfolding
from dovetail._hosts.spark.wire import narrowed, pack
from dovetail.errors import UnsupportedError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from dovetail._core.condition.values import Side
    from dovetail._core.plan.knobs import Knobs
    from dovetail._core.plan.query import How, Query
    from dovetail._hosts.spark.frames import SparkFrame
    from dovetail._hosts.spark.sides import Sides, SparkSide
    from dovetail._hosts.spark.small import Brought

FEW_ROWS = 100_000
"""Fewer rows than this are not worth being dealt out."""


def run(query: Query, left: SparkFrame, right: SparkFrame) -> DataFrame:
    """Join two DataFrames; a small side or the statistics are read now, the rows when Spark asks for them."""
    query = by_outer_keys(query)
    query, sides, left, right = numbered(query, left, right)
    outer = outer_join(query, sides, left, right)
    joined = outer.result() if outer is not None else None
    if joined is not None:
        return joined
    if stays_with_spark(query, sides):
        return sparks_own(query, left, right)
    sides.refuse_what_stays()
    aggregate_types(query, sides)
    known = Known(sides, sampled=may_be_sparks(query, sides.condition))
    if (unfolding := Unfolding.of(query, known)) is not None:
        return unfolding.result()
    if spark_is_best(query, known) is not None:
        return sparks_own(query, left, right)
    return reduce(lambda one, other: one.unionAll(other), [branch.result() for branch in branches(query, known)])


def numbered(query: Query, left: SparkFrame, right: SparkFrame) -> tuple[Query, Sides, SparkFrame, SparkFrame]:
    """Both sides, projected, once Spark has found nothing wrong with the call and the windows are numbered."""
    window = query.knobs.window
    query, types = analysed(query, unnumbered(left, window), unnumbered(right, window))
    left, right = windowed(left, window), windowed(right, window)
    return query, project(query, types, left, right), left, right


def broadcast_unread(query: Query, left: SparkFrame, right: SparkFrame) -> DataFrame:
    """An inner join whose right side travels to the tasks of the left one, of which nothing is read before."""
    query, types = analysed(query, left, right)
    sides = project(query, types, left, right)
    if stays_with_spark(query, sides):
        return sparks_own(query, left, right)
    decision = Decision("left", "broadcast", 1, "the right side is small and the left one is not read before")
    return Branch(query, Known(sides), "inner", decision, sides, Pieces(0, 0)).result()


def stays_with_spark(query: Query, sides: Sides) -> bool:
    """Whether the plan is Spark's own join: asked for, nothing that an order helps with, or what cannot leave Spark."""
    if query.per is not None:
        return False
    if query.algorithm == "auto":
        return not sides.condition.comparisons or sides.stays is not None or bool(sides.only_sparks)
    return query.algorithm == "spark" or (query.knobs.partitioned and not sides.condition.comparisons)


def sparks_own(query: Query, left: SparkFrame, right: SparkFrame) -> DataFrame:
    """Spark's join, with our output columns."""
    joined = left.frame.alias(left.name).join(right.frame.alias(right.name), F.expr(query.condition.sql), query.how)
    return shown(query, joined)


@dataclass(frozen=True)
class Branch:
    """One join of which the anchor is the left side; a FULL join has two of them.

    `other` is the side that travels, if it is in the driver already.
    """

    query: Query
    known: Known
    how: How
    decision: Decision
    sides: Sides
    pieces: Pieces
    other: pa.Table | None = None

    def result(self) -> DataFrame:
        """The rows that the caller sees."""
        if task_can_test(self.sides) and (direct := self._direct()) is not None:
            return direct
        return self.shown(*self._rows())

    def shown(self, frame: DataFrame, places: dict[tuple[str, str], str]) -> DataFrame:
        """What the caller sees of rows in which the columns of the inputs stand in these places, or nowhere."""
        for (side, name), kind in self._absent(places).items():
            places[side, name] = f"n{len(places)}"
            frame = frame.withColumn(places[side, name], F.lit(None).cast(kind))
        shown = [F.expr(rewritten(own.shows.node, places)).alias(own.name) for own in self.query.output]
        folded = [F.col(f"o{i}").alias(own.name) for i, own in enumerate(self.query.aggregates)]
        return frame.select(*shown, *folded)

    def _direct(self) -> DataFrame | None:
        """Plain columns, as the tasks yield them: Spark need not touch the rows again. None if there is more to do."""
        task = self._task(numbered=False)
        places, kinds = self._places(task), dict(self._fields(task))
        plain = [own.plain for own in self.query.output]
        names = [places.get((own.table, own.name)) for own in plain if own is not None]
        if len(names) < len(plain) or None in names:
            return None
        shown = {own.name: str(name) for own, name in zip(self.query.output, names, strict=True)}
        shown |= {own.name: f"o{i}" for i, own in enumerate(self.query.aggregates)}
        schema = schema_of([(name, kinds[own]) for name, own in shown.items()])
        return self._run(replace(task, output=tuple(shown.items())), schema) if shown else None

    def _rows(self) -> tuple[DataFrame, dict[tuple[str, str], str]]:
        """The joined rows, and where each input's columns stand: `a0`... of the anchor, `o0`... of the other side."""
        if task_can_test(self.sides):
            task = self._task(numbered=False)
            return self._run(task, schema_of(self._fields(task))), self._places(task)
        return self._tested_by_spark()

    def _tested_by_spark(self) -> tuple[DataFrame, dict[tuple[str, str], str]]:
        """Candidates from the tasks, the residuals tested by Spark, outer rows settled by the same tasks again."""
        task = self._task(numbered=True)
        fields, places = self._fields(task), self._places(task)
        parts = [f"({rewritten(part.node, places)})" for part in self.sides.condition.residuals]
        holds = F.when(F.col("paired"), F.expr(" AND ".join(parts)))
        tested = self._run(task, schema_of(fields)).withColumn("holds", holds)
        kept = [field for field in fields if field[0] not in TOLD]
        if self.query.per is None:
            return mapped(tested, settle(self.how), schema_of(kept)), places
        ours = kept[: len(task.left.showing)]
        read = tuple((own, f"o{i}") for i, own in enumerate(task.right.showing) if own[0] != "p")
        folding = Folding(self.query.aggregates, tuple(name for name, _ in ours), read)
        return mapped(tested, folding, schema_of([*ours, *self._folds()])), places

    def _places(self, task: CellTask) -> dict[tuple[str, str], str]:
        """Where the tasks put each input's columns."""
        places = {}
        for letter, own in (("a", task.left), ("o", task.right)):
            for i, place in enumerate(own.showing):
                if place[0] == "p":
                    places[own.name, own.payload[int(place[1:])]] = f"{letter}{i}"
        return places

    def _absent(self, places: dict[tuple[str, str], str]) -> dict[tuple[str, str], DataType]:
        """Columns that the result shows and this branch has no value for."""
        found = {}
        for side in (self.sides.left, self.sides.right):
            for name in self.query.read_by_output(side.name):
                if (side.name, name) not in places:
                    found[side.name, name] = side.schema[side.place(name)].dataType
        return found

    def _task(self, *, numbered: bool) -> CellTask:
        left, right = (
            side.showing(side.payload if numbered else self.query.read_by_output(side.name))
            for side in (self.sides.left, self.sides.right)
        )
        if self.how in ("semi", "anti") and not numbered:
            right = replace(right, showing=())
        if not numbered:
            return CellTask(self.sides.condition, self.how, left, right, self.query.aggregates)
        if self.query.per is not None:
            right = replace(right, showing=(*right.showing, *self._read_by_folds()))
        return CellTask(self.sides.condition, self.how, left, right, numbered=True)

    def _read_by_folds(self) -> list[str]:
        """The columns of the other side that the aggregates read."""
        own = self.sides.right
        sequence = [SEQUENCE] if has_sequence(self.sides.condition) else []
        return [*own.named("g"), *own.named("h"), *sequence]

    def _fields(self, task: CellTask) -> list[tuple[str, DataType]]:
        """The columns that a task yields."""
        fields = [(f"a{i}", self.sides.left.schema[name].dataType) for i, name in enumerate(task.left.showing)]
        if task.numbered:
            fields.append(("row", LongType()))
        if task.aggregates:
            fields += self._folds()
        else:
            fields += [(f"o{i}", self.sides.right.schema[name].dataType) for i, name in enumerate(task.right.showing)]
        if task.numbered:
            fields.append(("paired", BooleanType()))
        return fields or [(NOTHING, BooleanType())]

    def _folds(self) -> list[tuple[str, DataType]]:
        """The columns of the aggregates."""
        return [(f"o{i}", kind) for i, kind in enumerate(aggregate_types(self.query, self.sides))]

    def _run(self, task: CellTask, schema: StructType) -> DataFrame:
        if self.decision.algorithm == "broadcast":
            theirs = self.sides.right
            other = self.other if self.other is not None else collected(theirs.frame.select(*theirs.travelling))
            anchors = self.sides.left.frame.select(*self.sides.left.travelling)
            return mapped(self._spread(anchors), broadcast_task(task, pack(narrowed(other))), schema)
        overlay = Overlay.of(self.sides.left, self.sides.right)
        return mapped(self._placed(overlay), cell_task(task, overlay), schema)

    def _placed(self, overlay: Overlay) -> DataFrame:
        """Both sides, moved to their cells."""
        if self.dealt:
            return placed_theta(self.sides, self.theta(), self.decision.cells, overlay)
        sample, sampled = sample_with_spans(self.sides.condition, *self.known.statistics)
        cells = plan_cells(self.sides, sample, sampled, self.decision.cells, self.query.aggregates)
        return placed(self.sides, cells, overlay, self.query.aggregates)

    @property
    def knobs(self) -> Knobs:
        """How to cut, if a partitioned theta-join was asked for or chosen."""
        return self.query.knobs if self.query.knobs.partitioned else DEALT

    @property
    def dealt(self) -> bool:
        """Whether cells are dealt to tasks; windows are cells of their own and are hashed."""
        return self.decision.algorithm in FAMILY and not self.sides.condition.keys

    def theta(self) -> ThetaCells | None:
        """The cells of a partitioned theta-join; None if a side has no row that can match."""
        sample, sampled = sample_of(self.sides.condition, *(own.sample for own in self.known.statistics))
        op = self.sides.condition.comparisons[0].op
        return ThetaCells.cut(self.knobs, op, sample, sampled, self.decision.cells)

    def _spread(self, frame: DataFrame) -> DataFrame:
        """An anchor that came in too few pieces for the cores is dealt out first."""
        few = self.pieces.tasks < self.decision.cells and self.pieces.rows > FEW_ROWS
        return frame.repartition(self.decision.cells) if few or self.query.cells else frame


def aggregate_types(query: Query, sides: Sides) -> list[DataType]:
    """The types of the aggregates; what cannot be folded is refused here, before anything runs."""
    folded = next((side for side in (sides.left, sides.right) if side.name != _kept(query)), sides.right)
    kinds = []
    for i, aggregate in enumerate(query.aggregates):
        argument = None if aggregate.argument is None else arrow_type(folded.schema[f"g{i}"].dataType)
        if aggregate.argument is not None and argument is None:
            raise UnsupportedError.aggregate_type(told(aggregate))
        kind = DataType.fromDDL(spark_type(result_type(aggregate, argument)))
        is_one = aggregate.function in ("first", "last", "max", "min")  # intervals keep their fields
        kinds.append(folded.schema[f"g{i}"].dataType if is_one and isinstance(kind, DayTimeIntervalType) else kind)
    return kinds


def _kept(query: Query) -> str:
    """The input that gets one row each."""
    return query.inputs.right.name if query.per == "right" else query.inputs.left.name


def branches(query: Query, known: Known) -> list[Branch | Marked]:
    """The joins that make up the answer: a FULL join is a left join and the right rows without a partner."""
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
