"""SOJA on Spark: a barrier stage in which each task holds its part of the large side, and the small side goes around.

Meaning      the join, of which each task gives the pairs of its part, and each part of the small side, back from its
             way through all tasks, its rows that found no partner.
Needs        as many task slots as the large side has tasks: a ring begins when all its tasks run. Spark does not let a
             barrier stage cut its input anew, so the large side's tasks are the ring's, unless `partitions` asks for
             another number, which moves its rows once.
How          as `ring.worker.soja`; the small side waits, part by part, in a file of the driver (`ring.feeder`).
Edges        a task that is lost takes its stage with it, and Spark runs all of it again. It does so only if others read
             the stage through a shuffle, and can show the first rows only then: so each task's rows go through one, to
             a task of their own.
State        a task's part of the large side, in the order of its keys, and two parts of the small one.
Worst case   a task slower than the others is waited for by all.
Source       the third document; Spark's barrier stages.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType

from dovetail._core.condition.parse import told
from dovetail._core.emit.meeting import Meeting
from dovetail._core.plan.outer import Kept
from dovetail._hosts.ring.feeder import feeder
from dovetail._hosts.ring.sockets import SocketLinks
from dovetail._hosts.ring.worker import Worker, soja
from dovetail._hosts.spark.frames import cores_of, host_of
from dovetail._hosts.spark.handed import PART, collected, in_parts
from dovetail._hosts.spark.mapped import mapped
from dovetail._hosts.spark.residuals import task_can_test
from dovetail._hosts.spark.rewrite import rewritten
from dovetail._hosts.spark.statistics import count_pieces
from dovetail._hosts.spark.task import NOTHING, counted
from dovetail._hosts.spark.types import schema_of
from dovetail._hosts.spark.wire import pack, unpack
from dovetail.errors import UnsupportedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

    from dovetail._core.plan.query import Query
    from dovetail._hosts.ring.feeder import Fetch
    from dovetail._hosts.ring.projection import Projection
    from dovetail._hosts.spark.sides import Sides, SparkSide

    Batches = Iterator[pa.RecordBatch]

SECRET = secrets.token_bytes(32)


def refuse_residuals_of_ring(sides: Sides) -> None:
    """Refuse a part of the condition that only Spark can test: a ring's pairs are made by its tasks."""
    if not task_can_test(sides):
        raise UnsupportedError.residual_in_ring(told(sides.condition.residuals[-1]))


def ring(query: Query, sides: Sides) -> DataFrame | None:
    """The join, with the travelling side on the left of `sides`; None if no task would read the large side."""
    refuse_residuals_of_ring(sides)
    travels, stays = sides.left, sides.right
    tasks = _tasks(query, stays)
    if tasks == 0:
        return None
    large = stays.frame.select(*stays.travelling)
    if query.cells is not None:
        large = large.repartition(tasks)
    kept = Kept.of(query.how, "left" if travels.name == query.inputs.left.name else "right")
    ours, theirs = (own.showing(query.read_by_output(own.name)) for own in (travels, stays))
    meeting = Meeting(sides.condition, ours, theirs, kept)
    fetch = feeder(host_of(stays.frame), SECRET).keep(_packed(travels), _nothing(travels))
    places, fields = _output(query, sides, (ours, theirs))
    task = ring_task(meeting, fetch, _nothing(stays), [name for name, _ in fields])
    joined = mapped(large, task, schema_of(fields), barrier=True).repartitionById(tasks, F.spark_partition_id())
    return joined.select(*(F.expr(rewritten(own.shows.node, places)).alias(own.name) for own in query.output))


def ring_task(meeting: Meeting, fetch: Fetch, nothing: bytes, names: list[str]) -> Callable[[Batches], Batches]:
    """One task of the ring: its part of the large side in, its rows of the result out."""

    def run(batches: Batches) -> Batches:
        from pyspark import BarrierTaskContext  # noqa: PLC0415 -- only tasks have one

        context = BarrierTaskContext.get()
        tasks = context.getTaskInfos()
        rank = context.partitionId()
        stored = table_of(batches, nothing)
        worker = Worker(meeting, fetch.parts(rank, len(tasks)), stored)
        links = SocketLinks(tasks[rank].address.rsplit(":", 1)[0], fetch.secret)
        try:
            places = [place.rsplit(":", 1) for place in context.allGather("{}:{}".format(*links.place))]
            links.join(rank, [(host, int(port)) for host, port in places])
            del stored
            for batch in soja(worker, links):
                if batch.num_rows:
                    yield counted(batch.columns, names, batch.num_rows)
        except BaseException:
            links.abort()
            raise
        links.close()

    return run


def table_of(batches: Batches, nothing: bytes) -> pa.Table:
    """Batches as a table; `nothing` if there are none."""
    found = list(batches)
    return pa.Table.from_batches(found) if found else unpack(nothing)


def _tasks(query: Query, stays: SparkSide) -> int:
    """How many tasks the ring has, no more than can run at once; 0 if the large side has no rows."""
    slots = cores_of(stays.frame)
    if query.cells is not None and query.cells > slots:
        raise UsageError.too_few_slots(stays.name, query.cells, slots)
    pieces = count_pieces(stays)
    tasks = pieces.tasks if query.cells is None or pieces.rows == 0 else query.cells
    if tasks > slots:
        raise UsageError.too_few_slots(stays.name, tasks, slots)
    return tasks


def _packed(side: SparkSide) -> Iterator[bytes]:
    """The travelling side, part by part; no more than one of them is in the driver at a time."""
    for row in in_parts(side.frame.select(*side.travelling)).toLocalIterator():
        yield bytes(row[PART])


def _nothing(side: SparkSide) -> bytes:
    """A part of a side without rows, of the types in which its rows will come."""
    return pack(collected(side.frame.select(*side.travelling).limit(0)))


def _output(
    query: Query, sides: Sides, readers: tuple[Projection, Projection]
) -> tuple[dict[tuple[str, str], str], list[tuple[str, DataType]]]:
    """Where each input's columns stand in what the tasks give, and the types of all columns."""
    places, fields = {}, []
    for letter, side, reader in zip("ao", (sides.left, sides.right), readers, strict=True):
        for i, (name, place) in enumerate(zip(query.read_by_output(side.name), reader.showing, strict=True)):
            places[side.name, name] = f"{letter}{i}"
            fields.append((f"{letter}{i}", side.schema[place].dataType))
    return places, fields or [(NOTHING, BooleanType())]
