"""From a call to a running join over streams."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail._core.columns.axis import check_offset, numbers
from dovetail._core.columns.validity import validity_axis
from dovetail._core.condition.inputs import Input, Inputs
from dovetail._core.plan.knobs import read_path
from dovetail._core.plan.offset import read_offset
from dovetail._core.plan.query import read_query
from dovetail._core.plan.validity import read_temporal
from dovetail._core.sweep.runs.files import RunDirectory
from dovetail._core.sweep.runs.strategy import Strategy
from dovetail._hosts.arrow.frames import open_frames
from dovetail._hosts.arrow.plain import roomy_schema
from dovetail._hosts.arrow.streams.feed import drive, in_pieces, open_stream, refuse_twice
from dovetail._hosts.arrow.streams.linked import read_linked
from dovetail._hosts.arrow.streams.progressive import ProgressiveOperator
from dovetail._hosts.arrow.streams.temporal import Streams, TemporalOperator
from dovetail._hosts.arrow.streams.threads import Workers
from dovetail._hosts.arrow.streams.tpmj import TpmjOperator
from dovetail.errors import UsageError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from dovetail._core.plan.validity import Temporal


@dataclass(frozen=True, slots=True)
class OnDisk:
    """What a join with runs on disk may use."""

    memory: int = 64 << 20
    directory: str | os.PathLike[str] | None = None
    fan_in: int = 8
    strategy: str = "greedy"

    def __post_init__(self) -> None:
        """Refuse a limit that is none."""
        if not isinstance(self.memory, int) or isinstance(self.memory, bool) or self.memory < 1:
            raise UsageError.no_memory(self.memory)


def temporal(
    inputs: dict[str, Any],
    call: dict[str, Any],
    *,
    lateness: object,
    late: Callable[..., None] | None,
    disk: dict[str, Any],
) -> pa.RecordBatchReader:
    """Join named streams."""
    opened = _opened(inputs)
    schemas = {name: schema for name, (schema, _) in opened.items()}
    operator = operator_of(schemas, call, lateness=lateness, late=late, disk=disk)
    feeds = {name: batches for name, (_, batches) in opened.items()}
    if isinstance(operator, TpmjOperator):
        feeds = {name: in_pieces(batches, operator.external.memory) for name, batches in feeds.items()}
    results = drive(operator, feeds)
    return pa.RecordBatchReader.from_batches(operator.told.schema, results)


def _opened(inputs: dict[str, Any]) -> dict[str, tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
    if len(inputs) < 2:  # noqa: PLR2004 -- a join has two sides at least
        raise UsageError.number_of_streams(len(inputs))
    refuse_twice(inputs)
    return {name: open_stream(name, given) for name, given in inputs.items()}


def operator_of(
    schemas: dict[str, pa.Schema],
    call: dict[str, Any],
    *,
    lateness: object,
    late: Callable[..., None] | None,
    disk: dict[str, Any],
) -> TemporalOperator | TpmjOperator:
    """The operator of a call."""
    if len(schemas) < 2:  # noqa: PLR2004 -- a join has two sides at least
        raise UsageError.number_of_streams(len(schemas))
    for name, schema in schemas.items():
        if not isinstance(schema, pa.Schema):
            raise UsageError.needs_schema(name, type(schema).__name__)
    if late is not None and not callable(late):
        raise UsageError.no_hook("late", late)
    schemas = {name: roomy_schema(schema) for name, schema in schemas.items()}
    asked = read_temporal(tuple(Input(name, tuple(schema.names)) for name, schema in schemas.items()), **call)
    return operator_for(asked, tuple(schemas.values()), lateness=lateness, late=late, disk=disk)


def operator_for(
    asked: Temporal,
    kinds: tuple[pa.Schema, ...],
    *,
    lateness: object = 0,
    late: Callable[..., None] | None = None,
    disk: dict[str, Any],
) -> TemporalOperator | TpmjOperator:
    """The operator of a call that has been read."""
    axis = validity_axis(asked, kinds)
    linked = read_linked(asked.on, asked.inputs, kinds)
    told = Streams(asked, linked, kinds, axis, _lateness(lateness, axis), late)
    given = {name: value for name, value in disk.items() if value is not None}
    if asked.algorithm != "tpmj":
        for name, value in given.items():
            raise UsageError.knob_of_others(name, value, asked.algorithm, ("tpmj",))
        return TemporalOperator(told)
    if asked.how != "inner":
        raise UsageError.only_inner("tpmj", asked.how)
    own = OnDisk(**given)
    return TpmjOperator(told, own.memory, directory_of(own), Strategy(own.strategy, own.fan_in))


def directory_of(own: OnDisk) -> RunDirectory:
    """A folder of this join's own, within the caller's directory or the system's for what is temporary."""
    given = own.directory if own.directory is not None else tempfile.gettempdir()
    return RunDirectory.within(read_path("directory", given))


def progressive(inputs: dict[str, Any], call: dict[str, Any], disk: dict[str, Any]) -> pa.RecordBatchReader:
    """Join two named streams by the progressive merge join."""
    opened = _opened(inputs)
    if len(opened) > 2:  # noqa: PLR2004 -- its groups are of two inputs
        raise UsageError.two_streams(len(opened))
    schemas = [schema for schema, _ in opened.values()]
    names = [Input(name, tuple(schema.names)) for name, (schema, _) in opened.items()]
    query = read_query(Inputs(*names), **call)
    if query.how != "inner" or query.per is not None:
        raise UsageError.only_inner("progressive", query.how)
    own = OnDisk(**{name: value for name, value in disk.items() if value is not None})
    linked = read_linked(call["on"], tuple(names), schemas)
    strategy = Strategy(own.strategy, own.fan_in)
    operator = ProgressiveOperator(query, linked, schemas, own.memory, directory_of(own), strategy)
    feeds = {name: in_pieces(batches, own.memory) for name, (_, batches) in opened.items()}
    return pa.RecordBatchReader.from_batches(operator.schema, _progressive(operator, feeds))


def as_streams(frames: dict[str, Any]) -> tuple[dict[str, Any], Callable[[pa.RecordBatchReader], Any]]:
    """Frames as streams, and how a result becomes a frame of the first one's kind; streams stay what they are."""
    first = next(iter(frames.values()))
    if not hasattr(first, "__arrow_c_stream__") and not hasattr(first, "to_arrow_table"):
        return frames, lambda reader: reader
    opened = open_frames(frames)
    restore = next(iter(opened.values())).restore
    return {name: own.table for name, own in opened.items()}, lambda reader: restore(reader.schema, iter(reader))


def _progressive(operator: ProgressiveOperator, feeds: dict[str, Iterator[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
    """Take batches of both inputs in turn; sort and merge meanwhile."""
    workers = Workers(operator)
    try:
        for name, batch in _in_turn(feeds):
            if batch.num_rows and operator.on_batch(name, batch):
                yield from workers.sort(operator.take_lists())
                workers.merge_if_due()
        yield from workers.sort(operator.take_lists())
        yield from workers.finish()
    finally:
        workers.stop()
        operator.external.directory.clear()


def _in_turn(feeds: dict[str, Iterator[pa.RecordBatch]]) -> Iterator[tuple[str, pa.RecordBatch]]:
    """One batch of each input after the other, until all have ended."""
    while feeds:
        for name in list(feeds):
            batch = next(feeds[name], None)
            if batch is None:
                del feeds[name]
            else:
                yield name, batch


def _lateness(given: object, axis: pa.DataType) -> int:
    """How far rows may be behind, in order keys; on doubles, which have no even ticks, only not at all."""
    offset = read_offset("lateness", given, Input("", ()))
    if given != 0:
        check_offset("lateness", offset, axis, None)
    size = numbers(offset, axis, None)
    if size < 0:
        raise UsageError.no_fixed_distance("lateness", given)
    if size and pa.types.is_floating(axis):
        raise UsageError.needs_ticks("lateness")
    return int(size)
