"""A temporal join of DataFrames: a join over hidden intervals; what is uncovered, by Spark's own window functions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.sql import Window
from pyspark.sql import functions as F

from dovetail._core.condition.inputs import Inputs
from dovetail._core.condition.parse import quoted
from dovetail._core.emit.islands import islands
from dovetail._core.plan.query import read_query
from dovetail._core.plan.validity import END, ROW, START, VALID_END, VALID_START
from dovetail._hosts.ring.wire import chunks
from dovetail._hosts.spark import explain as explained
from dovetail._hosts.spark import join as two
from dovetail._hosts.spark import many
from dovetail._hosts.spark.frames import SparkFrame, open_frames
from dovetail._hosts.spark.mapped import mapped
from dovetail._hosts.spark.task import CHUNK_BYTES, CHUNK_ROWS
from dovetail._hosts.spark.types import arrow_type, nullable, schema_of, spark_type
from dovetail._hosts.spark.validity import axis_of, greatest, hidden
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.window import WindowSpec

    from dovetail._core.condition.inputs import Input
    from dovetail._core.plan.plan import Plan
    from dovetail._core.plan.query import How, OutputColumn
    from dovetail._core.plan.validity import Temporal

MET, REACHED, LAST, NUMBER = "dovetail met", "dovetail reached", "dovetail last", "dovetail number"
"""Of a pair in the line of its row's pairs: the partner, how far those before reach, where all end, and its place."""
STRETCH, FIRST, ISLAND = "dovetail stretch", "dovetail first", "dovetail island"


def frames_of(frames: dict[str, Any]) -> dict[str, SparkFrame]:
    """The caller's DataFrames, checked."""
    return {own.name: own for own in open_frames(frames)}


def inputs_of(frames: dict[str, SparkFrame]) -> list[Input]:
    """What a condition may speak of."""
    return [own.input for own in frames.values()]


def run(asked: Temporal, frames: dict[str, SparkFrame]) -> DataFrame:
    """Join DataFrames while their rows are valid."""
    kind, sides = _sides(asked, frames)
    if asked.how == "inner":
        return _shown(asked, _joined(asked, sides, "inner", asked.select(asked.shown)), kind)
    if asked.how in ("semi", "anti"):
        sides[asked.names[1]] = _by_islands(asked, sides[asked.names[1]])
    kept = [_kept(asked, sides, 1 if asked.how == "right" else 0, pairs=asked.how not in ("semi", "anti"))]
    if asked.how == "full":
        kept.append(_kept(asked, sides, 1, pairs=False))
    return _shown(asked, kept[0] if len(kept) == 1 else kept[0].unionAll(kept[1]), kind)


def explain(asked: Temporal, frames: dict[str, SparkFrame]) -> Plan:
    """Say how DataFrames will be joined: as rows whose intervals overlap."""
    _, sides = _sides(asked, frames)
    if len(sides) > 2:  # noqa: PLR2004 -- three and more are a cascade
        return asked.described(many.explain({name: own.frame for name, own in sides.items()}, on=asked.overlapping))
    query = read_query(Inputs(*asked.hidden_inputs), on=asked.overlapping)
    return asked.described(explained.run(query, *sides.values()))


def _sides(asked: Temporal, frames: dict[str, SparkFrame]) -> tuple[pa.DataType, dict[str, SparkFrame]]:
    """The axis of time, and the frames with their validity on it."""
    if asked.algorithm != "auto":
        raise UsageError.only_in_process(asked.algorithm)
    kind = axis_of(asked, list(frames.values()))
    given = zip(asked.names, asked.validity, strict=True)
    return kind, {name: SparkFrame(name, hidden(own, name, frames[name].frame, kind)) for name, own in given}


def _joined(asked: Temporal, sides: dict[str, SparkFrame], how: How, select: str) -> DataFrame:
    """Pairs that overlap."""
    if len(sides) > 2:  # noqa: PLR2004 -- three and more are a cascade
        return many.run({name: own.frame for name, own in sides.items()}, on=asked.overlapping, select=select)
    inputs = Inputs(*asked.hidden_inputs)
    return two.run(read_query(inputs, on=asked.overlapping, how=how, select=select), *sides.values())


def _shown(asked: Temporal, found: DataFrame, kind: pa.DataType) -> DataFrame:
    """The inputs' columns, then the validity; the greatest end is none."""
    own = [F.col(quoted(column.name)) for column in asked.shown]
    end = F.expr(f"nullif({quoted(END)}, {greatest(kind)})").cast(spark_type(kind))
    return found.select(*own, F.col(quoted(START)).alias(VALID_START), end.alias(VALID_END))


def _kept(asked: Temporal, sides: dict[str, SparkFrame], number: int, *, pairs: bool) -> DataFrame:
    """All stretches of one side's rows that the join type shows; the pairs among them if asked for."""
    found = _in_line(asked, sides, number)
    if asked.how == "semi":
        return _covered(found.filter(_is_met()))
    stretches = _gaps()
    if pairs:
        stretches.append(F.when(_is_met(), _stretch(F.col(quoted(START)), F.col(quoted(END)), unmatched=False)))
    rows = found.withColumn(STRETCH, F.explode(F.array_compact(F.array(*stretches))))
    ends = [F.col(f"{quoted(STRETCH)}.{end}").alias(name) for end, name in (("start", START), ("end", END))]
    return rows.select(*(_column(column, asked.names[number]) for column in asked.shown), *ends)


def _by_islands(asked: Temporal, side: SparkFrame) -> SparkFrame:
    """The right side by its islands, where any partner is as good as another.

    Rows that the condition cannot tell apart come together in as few tasks as hold them. A hot value is shared by many,
    and keeps an island of each.
    """
    read = asked.read_of(1)
    rows = side.frame.select(*map(quoted, (*read, START, END)))
    if any(arrow_type(own.dataType) is None for own in rows.schema):
        return side
    named = [*(f"r{i}" for i in range(len(read))), START, END]  # a hint takes no name with a backtick
    met = rows.toDF(*named)
    met = met.hint("rebalance", *(F.col(own) for own in named[:-2]))
    kinds = [(name, nullable(own.dataType)) for name, own in zip(named, rows.schema, strict=True)]
    found = mapped(met, partial(_islands, named[:-2]), schema_of(kinds)).toDF(*rows.columns)
    return SparkFrame(side.name, found.withColumn(ROW, F.lit(0)))


def _islands(read: list[str], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The islands of a task's rows, some at a time."""
    for table in chunks(batches, CHUNK_ROWS, CHUNK_BYTES):
        yield from islands(table, read).to_batches()


def _in_line(asked: Temporal, sides: dict[str, SparkFrame], number: int) -> DataFrame:
    """The pairs of one side's rows by start, and its unmatched rows.

    Each comes with its row's own interval, its NUMBER in the line of that row, how far those before it have REACHED,
    and where the LAST one ends.
    """
    name, other = asked.names[number], asked.names[1 - number]
    ends = [f"{quoted(name)}.{quoted(own)} AS {quoted(f'own {own}')}" for own in (ROW, START, END)]
    select = ", ".join([asked.select(asked.shown), *ends, f"{quoted(other)}.{quoted(ROW)} AS {quoted(MET)}"])
    found = _joined(asked, sides, "right" if number else "left", select)
    before = _line().rowsBetween(Window.unboundedPreceding, -1)
    found = found.withColumn(REACHED, F.coalesce(F.max(quoted(END)).over(before), _own(START)))
    found = found.withColumn(LAST, F.max(quoted(END)).over(Window.partitionBy(quoted(f"own {ROW}"))))
    return found.withColumn(NUMBER, F.row_number().over(_line()))


def _gaps() -> list[Column]:
    """What no pair covers: all of an unmatched row, a gap before a pair, and, told once, the one behind all."""
    start, end, reached, last = _own(START), _own(END), F.col(REACHED), F.col(LAST)
    before, behind = reached < F.col(quoted(START)), (F.col(NUMBER) == 1) & (last < end)
    return [
        F.when(~_is_met(), _stretch(start, end, unmatched=True)),
        F.when(_is_met() & before, _stretch(reached, F.col(quoted(START)), unmatched=True)),
        F.when(_is_met() & behind, _stretch(last, end, unmatched=True)),
    ]


def _line() -> WindowSpec:
    """The pairs of a row, by start."""
    return Window.partitionBy(quoted(f"own {ROW}")).orderBy(quoted(START))


def _is_met() -> Column:
    return F.col(MET).isNotNull()


def _own(column: str) -> Column:
    return F.col(quoted(f"own {column}"))


def _stretch(start: Column, end: Column, *, unmatched: bool) -> Column:
    return F.struct(start.alias("start"), end.alias("end"), F.lit(unmatched).alias("unmatched"))


def _column(column: OutputColumn, owner: str) -> Column:
    """A column of a stretch; of the other side, NULL where there is no partner."""
    shown = F.col(quoted(column.name))
    if column.plain is not None and column.plain.table == owner:
        return shown
    return F.when(~F.col(f"{quoted(STRETCH)}.unmatched"), shown).alias(column.name)


def _covered(found: DataFrame) -> DataFrame:
    """The stretches in which some partner is valid: a pair that starts behind all before it begins a new one."""
    first = (F.col(NUMBER) == 1) | (F.col(REACHED) < F.col(quoted(START)))
    found = found.withColumn(FIRST, first).withColumn(ISLAND, F.sum(first.cast("int")).over(_line()))
    whole = Window.partitionBy(quoted(f"own {ROW}"), ISLAND)
    return found.withColumn(END, F.max(quoted(END)).over(whole)).filter(F.col(FIRST))
