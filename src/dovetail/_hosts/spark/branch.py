"""One join of placed rows, of which the anchor is the left side: a broadcast, or cells, joined by tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, DataType, DayTimeIntervalType, LongType

from dovetail._core.aggregate.functions import result_type
from dovetail._core.condition.parse import told
from dovetail._core.emit.cell import has_sequence
from dovetail._core.plan.knobs import FAMILY
from dovetail._hosts.spark.choice import DEALT
from dovetail._hosts.spark.handed import collected_if_allowed
from dovetail._hosts.spark.mapped import mapped
from dovetail._hosts.spark.overlay import Overlay
from dovetail._hosts.spark.place import placed, plan_cells
from dovetail._hosts.spark.residuals import task_can_test
from dovetail._hosts.spark.rewrite import rewritten
from dovetail._hosts.spark.sampled import sample_of, sample_with_spans
from dovetail._hosts.spark.task import NOTHING, CellTask, broadcast_task, cell_task
from dovetail._hosts.spark.tested import SEQUENCE, TOLD, Folding, settle
from dovetail._hosts.spark.theta import ThetaCells, placed_theta
from dovetail._hosts.spark.types import arrow_type, schema_of, spark_type
from dovetail._hosts.spark.wire import narrowed, pack
from dovetail.errors import UnsupportedError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from dovetail._core.plan.decide import Decision
    from dovetail._core.plan.knobs import Knobs
    from dovetail._core.plan.query import How, Query
    from dovetail._hosts.spark.known import Known
    from dovetail._hosts.spark.sides import Sides
    from dovetail._hosts.spark.statistics import Pieces

FEW_ROWS = 100_000
"""Fewer rows than this are not worth being dealt out."""


@dataclass(frozen=True)
class Branch:
    """A join whose rows are placed as was decided, and joined by tasks; a FULL join has two of them.

    `sides` have been thinned by what is `known` of them; `pieces` tells how the anchor lies, and `other` is the side
    that travels, if it is in the driver already.
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
        absent = self._absent(places)
        places = places | {column: f"n{i}" for i, column in enumerate(absent)}
        if absent:
            frame = frame.withColumns({places[column]: F.lit(None).cast(kind) for column, kind in absent.items()})
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
        other = self._brought() if self.decision.algorithm == "broadcast" else None
        if other is not None:
            anchors = self.sides.left.frame.select(*self.sides.left.travelling)
            return mapped(self._spread(anchors), broadcast_task(task, pack(narrowed(other))), schema)
        overlay = Overlay.of(self.sides.left, self.sides.right)
        return mapped(self._placed(overlay), cell_task(task, overlay), schema)

    def _brought(self) -> pa.Table | None:
        """The side that travels; None if Spark does not let it into the driver: then it is placed like the anchor."""
        if self.other is not None:
            return self.other
        theirs = self.sides.right
        return collected_if_allowed(theirs.frame.select(*theirs.travelling))

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
