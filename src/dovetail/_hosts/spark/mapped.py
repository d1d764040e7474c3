"""Our functions over the batches of a DataFrame, in Spark's Python workers."""

from __future__ import annotations

import gc
import sys
from functools import cache
from typing import TYPE_CHECKING

from dovetail._hosts.spark.wire import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    Batches = Iterator[pa.RecordBatch]


def mapped(
    frame: DataFrame, task: Callable[[Batches], Batches], schema: StructType | str, *, barrier: bool = False
) -> DataFrame:
    """The rows that a task makes of those of each partition."""

    def run(batches: Batches) -> Batches:
        yield from task(map(plain, batches))
        _settle(len(sys.modules))

    return frame.mapInArrow(run, schema, barrier)


@cache
def _settle(modules: int) -> None:  # noqa: ARG001 -- once for each number of them
    """Set aside, whenever a worker has imported something, what stays in its memory.

    Spark collects garbage after every task. To walk through all that Numba and Arrow have imported takes a tenth of a
    second each time.
    """
    gc.freeze()
