"""Rows handed over between Spark and the driver, the same whatever the session's settings make of them on the way."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F

from dovetail._core.condition.parse import quoted
from dovetail._hosts.spark.mapped import mapped
from dovetail._hosts.spark.types import is_sealed, nullable, schema_of
from dovetail._hosts.spark.wire import chunks, pack, plain, unpack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    Batches = Iterator[pa.RecordBatch]

PART = "part"
PART_BYTES = 16 << 20
"""A part is about as large."""
_MOST_BYTES = "spark.driver.maxResultSize"
_BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"


def collected(frame: DataFrame) -> pa.Table:
    """The rows of a frame, in the driver.

    Fields of structs may be NULL there: of one that is NULL itself, PySpark 4.3 finds that fields are, which must not.
    Sealed types have such fields whatever a schema says, so values of them come as bytes.
    """
    if any(is_sealed(own.dataType) for own in frame.schema):
        return _unpacked(frame)
    strict = [own for own in frame.schema if own.dataType != nullable(own.dataType)]
    lenient = {own.name: F.col(quoted(own.name)).cast(nullable(own.dataType)) for own in strict}
    return plain((frame.withColumns(lenient) if lenient else frame).toArrow())


def collected_if_allowed(frame: DataFrame) -> pa.Table | None:
    """Likewise; None if they are more bytes than Spark allows into the driver."""
    try:
        return collected(frame)
    except Exception as error:  # classic and Connect have errors of their own, which name the setting alike
        if _MOST_BYTES in str(error):
            return None
        raise


def in_parts(frame: DataFrame) -> DataFrame:
    """The rows of a frame, some tens of thousands of them in each row, as bytes."""
    return mapped(frame, _packed, f"{PART} BINARY")


def _packed(batches: Batches) -> Batches:
    for table in chunks(batches, sys.maxsize, PART_BYTES):
        yield pa.RecordBatch.from_arrays([pa.array([pack(table)], pa.binary())], names=[PART])


def _unpacked(frame: DataFrame) -> pa.Table:
    parts = [unpack(bytes(row[PART])) for row in in_parts(frame).collect()]
    return pa.concat_tables(parts) if parts else plain(frame.limit(0).toArrow())


def created(session: Any, table: pa.Table, schema: StructType) -> DataFrame:
    """A frame of rows that the driver has; as in `collected`, everything in them may be NULL."""
    schema = schema_of([(own.name, nullable(own.dataType)) for own in schema])
    unlimited = int(session.conf.get(_BATCH_ROWS)) <= 0  # Spark's word for no limit, which PySpark 4.3 refuses as one
    if unlimited or any(is_sealed(own.dataType) for own in schema):
        return mapped(session.range(0, 1, 1, 1), partial(_given, pack(table)), schema)
    # In one chunk: Spark 4.3 drops every row that comes after an empty one.
    frame: DataFrame = session.createDataFrame(table.combine_chunks(), schema)
    return frame


def _given(rows: bytes, batches: Batches) -> Batches:
    """The same rows for every batch; there is one."""
    for _ in batches:
        yield from unpack(rows).to_batches()
