"""Arrays that all tasks have: one row that Spark sends along with a plan, and look-ups in generated code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.types import ArrayType, StructField, StructType

from dovetail._hosts.spark.handed import created

if TYPE_CHECKING:
    from typing import Any

    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

    Arrays = dict[str, tuple[pa.Array, DataType]]
    """The values of each array by its name, and their type on Spark."""


def in_one_row(session: Any, columns: Arrays) -> DataFrame:
    """A frame of one row, in which every column is one array."""
    schema = StructType([
        StructField(name, ArrayType(kind, bool(values.null_count)), nullable=False)
        for name, (values, kind) in columns.items()
    ])  # fmt: skip
    lists = [pa.ListArray.from_arrays(pa.array([0, len(own)], pa.int32()), own) for own, _ in columns.values()]
    return created(session, pa.table(lists, list(columns)), schema)


def array(name: str) -> str:
    """An array, in a query to which the row is given as `arrays`."""
    return f"({select(name, '{arrays}')})"


def select(columns: str, rows: str) -> str:
    """A query over names and numbers of our own."""
    return f"SELECT {columns} FROM {rows}"  # noqa: S608 -- our own names and numbers
