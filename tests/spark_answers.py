"""Spark's own answers to many small joins at once: `spark_answers(spark, sample("band", 200))`.

`assert_sparks_rows` compares the rows of an algorithm with Spark's own; `spark_frame` brings an Arrow table to Spark
with its types as they are.
"""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail.testing import assert_same_rows
from tests.strategies import HOWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from tests.strategies import Case

# Small joins are all planning: compiling them, and adapting their plans, takes longer than running them.
_QUICK = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.shuffle.partitions": "1",
}
_JOINS = dict(
    zip(HOWS, ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"], strict=True)
)
_BATCH = 16
_SPARK_TYPES = {
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.date32(): "date",
    pa.timestamp("us", "UTC"): "timestamp",
    pa.timestamp("us"): "timestamp_ntz",
    pa.duration("us"): "interval day to second",
}


def spark_answers(spark: SparkSession, asked: Sequence[Case]) -> list[list[tuple[Any, ...]]]:
    """Return Spark's own answer to every case, at half the cost of asking for one after the other.

    The tables of 16 cases travel as one, and one query of as many joins says which rows of which case met; the rows
    are then taken from the case's own tables. Each of them is a real Spark join under the case's condition and `how`.
    """
    with quick(spark):
        batches = [asked[at : at + _BATCH] for at in range(0, len(asked), _BATCH)]
        with ThreadPoolExecutor(2) as pool:
            met = [pairs for batch in pool.map(partial(_meetings, spark), batches) for pairs in batch]
    return [_rows(case, pairs) for case, pairs in zip(asked, met, strict=True)]


def assert_sparks_rows(spark: SparkSession, joins: Sequence[Callable[..., DataFrame]], algorithm: str) -> None:
    """Ask every join by an algorithm, and by Spark's own plan: the rows must be the same."""

    def answers(name: str) -> list[pa.Table]:
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(lambda join: join(algorithm=name).toArrow(), joins))

    with quick(spark):
        wanted = answers("spark")
    for found, want in zip(answers(algorithm), wanted, strict=True):
        assert_same_rows(found, want)


def spark_frame(spark: SparkSession, table: pa.Table) -> DataFrame:
    """Return a table as a DataFrame; without a schema, Spark would give its timestamps without zone a zone."""
    schema = ", ".join(f"`{column.name}` {_spark_type(column.type)}" for column in table.schema)
    # In one chunk: Spark 4.3 drops every row that comes after an empty chunk.
    return spark.createDataFrame(table.combine_chunks(), schema)


def _spark_type(arrow: pa.DataType) -> str:
    return f"decimal({arrow.precision},{arrow.scale})" if pa.types.is_decimal(arrow) else _SPARK_TYPES[arrow]


@contextmanager
def quick(spark: SparkSession) -> Iterator[None]:
    """Set Spark to small joins, and back."""
    before = {name: spark.conf.get(name, None) for name in _QUICK}
    for name, quick in _QUICK.items():
        spark.conf.set(name, quick)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.unset(name) if value is None else spark.conf.set(name, value)


def _meetings(spark: SparkSession, batch: Sequence[Case]) -> list[list[tuple[int | None, int | None]]]:
    """Ask Spark, in one query, for the row numbers that every case's join puts side by side."""
    view = f"cases_{uuid.uuid4().hex}"
    spark_frame(spark, _one_table(batch)).createOrReplaceTempView(view)
    answer = spark.sql(" UNION ALL ".join(_query(view, at, case) for at, case in enumerate(batch))).toArrow()
    spark.catalog.dropTempView(view)
    met: list[list[tuple[int | None, int | None]]] = [[] for _ in batch]
    for row in answer.to_pylist():
        met[row["at"]].append((row["left_row"], row["right_row"]))
    return met


def _one_table(batch: Sequence[Case]) -> pa.Table:
    """Return the rows of all tables, each marked with its table; a column's name tells its type."""
    parts = [_marked(f"{side}{at}", table) for at, case in enumerate(batch) for side, table in _sides(case)]
    return pa.concat_tables(parts, promote_options="default")


def _sides(case: Case) -> list[tuple[str, pa.Table]]:
    return [("l", case.left), ("r", case.right)]


def _marked(mark: str, table: pa.Table) -> pa.Table:
    marks = {"mark": pa.array([mark] * len(table), pa.string()), "row": pa.array(range(len(table)), pa.int32())}
    return pa.table(marks | {_typed_name(column): table[column.name] for column in table.schema})


def _typed_name(column: pa.Field) -> str:
    return f"{column.name} {column.type}"


def _query(view: str, at: int, case: Case) -> str:
    left, right = (_from(f"{view} WHERE mark = '{side}{at}'", side, table) for side, table in _sides(case))
    right_row = "CAST(NULL AS INT)" if case.how in ("semi", "anti") else "r.row"
    select = f"SELECT {at} AS at, l.row AS left_row, {right_row} AS right_row"
    return f"{select} FROM {left} {_JOINS[case.how]} {right} ON {case.on}"


def _from(source: str, side: str, table: pa.Table) -> str:
    columns = ", ".join(f"`{_typed_name(column)}` AS {column.name}" for column in table.schema)
    return f"(SELECT row, {columns} FROM {source}) {side}"  # noqa: S608 -- the texts are our own


def _rows(case: Case, pairs: list[tuple[int | None, int | None]]) -> list[tuple[Any, ...]]:
    left, right = (_by_number(table) for _, table in _sides(case))
    if case.how in ("semi", "anti"):
        return [left[i] for i, _ in pairs]
    return [left[i] + right[j] for i, j in pairs]


def _by_number(table: pa.Table) -> dict[int | None, tuple[Any, ...]]:
    """Return the rows by their number; no number is the padding of a row without partner."""
    rows = (tuple(row.values()) for row in table.to_pylist())
    return {None: (None,) * table.num_columns, **dict(enumerate(rows))}


@contextmanager
def changed(spark: SparkSession, settings: dict[str, str]) -> Iterator[None]:
    """Change settings of a session for a while."""
    before = {name: str(spark.conf.get(name)) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
