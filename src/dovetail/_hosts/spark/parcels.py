"""Rows on their way to their cells: in parcels, of which Spark moves a few, instead of one by one.

How          every task sorts its rows by their places, some tens of megabytes at a time, and writes those of one place
             as one Arrow stream. Spark shuffles these as it would any binary column.
Cost         Spark writes each row once, for Python. A shuffle of rows writes it for the shuffle, reads it, and writes
             it for Python then: twice the time of the JVM, measured for a window join of 11M rows.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from dovetail._core.columns.table import one_chunk
from dovetail._hosts.spark.mapped import mapped
from dovetail._hosts.spark.places import CELL, PLACE, digest_places, located
from dovetail._hosts.spark.wire import chunks, unpack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from dovetail._core.placement.boxes import Cover
    from dovetail._hosts.spark.places import Locator

    Batches = Iterator[pa.RecordBatch]
    Ints = NDArray[np.int64]

PARCEL = "parcel"
_ROWS, _BYTES = 1 << 20, 64 << 20
_TURN = 1 << 15
"""So many rows are placed at a time: each may go to hundreds of cells."""
_FEWER_PLACES = 8
"""So many times fewer cells get a row that is digested for those in which all match."""
_FEW_PLACES = 1 << 16
_SMALL = pa.ipc.IpcWriteOptions(compression="lz4")
"""Spark takes three times as long to compress the same bytes, and little to find that it cannot."""


def moved(frame: DataFrame, cells: int, locator: Locator | None = None) -> DataFrame:
    """The rows of a frame in parcels, each in the partition of its cell; `locator` finds those that are not known."""
    return sent(frame, locator).repartitionById(cells, F.expr(CELL))


def sent(frame: DataFrame, locator: Locator | None = None) -> DataFrame:
    """The rows of a frame in parcels, still where they were packed."""
    return mapped(frame, partial(packed, locator=locator), f"{PLACE} INT, {PARCEL} BINARY")


def counted(frame: DataFrame, locator: Locator | None = None) -> DataFrame:
    """How many rows of a frame would go to each place, in parts."""
    return mapped(frame, partial(_counts, locator=locator), f"{PLACE} INT, rows BIGINT")


def arrived(batches: Batches) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each parcel in a task's cell, and their place."""
    for batch in batches:
        yield from zip(batch.column(PLACE).to_pylist(), map(_opened, batch.column(PARCEL)), strict=True)


def _opened(parcel: pa.BinaryScalar) -> pa.Table:
    return unpack(parcel.as_buffer())


def packed(batches: Batches, locator: Locator | None = None) -> Batches:
    """Rows with a place as parcels."""
    for table in chunks(batches, _ROWS, _BYTES):
        rows = table.drop_columns(PLACE).combine_chunks()
        most = max(1, min(_ROWS, _BYTES * rows.num_rows // max(1, rows.nbytes)))
        for taken, places, covers in _found(table, rows, locator):
            for start in range(0, places.size, most):
                yield _parcels(rows, places[start : start + most], taken[start : start + most])
            if covers and locator is not None and locator.digester is not None:
                cells, digest = locator.digester.table(rows, covers)
                yield _parcels(digest, digest_places(cells), np.arange(cells.size))


def _counts(batches: Batches, locator: Locator | None) -> Batches:
    for table in chunks(batches, _ROWS, _BYTES):
        for _, places, _ in _found(table, table, locator):
            met, sizes = np.unique(places, return_counts=True)
            yield pa.RecordBatch.from_arrays([pa.array(met, pa.int32()), pa.array(sizes)], names=[PLACE, "rows"])


def _found(table: pa.Table, rows: pa.Table, locator: Locator | None) -> Iterator[tuple[Ints, Ints, list[Cover]]]:
    """Rows and their places, of which a row may have many: so some rows at a time, until enough are to be sent."""
    places = one_chunk(table.column(PLACE)).to_numpy().astype(np.int64)
    if locator is None:
        yield np.arange(places.size), places, []
        return
    turn = _TURN if locator.digester is None else _FEWER_PLACES * _TURN
    waiting: list[tuple[Ints, Ints]] = []
    covers: list[Cover] = []
    for start in range(0, places.size, turn):
        taken, found, more = located(locator, rows.slice(start, turn), places[start : start + turn])
        waiting.append((start + taken, found))
        covers += [cover._replace(rows=start + cover.rows) for cover in more]
        if sum(own.size for own, _ in waiting) >= _ROWS or start + turn >= places.size:
            yield np.concatenate([own for own, _ in waiting]), np.concatenate([own for _, own in waiting]), covers
            waiting, covers = [], []


def _parcels(rows: pa.Table, places: Ints, taken: Ints) -> pa.RecordBatch:
    """Some rows of a table as one parcel for each of their places."""
    few = places.max(initial=0) < _FEW_PLACES
    order = np.argsort(places.astype(np.uint16) if few else places, kind="stable")
    sizes = np.bincount(places)
    found = np.flatnonzero(sizes)
    parcels = _streams(rows.take(taken[order]), sizes[found])
    return pa.RecordBatch.from_arrays([pa.array(found, pa.int32()), parcels], names=[PLACE, PARCEL])


def _streams(rows: pa.Table, sizes: NDArray[np.int64]) -> pa.Array:
    """Rows as Arrow streams of so many each."""
    sink, ends, begin = pa.BufferOutputStream(), [0], 0
    for size in sizes.tolist():
        with pa.ipc.new_stream(sink, rows.schema, options=_SMALL) as writer:
            writer.write_table(rows.slice(begin, size))
        begin += size
        ends.append(sink.tell())
    offsets = pa.py_buffer(np.array(ends, np.int32))
    return pa.Array.from_buffers(pa.binary(), len(sizes), [None, offsets, sink.getvalue()])
