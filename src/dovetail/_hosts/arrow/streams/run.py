"""From a call to a running join over streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail._core.columns.axis import check_offset, numbers
from dovetail._core.columns.validity import validity_axis
from dovetail._core.condition.inputs import Input
from dovetail._core.plan.offset import read_offset
from dovetail._core.plan.validity import read_temporal
from dovetail._hosts.arrow.streams.feed import drive, open_stream
from dovetail._hosts.arrow.streams.linked import read_linked
from dovetail._hosts.arrow.streams.temporal import Streams, TemporalOperator
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable


def temporal(
    inputs: dict[str, Any], call: dict[str, Any], *, lateness: object, late: Callable[..., None] | None
) -> pa.RecordBatchReader:
    """Join named streams."""
    if len(inputs) < 2:  # noqa: PLR2004 -- a join has two sides at least
        raise UsageError.number_of_inputs(len(inputs))
    opened = {name: open_stream(name, given) for name, given in inputs.items()}
    operator = operator_of({name: schema for name, (schema, _) in opened.items()}, call, lateness=lateness, late=late)
    feeds = {name: batches for name, (_, batches) in opened.items()}
    results = drive(operator, feeds, lambda name: operator.arrivals[name].frontier)
    return pa.RecordBatchReader.from_batches(operator.told.schema, results)


def operator_of(
    schemas: dict[str, pa.Schema], call: dict[str, Any], *, lateness: object, late: Callable[..., None] | None
) -> TemporalOperator:
    """The operator of a call."""
    asked = read_temporal(tuple(Input(name, tuple(schema.names)) for name, schema in schemas.items()), **call)
    kinds = tuple(schemas.values())
    axis = validity_axis(asked, kinds)
    linked = read_linked(asked.on, asked.inputs, kinds)
    return TemporalOperator(Streams(asked, linked, kinds, axis, _lateness(lateness, axis), late))


def _lateness(given: object, axis: pa.DataType) -> int:
    """How far rows may be behind, in order keys; on doubles, which have no even ticks, only not at all."""
    offset = read_offset("lateness", given, Input("", ()))
    if given != 0:
        check_offset("lateness", offset, axis, None)
    size = numbers(offset, axis, None)
    if size < 0:
        raise UsageError.negative_lateness(given)
    if size and pa.types.is_floating(axis):
        raise UsageError.needs_ticks("lateness")
    return int(size)
