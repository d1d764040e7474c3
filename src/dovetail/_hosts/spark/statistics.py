"""What is known of both sides after reading each once: how many rows, extremes of the compared values, and a sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import functions as F  # noqa: N812

from dovetail._core.columns.order_keys import order_keys
from dovetail._hosts.spark.wire import pack, unpack, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dovetail._hosts.spark.sides import Sides, SparkSide

SAMPLED = 4096
_SCHEMA = "side int, rows bigint, fitting bigint, sample binary, extremes binary"
_ARROW = pa.schema(
    [
        ("side", pa.int32()),
        ("rows", pa.int64()),
        ("fitting", pa.int64()),
        ("sample", pa.binary()),
        ("extremes", pa.binary()),
    ]
)


@dataclass(frozen=True)
class Statistics:
    """One side: its rows, those that can match at all, a sample of these, and the least and greatest of each value.

    `tasks` is how many Spark tasks had rows of it.

    `extremes` has a column for each compared value and two rows, or none if no row can match.
    """

    rows: int
    fitting: int
    tasks: int
    sample: pa.Table
    extremes: pa.Table


def read_statistics(sides: Sides) -> tuple[Statistics, Statistics]:
    """Read both sides in one job, each row once, only the columns that the condition needs."""
    left, right = (_summaries(number, side) for number, side in enumerate((sides.left, sides.right)))
    found = left.union(right).toArrow().to_pylist()
    own = [[row for row in found if row["side"] == number] for number in (0, 1)]
    return _merged(own[0], sides.left), _merged(own[1], sides.right)


def _summaries(number: int, side: SparkSide):  # type: ignore[no-untyped-def]  # noqa: ANN202 -- a DataFrame
    read = {"fits", *side.named("k"), *side.named("v")}
    needed = list(dict.fromkeys(first for name, first in side.same if name in read))
    keys = side.frame.select(*needed) if needed else side.frame.select(F.lit(0).alias("none"))
    return keys.mapInArrow(
        _summarise(number, side.named("v"), tuple(own for own in side.same if own[0] in read)), _SCHEMA
    )


def _summarise(
    number: int, values: list[str], same: tuple[tuple[str, str], ...]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A task's summary of its share of a side."""

    def summarise(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows, fitting = 0, 0
        samples: list[pa.Table] = []
        extremes: list[pa.Table] = []
        random = np.random.default_rng(_task_number())
        for batch in batches:
            rows += batch.num_rows
            usable = usable_rows(whole(pa.Table.from_batches([batch]), same), values)
            fitting += usable.num_rows
            if usable.num_rows:
                samples.append(usable.append_column("__draw", pa.array(random.random(usable.num_rows))))
                extremes.append(ends(usable.select(values)))
            if len(samples) > 16:  # noqa: PLR2004 -- keep what a task holds small
                samples = [lowest_draws(samples)]
        if not rows:
            return
        sample = pack(lowest_draws(samples)) if samples else None
        found = pack(ends(pa.concat_tables(extremes))) if extremes else None
        row = (number, rows, fitting, sample, found)
        yield pa.RecordBatch.from_arrays([pa.array([own]) for own in row], names=_ARROW.names).cast(_ARROW)

    return summarise


def _task_number() -> int:
    """Tasks must not draw alike, and a task that runs again must draw as before."""
    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def usable_rows(table: pa.Table, values: list[str]) -> pa.Table:
    """The rows that can match: filters hold and no compared value is NULL."""
    if "fits" in table.column_names:
        table = table.filter(table.column("fits")).drop_columns("fits")
    for name in values:
        if table.column(name).null_count:
            table = table.filter(table.column(name).is_valid())
    return table


def lowest_draws(tables: list[pa.Table]) -> pa.Table:
    """The rows with the lowest random draws: a uniform sample, however the rows were split."""
    table = pa.concat_tables(tables)
    if table.num_rows <= SAMPLED:
        return table
    draws = table.column("__draw").to_numpy()
    return table.take(pa.array(np.argpartition(draws, SAMPLED)[:SAMPLED]))


def ends(table: pa.Table) -> pa.Table:
    """The least and the greatest of each column, by the order of Spark."""
    columns = []
    for name in table.column_names:
        array = table.column(name).combine_chunks()
        keys = order_keys([array])[0]
        columns.append(array.take(pa.array([int(keys.argmin()), int(keys.argmax())])))
    return pa.Table.from_arrays(columns, names=table.column_names)


def _merged(found: list[dict[str, object]], side: SparkSide) -> Statistics:
    """The summaries of all tasks as one."""
    rows = sum(int(row["rows"]) for row in found)  # type: ignore[call-overload]
    fitting = sum(int(row["fitting"]) for row in found)  # type: ignore[call-overload]
    samples = [unpack(row["sample"]) for row in found if row["sample"] is not None]  # type: ignore[arg-type]
    extremes = [unpack(row["extremes"]) for row in found if row["extremes"] is not None]  # type: ignore[arg-type]
    empty = pa.table({name: pa.nulls(0) for name in (*side.named("k"), *side.named("v"))})
    sample = lowest_draws(samples).drop_columns("__draw") if samples else empty
    return Statistics(rows, fitting, len(found), sample, ends(pa.concat_tables(extremes)) if extremes else empty)
