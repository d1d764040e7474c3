"""Intervals of validity as order keys: `[start, end)` on one axis of time, and back into its values.

An end that is NULL, NaN or beyond the axis is no end: MOST, which every start lies below. A row whose start is NULL or
NaN, or whose interval is empty, is valid at no instant.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dovetail._core.columns.axis import MOST, axis_type, bound, check_distance, check_offset, numbers, steps, ticks_of
from dovetail._core.columns.cast import cast
from dovetail._core.columns.order_keys import float_keys, from_keys, is_plain
from dovetail._core.columns.types import WORD_DIGITS, canonical, canonicalise, sql_name
from dovetail._core.plan.offset import Duration, Number
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail._core.condition.window import Window
    from dovetail._core.plan.offset import Offset
    from dovetail._core.plan.validity import Temporal, Validity

WORD = 64


@dataclass(frozen=True, slots=True)
class Intervals:
    """Order keys of every row's validity, and which rows are valid at all."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    some: NDArray[np.bool_]


def validity_axis(asked: Temporal, schemas: Sequence[pa.Schema]) -> pa.DataType:
    """The type in which the instants of all inputs are compared."""
    found, texts = [], []
    for own, schema, name in zip(asked.validity, schemas, asked.names, strict=True):
        columns = [column for column in (own.start, own.end) if column is not None]
        found += [canonical(schema.field(column).type) for column in columns]
        texts += [f"{name}.{column}" for column in columns]
    text = " < ".join(texts)
    kind = reduce(lambda one, other: axis_type(one, other, text), found[1:], axis_type(found[0], found[0], text))
    check_distance(kind, "temporal_join", text)
    if pa.types.is_decimal(kind):
        if kind.precision > WORD_DIGITS:
            raise UsageError.wide_axis(text, sql_name(kind))
        kind = pa.decimal128(WORD_DIGITS, kind.scale)
    for own in asked.validity:
        if own.window is not None and own.window.kind != "unbounded":
            check_offset(own.window.kind, offset_of(own.window), kind, None)
    return kind


def intervals(own: Validity, name: str, table: pa.Table | pa.RecordBatch, kind: pa.DataType) -> Intervals:
    """The validity of every row of an input; refuse an end before its start."""
    start, known = _keys(table.column(own.start), kind)
    if own.end is None:
        assert own.window is not None
        return Intervals(start, _window_ends(own.window, table.column(own.start), start, known, kind), known)
    end, there = _keys(table.column(own.end), kind)
    end = np.where(there, end, MOST)
    wrong = np.flatnonzero(known & (end < start))
    if wrong.size:
        row = int(wrong[0])
        raise UsageError.ends_before_start(name, table.column(own.start)[row], table.column(own.end)[row])
    return Intervals(start, end, known & (start < end))


def instants(keys: NDArray[np.int64], kind: pa.DataType) -> pa.Array:
    """The values of keys; NULL for no end, and where all times are NULL."""
    if pa.types.is_null(kind):
        return pa.nulls(keys.size)
    none = keys == MOST
    if kind.bit_width == WORD and is_plain(kind) and not pa.types.is_floating(kind) and not none.any():
        return pa.Array.from_buffers(kind, keys.size, [None, pa.py_buffer(np.ascontiguousarray(keys))])
    if is_plain(kind):
        return from_keys(keys, none, kind)
    whole = pa.array(keys, pa.int64(), mask=none).cast(pa.decimal128(19, 0))
    return pa.Array.from_buffers(kind, len(whole), whole.buffers())


def _keys(column: pa.ChunkedArray | pa.Array, kind: pa.DataType) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Order keys on the axis, and where there is one; NaN is none."""
    values = cast(canonicalise(column), kind)
    known = np.asarray(values.is_valid().to_numpy(zero_copy_only=False), np.bool_)
    found = ticks_of(values if known.all() else values.filter(pa.array(known)))
    if found.dtype == np.int64 and found.size == known.size:
        return found if found.flags.writeable else found.copy(), known
    keys = np.zeros(len(values), np.int64)
    if found.dtype == np.float64:
        known[known] = ~np.isnan(found)
        found = float_keys(found[~np.isnan(found)])
    keys[known] = found
    return keys, known


def _window_ends(
    window: Window,
    column: pa.ChunkedArray | pa.Array,
    start: NDArray[np.int64],
    known: NDArray[np.bool_],
    kind: pa.DataType,
) -> NDArray[np.int64]:
    ends = np.full(start.size, MOST)
    if window.kind == "unbounded" or not known.any():
        return ends
    values = cast(canonicalise(column), kind)
    at = ticks_of(values if known.all() else values.filter(pa.array(known)))
    moved = _moved(window, at, kind) if window.kind == "sliding" else _next_multiple(window, at, kind)
    if at.dtype == np.float64:
        moved = np.where(np.isinf(moved), MOST, float_keys(moved))
    elif _greatest(kind) < MOST:
        moved = np.where(moved > _greatest(kind), MOST, moved)
    if at.size == ends.size:
        return moved
    ends[known] = moved
    return ends


def _greatest(kind: pa.DataType) -> int:
    """The greatest tick of an axis."""
    if pa.types.is_decimal(kind):
        return int(10**WORD_DIGITS - 1)
    return int(np.iinfo(np.int32).max) if pa.types.is_date(kind) else int(MOST)


def offset_of(window: Window) -> Offset:
    """The length of a window as an offset on the axis."""
    return Duration(int(window.length)) if window.timed else Number(window.length)


def _moved(window: Window, at: NDArray[Any], kind: pa.DataType) -> NDArray[Any]:
    """`t + length`, rounded up to a whole tick: the first instant at which the row is valid no more."""
    return np.asarray(bound(at, steps(offset_of(window), kind, None, "beyond"), 1).ticks)


def _next_multiple(window: Window, at: NDArray[Any], kind: pa.DataType) -> NDArray[Any]:
    """The first instant at or after the next multiple of the length above t."""
    length = numbers(offset_of(window), kind, None)
    if at.dtype == np.float64:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray((np.floor(at / float(length)) + 1) * float(length))
    if length.denominator == 1 and length < MOST // 2:
        whole = int(length)
        rest = whole - at % whole
        return np.where(at > MOST - rest, MOST, at + rest)
    exact = [ceil((time // length + 1) * length) for time in at.tolist()]
    return np.array([min(end, MOST) for end in exact], np.int64)
