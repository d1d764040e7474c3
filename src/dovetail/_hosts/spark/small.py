"""A side that Spark takes to be small, brought to the driver at once: reading statistics would cost more than it tells.

Spark's estimate may be wrong either way. Too great, and the statistics decide as for any other input; too small, and
the rows are cut off where a broadcast ends, which shows, and the statistics decide again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from dovetail._core.columns.order_keys import order_keys
from dovetail._core.plan.decide import BROADCAST_BYTES
from dovetail._hosts.ring.projection import whole
from dovetail._hosts.spark.at_once import at_once
from dovetail._hosts.spark.handed import collected_if_allowed
from dovetail._hosts.spark.statistics import ROW_BITS, Pieces

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

    from dovetail._hosts.spark.sides import Sides, SparkSide

_UNITS = {unit: 1024**i for i, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"))}
_BRANCH = re.compile(r"^[:+]- ", re.MULTILINE)
_SIZE = re.compile(rf"Statistics\(sizeInBytes=([\d.E+]+) ({'|'.join(_UNITS)})")
_IN_FILES = re.compile(r"\W*(Project|Relation.*\] (parquet|orc|avro|csv|json|text)\b)")
SAMPLED = 4096
"""So many rows of a side that was brought tell enough of it."""


@dataclass(frozen=True)
class Brought:
    """Rows of the right side in the driver: its columns that travel. And how the left side is cut."""

    table: pa.Table
    pieces: Pieces


@dataclass(frozen=True, slots=True)
class Planned:
    """What Spark plans for the columns of a side that travel, before reading any: about how many bytes, and how."""

    size: float
    """Endless if it cannot tell."""
    is_scan: bool
    """Whether it takes all rows as they lie in files, so that the first of them cost no more than these."""


_UNKNOWN = Planned(float("inf"), is_scan=False)


def planned(sides: Sides) -> tuple[Planned, Planned]:
    """Ask Spark of both sides at once: they are the two branches of a plan."""
    left, right = (side.frame.selectExpr(*side.travelling) for side in (sides.left, sides.right))
    plan = left.sparkSession.sql("EXPLAIN COST SELECT * FROM {both}", both=left.crossJoin(right)).collect()[0]
    branches = _BRANCH.split(plan[0].split("\n\n")[0])[1:]
    found = [_read_branch(branch) for branch in branches]
    return (found[0], found[1]) if len(found) == 2 else (_UNKNOWN, _UNKNOWN)  # noqa: PLR2004 -- two sides


def _read_branch(branch: str) -> Planned:
    steps = branch.strip().splitlines()
    size = _SIZE.search(steps[0])
    return Planned(float(size[1]) * _UNITS[size[2]] if size else float("inf"), all(map(_IN_FILES.match, steps)))


def lies_in_files(frame: DataFrame) -> bool:
    """Whether Spark takes all rows of a frame as they lie in files.

    It is asked of the frame and a column more: the query's view is dropped again, and what a view shows leaves Spark's
    cache with it.
    """
    plan = frame.sparkSession.sql("EXPLAIN COST SELECT * FROM {more}", more=frame.select("*", F.lit(0))).collect()[0]
    return _read_branch(plan[0].split("\n\n")[0].partition("\n")[2]).is_scan


def bring(sides: Sides, look: Callable[[SparkSide], Pieces] | None, *, kept: bool = False) -> Brought | None:
    """Bring the right side while something looks at the left one; None if it is too much.

    Rows that cannot match come along if they are `kept`.
    """
    rows, pieces = partial(_all if kept else _matching, sides, sides.right), Pieces(0, 0)
    if look is None:
        table = rows()
    else:
        pieces, table = at_once(sides.left.frame.sparkSession, partial(look, sides.left), rows)
    return None if table is None else Brought(table, pieces)


def bring_both(sides: Sides, most: int) -> tuple[pa.Table, pa.Table] | None:
    """Bring the rows of both sides that can match; None if either has more bytes than that."""
    ours, theirs = (partial(_matching, sides, own, most) for own in (sides.left, sides.right))
    left, right = at_once(sides.left.frame.sparkSession, ours, theirs)
    return None if left is None or right is None else (left, right)


def _all(_: Sides, own: SparkSide) -> pa.Table | None:
    """The rows of a side in the driver; None if they are too much."""
    return bounded(own.frame.selectExpr(*own.travelling), own.row_bytes)


def _matching(sides: Sides, own: SparkSide, most: int = BROADCAST_BYTES) -> pa.Table | None:
    """Those that can match."""
    return bounded(own.frame.filter(sides.can_match(own)).selectExpr(*own.travelling), own.row_bytes, most)


def bounded(frame: DataFrame, row_bytes: int, most: int = BROADCAST_BYTES) -> pa.Table | None:
    """A frame in the driver; None if it is too much to travel: no task gives more than that, but all of them may."""
    rows = max(1, most // max(1, row_bytes))
    table = collected_if_allowed(frame.filter(f"(monotonically_increasing_id() & {(1 << ROW_BITS) - 1}) <= {rows}"))
    return table if table is not None and table.num_rows <= rows else None


def sample_brought(table: pa.Table, side: SparkSide) -> pa.Table:
    """Some of the rows that were brought: what the condition reads of them."""
    rows = np.linspace(0, table.num_rows, min(SAMPLED, table.num_rows), endpoint=False, dtype=np.int64)
    return whole(table.take(pa.array(rows)), side.same).select([*side.named("k"), *side.named("v")])


def extremes_of(table: pa.Table, side: SparkSide) -> pa.Table:
    """The least and greatest of each compared value, of rows that have all; no rows if there are none."""
    values = whole(table, side.same).select(side.named("v")).drop_null()
    if values.num_rows == 0:
        return values
    return pa.table({name: _ends(values.column(name)) for name in values.column_names})


def _ends(column: pa.ChunkedArray) -> pa.Array:
    if not pa.types.is_floating(column.type) and not pa.types.is_duration(column.type):
        return pa.array(list(pc.min_max(column).values()), column.type)
    array = column.combine_chunks()
    keys = order_keys([array])[0]
    return array.take(pa.array([np.argmin(keys), np.argmax(keys)]))
