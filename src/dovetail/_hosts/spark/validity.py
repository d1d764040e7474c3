"""Intervals of validity as hidden columns of a DataFrame, in the axis's own type."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F

from dovetail._core.columns.axis import numbers
from dovetail._core.columns.civil import MICROS_PER_DAY
from dovetail._core.columns.types import WORD_DIGITS
from dovetail._core.columns.validity import offset_of, validity_axis
from dovetail._core.condition.parse import quoted
from dovetail._core.plan.validity import END, ROW, START
from dovetail._hosts.spark.types import arrow_type, literal_text, micros_text, spark_type
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from fractions import Fraction

    from pyspark.sql import DataFrame

    from dovetail._core.condition.window import Window
    from dovetail._core.plan.validity import Temporal, Validity
    from dovetail._hosts.spark.frames import SparkFrame

_FURTHEST = 1 << 65
"""So many ticks lead off any axis."""


def axis_of(asked: Temporal, frames: list[SparkFrame]) -> pa.DataType:
    """The type in which the instants of all inputs are compared."""
    return validity_axis(asked, [_schema(own, frame) for own, frame in zip(asked.validity, frames, strict=True)])


def _schema(own: Validity, frame: SparkFrame) -> pa.Schema:
    """The time columns of a frame; a type of which we know no order is as good as text."""
    names = [name for name in (own.start, own.end) if name is not None]
    kinds = {field.name: arrow_type(field.dataType) for field in frame.frame.schema.fields}
    return pa.schema([(name, kinds[name] or pa.string()) for name in names])


def hidden(own: Validity, name: str, frame: DataFrame, kind: pa.DataType) -> DataFrame:
    """A frame with START, END and ROW, of rows that are valid at all; refuse an end before its start."""
    column, axis = f"CAST({quoted(own.start)} AS {spark_type(kind)})", spark_type(kind)
    timed = frame.withColumn(START, F.expr(_number(column, kind)))
    if own.end is not None:
        end = _number(f"CAST({quoted(own.end)} AS {axis})", kind)
    else:
        assert own.window is not None
        end = _window_end(own.window, quoted(START), kind)
    timed = timed.withColumn(END, F.expr(f"coalesce({end}, {greatest(kind)})"))
    _refuse_reversed(own, name, timed)
    return timed.filter(f"{quoted(START)} < {quoted(END)}").withColumn(ROW, F.monotonically_increasing_id())


def _refuse_reversed(own: Validity, name: str, timed: DataFrame) -> None:
    """Ask for one row that ends before it starts; windows cannot."""
    if own.end is None:
        return
    wrong = timed.filter(f"{quoted(END)} < {quoted(START)}").select(
        F.col(quoted(START)).cast("string"), F.col(quoted(END)).cast("string")
    )
    for row in wrong.limit(1).collect():
        raise UsageError.ends_before_start(name, row[0], row[1])


def _number(column: str, kind: pa.DataType) -> str:
    """A column of instants; NaN is none."""
    return f"nullif({column}, CAST('NaN' AS DOUBLE))" if pa.types.is_floating(kind) else column


def greatest(kind: pa.DataType) -> str:
    """What stands for no end: the greatest value of the axis, as Spark SQL."""
    if pa.types.is_floating(kind):
        return "CAST('NaN' AS DOUBLE)"
    if pa.types.is_decimal(kind):
        return f"CAST('{10**WORD_DIGITS - 1}E-{kind.scale}' AS {spark_type(kind)})"
    most = (1 << (31 if pa.types.is_date(kind) else 63)) - 1
    whole = pa.scalar(most, pa.int32() if pa.types.is_date(kind) else pa.int64())
    return literal_text(whole.cast(kind))


def _window_end(window: Window, start: str, kind: pa.DataType) -> str:
    """The end of a row's validity as Spark SQL; NULL if it leaves the axis."""
    if window.kind == "unbounded":
        return f"CAST(NULL AS {spark_type(kind)})"
    length = numbers(offset_of(window), kind, None)
    if pa.types.is_floating(kind):
        step = f"CAST('{float(length)!r}' AS DOUBLE)"
        multiple = (
            f"CASE WHEN abs({start} / {step}) < 9E18D THEN (floor({start} / {step}) + 1) * {step} ELSE {start} END"
        )
        end = f"{start} + {step}" if window.kind == "sliding" else multiple
        return f"nullif(nullif({end}, CAST('Infinity' AS DOUBLE)), CAST('-Infinity' AS DOUBLE))"
    length = min(length, _FURTHEST)
    return _moved(start, f"{ceil(length)}" if window.kind == "sliding" else _to_multiple(start, length, kind), kind)


def _moved(start: str, by: str, kind: pa.DataType) -> str:
    """An instant moved forward by some ticks; NULL if that leaves the axis.

    Moments with a zone are moved as numbers: Spark counts the days of an interval by the session's clocks.
    """
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return f"timestamp_micros({_sum(f'unix_micros({start})', by, 'BIGINT')})"
    if pa.types.is_timestamp(kind):
        seconds = f"CAST(({by}) % {MICROS_PER_DAY} * 0.000001BD AS DECIMAL(18, 6))"
        interval = f"make_dt_interval(CAST(({by}) DIV {MICROS_PER_DAY} AS INT), 0, 0, {seconds})"
        return f"CASE WHEN {by} < {1 << 63} THEN try_add({start}, {interval}) END"
    if pa.types.is_date(kind):
        return f"date_from_unix_date({_sum(f'unix_date({start})', by, 'INT')})"
    if pa.types.is_decimal(kind):
        tick, axis = f"CAST('1E-{kind.scale}' AS {spark_type(kind)})", spark_type(kind)
        return f"try_cast({start} + try_cast({by} AS DECIMAL(19, 0)) * {tick} AS {axis})"
    return _sum(start, by, "BIGINT")


def _sum(number: str, by: str, kind: str) -> str:
    """A whole number moved forward, by more than its type holds if need be; NULL if that leaves the type."""
    return f"try_cast(CAST({number} AS DECIMAL(38, 0)) + {by} AS {kind})"


def _to_multiple(start: str, length: Fraction, kind: pa.DataType) -> str:
    """How many ticks lie between an instant and the first one at or after the next multiple of a length p/q."""
    if length <= 1:
        return "1"
    exact = f"CAST({_ticks(start, kind)} AS DECIMAL(38, 0))"
    p, q = (f"CAST({own} AS DECIMAL(38, 0))" for own in (length.numerator, length.denominator))
    if length.denominator == 1:
        return f"({p} - pmod({exact}, {p}))"
    up = f"({p} - pmod({exact} * {q}, {p}) + {q} - 1)"  # divided without a rest: Spark rounds quotients to six digits
    return f"CAST(({up} - pmod({up}, {q})) / {q} AS DECIMAL(38, 0))"


def _ticks(start: str, kind: pa.DataType) -> str:
    if pa.types.is_date(kind):
        return f"unix_date({start})"
    if pa.types.is_decimal(kind):
        return f"({start} * CAST('1E{kind.scale}' AS DECIMAL(19, 0)))"
    return micros_text(start, kind) if pa.types.is_timestamp(kind) else start
