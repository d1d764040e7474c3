"""An engine as one file: everything it holds as Arrow tables, with a checksum over all of it.

Rows are written in the order of key and time, not page by page: how they are laid out in memory is no part of the
format, and a snapshot restores to any number of joiners.
"""

from __future__ import annotations

import hashlib
import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dovetail._core.aggregate.stored import StoredDistinct, StoredEnd, StoredExtreme
from dovetail._core.kernels.blocks import Rows
from dovetail._hosts.online.files import read_bytes, write_whole
from dovetail._hosts.online.rows import stream_batch, stream_bytes
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dovetail._core.sweep.numbering import ValueNumbers
    from dovetail._hosts.online.engine import Engine

MAGIC, VERSION = b"DVTLSNAP", 3
_HEAD = struct.Struct("<8sIQ32s")
_LENGTH = struct.Struct("<Q")


def save(engine: Engine, owed: pa.RecordBatch, call: str, number: int, path: Path) -> None:
    """Write everything that an engine holds, and the results it owes, up to the record of a number."""
    told = json.dumps(_told(engine, call, number)).encode()
    parts = [told, *(stream_bytes(batch) for batch in (*_tables(engine), owed))]
    body = b"".join(_LENGTH.pack(len(part)) + part for part in parts)
    write_whole(path, _HEAD.pack(MAGIC, VERSION, len(body), hashlib.sha256(body).digest()) + body)


def open_snapshot(path: Path) -> tuple[dict[str, Any], Iterator[pa.RecordBatch]]:
    """What a snapshot tells of itself, and its tables."""
    content = read_bytes(path)
    if len(content) < _HEAD.size or not content.startswith(MAGIC):
        raise UsageError.no_snapshot(path, "it is no snapshot")
    _, version, length, digest = _HEAD.unpack_from(content)
    if version != VERSION:
        raise UsageError.no_snapshot(path, f"it is of version {version}, and this is version {VERSION}")
    body = content[_HEAD.size :]
    if len(body) != length or hashlib.sha256(body).digest() != digest:
        raise UsageError.no_snapshot(path, "it is damaged")
    parts = _parts(body)
    return json.loads(next(parts)), (stream_batch(part) for part in parts)


def load(engine: Engine, told: dict[str, Any], tables: Iterator[pa.RecordBatch]) -> pa.RecordBatch:
    """Bring a new engine to where a snapshot was taken; return the results that were owed."""
    clock = engine.clock
    clock.greatest, clock.delays_seen = told["greatest"], told["delays"]
    if told["watermark"] is not None:
        clock.raise_to(told["watermark"])
    engine.gone, engine.closed = told["gone"], told["closed"]
    engine.metrics.rows, engine.metrics.late = told["rows"], told["late"]
    for values in _numberings(engine):
        values.load(next(tables).column(0))
    for numbering in engine.keys.pairs:
        numbering.give(next(tables).column(0).to_numpy(zero_copy_only=False))
    for own in _labelled(engine):
        batch = next(tables)
        own.labels.load(batch.column(0).to_pylist(), batch.column(1).to_pylist())
    engine.joiners.insert(_rows(next(tables), len(engine.layout.kinds)), engine.keys.size)
    engine.waiting.load(next(tables), next(tables))
    return next(tables)


def _told(engine: Engine, call: str, number: int) -> dict[str, Any]:
    clock = engine.clock
    return {
        "call": call,
        "number": number,
        "greatest": clock.greatest,
        "watermark": clock.watermark,
        "delays": clock.delays_seen,
        "gone": int(engine.gone),
        "closed": engine.closed,
        "rows": engine.metrics.rows,
        "late": engine.metrics.late,
    }


def _tables(engine: Engine) -> Iterator[pa.RecordBatch]:
    for values in _numberings(engine):
        yield _named([values.dump()])
    for numbering in engine.keys.pairs:
        yield _named([pa.array(numbering.dump())])
    for own in _labelled(engine):
        known = own.labels.dump()
        yield _named([pa.array([v for v, _ in known], own.labels.kind), pa.array([n for _, n in known], pa.int64())])
    areas = [area.dump() for area in engine.joiners.areas]
    rows = [np.concatenate(parts, axis=-1) for parts in zip(*areas, strict=True)]
    yield _named([pa.array(own) for own in (rows[0], rows[1], *rows[2], *rows[3])])
    yield from engine.waiting.dump()


def _rows(batch: pa.RecordBatch, words: int) -> Rows:
    arrays = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
    size = batch.num_rows
    integers = np.array(arrays[2 : 2 + words], np.int64).reshape(words, size)
    doubles = np.array(arrays[2 + words :], np.float64).reshape(len(arrays) - 2 - words, size)
    return Rows(arrays[0], arrays[1], integers, doubles)


def _numberings(engine: Engine) -> list[ValueNumbers]:
    families = engine.layout.families.values()
    return [*engine.keys.columns, *(own.numbers for own in families if isinstance(own, StoredDistinct))]


def _labelled(engine: Engine) -> list[StoredExtreme | StoredEnd]:
    return [own for own in engine.layout.families.values() if isinstance(own, (StoredExtreme, StoredEnd))]


def _named(arrays: list[pa.Array]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(arrays, names=[str(number) for number in range(len(arrays))])


def _parts(body: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(body):
        (length,) = _LENGTH.unpack_from(body, at)
        yield body[at + _LENGTH.size : at + _LENGTH.size + length]
        at += _LENGTH.size + length
