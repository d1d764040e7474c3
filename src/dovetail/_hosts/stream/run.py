"""A join of streaming DataFrames, as a streaming DataFrame.

Either input is projected by Spark (its columns, AT, UNTIL, keys), its rows are sent in parcels to the cell of their
keys, and there remembered (`cell`). Without keys, rows of the driving input are dealt out and the others go to all
cells. Beside a batch frame nothing is remembered: its rows go to every task.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import TimestampType
from sqlglot import exp

from dovetail._core.columns.coerce import comparison_type
from dovetail._core.columns.moved import moved_column
from dovetail._core.columns.table import Columns
from dovetail._core.condition.inputs import Inputs
from dovetail._core.condition.parse import expression, quoted
from dovetail._core.plan.query import read_query
from dovetail._hosts.spark.frames import open_frames
from dovetail._hosts.spark.handed import collected
from dovetail._hosts.spark.mapped import mapped
from dovetail._hosts.spark.parcels import sent
from dovetail._hosts.spark.places import PLACE
from dovetail._hosts.spark.residuals import meaning_differs
from dovetail._hosts.spark.types import arrow_type, can_leave, nullable, schema_of, spark_type
from dovetail._hosts.spark.wire import pack, plain, unpack
from dovetail._hosts.stream.cell import RESULTS, Remembered, unpacked
from dovetail._hosts.stream.definition import columns_told, definition_of
from dovetail._hosts.stream.meet import Meet
from dovetail._hosts.stream.reach import reach_of, rules_of
from dovetail._hosts.stream.reads import reads_of
from dovetail._hosts.stream.runs import AT, UNTIL
from dovetail._hosts.stream.step import KEY
from dovetail.errors import UnsupportedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from dovetail._core.condition.inputs import Input
    from dovetail._core.condition.values import Expression
    from dovetail._hosts.spark.frames import SparkFrame
    from dovetail._hosts.stream.reach import Reach
    from dovetail._hosts.stream.reads import Reads
    from dovetail._hosts.stream.step import Rule

    Batches = Iterator[pa.RecordBatch]

CELL = "cell"
CELLS = 16
"""Where rows have keys. The number stays the same for as long as a query's checkpoint is used."""
_STORE = "spark.sql.streaming.stateStore.providerClass"
_ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_DELAY = "spark.watermarkDelayMs"
"""What Spark notes of a column with a watermark."""


@dataclass(frozen=True)
class Streamed:
    """One input: its frame, and the columns that travel, which are `p0`, `p1`, ... on their way."""

    own: SparkFrame
    columns: tuple[str, ...]

    @property
    def time(self) -> str:
        """The column of the watermark."""
        marked = [field for field in self.own.frame.schema if _DELAY in (field.metadata or {})]
        if not marked:
            raise UsageError.no_watermark(self.own.name)
        times = [field.name for field in marked if isinstance(field.dataType, TimestampType)]
        if not times:
            raise UsageError.watermark_of_window(self.own.name, marked[0].name)
        return times[0]

    @property
    def input(self) -> Input:
        """What tasks see of it."""
        return replace(self.own.input, columns=self.columns)

    @property
    def no_rows(self) -> pa.Table:
        """An empty table of the columns that travel."""
        return plain(_schema(self.own.frame.select(*map(quoted, self.columns))).empty_table())

    def kind(self, part: Expression) -> pa.DataType:
        """The type of one of its expressions."""
        return Columns.of(self.own.name, self.no_rows).evaluate(part).type

    def projected(self, texts: dict[str, str]) -> DataFrame:
        """The rows with what is computed of them."""
        own = self.own
        columns = [f"{quoted(own.name)}.{quoted(name)} AS p{i}" for i, name in enumerate(self.columns)]
        return own.frame.alias(own.name).selectExpr(
            *(f"{text} AS {quoted(name)}" for name, text in texts.items()), *columns
        )


@dataclass(frozen=True)
class Joined:
    """A call, read: what is done for whose rows, and how far they reach; beside a batch frame, none is remembered."""

    meet: Meet
    rules: tuple[Rule, ...]
    sides: tuple[Streamed, ...]
    reach: Reach | None

    @classmethod
    def of(cls, what: str, frames: dict[str, Any], call: dict[str, Any]) -> Joined:
        """Two frames, one of which streams at least; what they cannot be asked for is refused."""
        if len(frames) > 2:  # noqa: PLR2004 -- a cell remembers two inputs
            raise UsageError.not_of_streams("inputs", len(frames), "two")
        opened = open_frames(frames)
        sides = tuple(Streamed(own, _travelling(what, own, opened, call)) for own in opened)
        meet = Meet(what, (sides[0].input, sides[1].input), call)
        rules = rules_of(meet.asked)
        if not all(own.frame.isStreaming for own in opened):
            _check_kept(rules, sides)
            reach = None
        else:
            reach = reach_of(meet.asked, (sides[0].time, sides[1].time))
            _check_store(opened[0])
        _check_meaning(sides, reads_of(meet.asked))
        return cls(meet, rules, sides, reach)

    @property
    def keys(self) -> list[tuple[str, str, pa.DataType]]:
        """Every key as both inputs' text in the type in which Spark compares them; of other types they place no row."""
        return [] if self.reach is None else _key_texts(self.reach, self.sides)

    @property
    def cells(self) -> int:
        """How many cells remember rows."""
        asked = None if self.reach is None else self.reach.cells
        cells = asked or (CELLS if self.keys else 1)
        if len(self.rules) > 1 and cells > 1 and not self.keys:
            raise UsageError.not_of_streams("partitions", cells, "1 where a full join has no keys")
        return cells


def run(what: str, frames: dict[str, Any], call: dict[str, Any]) -> DataFrame:
    """Join two frames, one of which streams at least."""
    own = Joined.of(what, frames, call)
    if own.reach is None:
        return _beside_static(own)
    return mapped(_remembering(own, own.reach), unpacked, _shown(own))


def _travelling(what: str, own: SparkFrame, opened: tuple[SparkFrame, ...], call: dict[str, Any]) -> tuple[str, ...]:
    """The columns of an input that the result shows or the condition reads."""
    columns = own.frame.columns
    kinds = own.frame.schema
    if what == "join" and call.get("select") is not None and call.get("agg") is None:
        query = read_query(Inputs(*(one.input for one in opened)), **call)
        read = {*query.read_by_output(own.name), *query.read_by_condition(own.name)}
        leaving = [name for name in columns if can_leave(kinds[name].dataType)]
        # rows without any column would not be counted
        columns = [name for name in columns if name in read] or leaving[:1] or columns[:1]
    for name in columns:
        if not can_leave(kinds[name].dataType):
            full = f"{own.name}.{name}"
            raise UnsupportedError.cannot_leave_spark(full, kinds[name].dataType.simpleString())
    return tuple(columns)


def _schema(frame: DataFrame) -> pa.Schema:
    """Its columns as Arrow's, as a query may go on with them: moments in one zone, and NULL is possible everywhere."""
    fields = [(own.name, nullable(own.dataType)) for own in frame.schema]
    return to_arrow_schema(schema_of(fields), timezone="UTC")


def _check_store(own: SparkFrame) -> None:
    """Refuse a state store that Spark's own operator would refuse when the query starts."""
    if "RocksDB" not in own.session.conf.get(_STORE):
        raise UsageError.no_state_store(_STORE, _ROCKS)


def _check_meaning(sides: tuple[Streamed, ...], reads: Reads) -> None:
    """Refuse texts, and settings, that tasks would compare otherwise than Spark."""
    _check_texts(sides, reads)
    compared = [(sides[0].kind(left), sides[1].kind(right)) for left, right in reads.pairs]
    differs = meaning_differs(sides[0].own.session.conf, reads.parts, [*compared, *_moved(sides, reads)])
    if differs is not None:
        raise UsageError.stream_setting(*differs)


def _moved(sides: tuple[Streamed, ...], reads: Reads) -> Iterator[tuple[pa.DataType, pa.DataType]]:
    """The types of columns that lengths of time move, before and after: a date becomes a moment of some zone."""
    by_name = {side.own.name: side for side in sides}
    for part in reads.parts:
        found = moved_column(part.node)
        if found is not None and found.lengths:
            side = by_name[found.column.table]
            yield side.kind(expression(found.column)), side.kind(part)


def _check_texts(sides: tuple[Streamed, ...], reads: Reads) -> None:
    parts = (*reads.parts, *(own for pair in reads.pairs for own in pair))
    read = {(node.table, node.name) for own in parts for node in own.node.find_all(exp.Column)}
    for side in sides:
        for field in side.own.frame.schema:
            kind = field.dataType.simpleString()
            if " collate " in kind and (side.own.name, field.name) in read:
                full = f"{side.own.name}.{field.name}"
                raise UnsupportedError.collated(full, kind)


def _check_kept(rules: tuple[Rule, ...], sides: tuple[Streamed, ...]) -> None:
    """Refuse to keep rows of a batch frame: they would wait for the end of the stream."""
    for rule in rules:
        if rule.waits and not sides[rule.driving].own.frame.isStreaming:
            raise UsageError.static_side_kept(sides[rule.driving].own.name)


def _shown(own: Joined) -> StructType:
    """The columns of the result; those of an input have its types, of which Arrow does not know every part."""
    made = from_arrow_schema(own.meet(*(side.no_rows for side in own.sides)).schema)
    given = {(side.own.name, field.name): field.dataType for side in own.sides for field in side.own.frame.schema}
    plain = [(column.name, column.plain) for column in own.meet.shown]
    kinds = {name: given[node.table, node.name] for name, node in plain if node is not None}
    return schema_of([(field.name, nullable(kinds.get(field.name, field.dataType))) for field in made])


def _beside_static(own: Joined) -> DataFrame:
    """Every batch of the stream meets all rows of the other frame, which go with the tasks."""
    number = next(i for i, side in enumerate(own.sides) if side.own.frame.isStreaming)
    moving, still = own.sides[number], own.sides[1 - number]
    rows = collected(still.own.frame.select(*map(quoted, still.columns)))
    task = partial(_look_up, own.meet, number, moving.columns, pack(rows))
    return mapped(moving.projected({}), task, _shown(own))


def _look_up(meet: Meet, number: int, columns: tuple[str, ...], still: bytes, batches: Batches) -> Batches:
    other = unpack(pa.py_buffer(still))
    for batch in batches:
        rows = pa.Table.from_batches([batch]).rename_columns(list(columns))
        yield from meet(*((rows, other) if number == 0 else (other, rows))).to_batches()


def _remembering(own: Joined, reach: Reach) -> DataFrame:
    """The results, packed, of both inputs' rows in the cells of their keys, which remember them."""
    keys, cells = own.keys, own.cells
    driving = own.rules[0].driving
    parcels = [_placed(side, i, reach, keys, cells, dealt=i == driving) for i, side in enumerate(own.sides)]
    frame = reduce(type(parcels[0]).union, parcels).withColumn(CELL, F.expr(f"shiftright({PLACE}, 1)"))
    kinds = [key[2] for key in keys]
    turns = tuple(zip(own.meet.turns, own.rules, strict=True))
    empty = [_with_lanes(side.no_rows, kinds) for side in own.sides]
    told = {side.own.name: columns_told(rows.schema, side.time) for side, rows in zip(own.sides, empty, strict=True)}
    cell = Remembered(turns, definition_of(own.meet.asked, told, cells), tuple(map(pack, empty)))
    return frame.groupBy(CELL).transformWithStateInPandas(cell, f"{RESULTS} BINARY", "Append", "EventTime")


def _with_lanes(rows: pa.Table, keys: list[pa.DataType]) -> pa.Table:
    """No rows, with the columns that are computed of them."""
    lanes = {AT: pa.int64(), UNTIL: pa.int64()} | {f"{KEY}{i}": kind for i, kind in enumerate(keys)}
    return pa.schema([*lanes.items(), *rows.schema]).empty_table()


def _key_texts(reach: Reach, sides: tuple[Streamed, ...]) -> list[tuple[str, str, pa.DataType]]:
    found = []
    for key in reach.keys:
        kinds = [_kind(side, own.sql) for side, own in zip(sides, (key.left, key.right), strict=True)]
        if None in kinds:
            continue
        kind = kinds[0] if kinds[0] == kinds[1] else comparison_type(*kinds)
        if kind is not None and not pa.types.is_decimal256(kind) and not pa.types.is_null(kind):
            texts = [f"CAST({own.sql} AS {spark_type(kind)})" for own in (key.left, key.right)]
            found.append((texts[0], texts[1], kind))
    return found


def _kind(side: Streamed, sql: str) -> pa.DataType | None:
    return arrow_type(side.own.frame.alias(side.own.name).selectExpr(f"{sql} AS key").schema["key"].dataType)


def _placed(
    side: Streamed, number: int, reach: Reach, keys: list[tuple[str, str, pa.DataType]], cells: int, *, dealt: bool
) -> DataFrame:
    """The parcels of an input: twice the cell, and 1 more for rows of the right one; without keys, dealt or to all."""
    until = reach.untils[number]
    own = {f"{KEY}{i}": until.where_passing(key[number]) for i, key in enumerate(keys)}
    at = f"unix_micros({quoted(side.own.name)}.{quoted(side.time)})"
    frame = side.projected({AT: at, UNTIL: until.sql} | own)
    if own or dealt:
        by = [*map(quoted, own), f"IF({quoted(UNTIL)} IS NULL, {quoted(AT)}, NULL)"] if own else [quoted(AT)]
        cell = F.expr(f"CAST(pmod(hash({', '.join(by)}), {cells}) AS INT)")  # what is NULL leaves a hash as it is
    else:
        cell = F.explode(F.sequence(F.lit(0), F.lit(cells - 1)))
    return sent(frame.withColumn(PLACE, cell).withColumn(PLACE, F.expr(f"{PLACE} * 2 + {number}")))
