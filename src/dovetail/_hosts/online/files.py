"""Files that are whole or not there: written beside, brought to the disk, then put in place at once."""

from __future__ import annotations

import base64
import datetime as dt
import json
import os
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail._core.condition.duration import nanoseconds_of
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file by new content, at once and for good."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        sync_folder(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UsageError.unwritable_state(path, reason(error)) from None


def sync_folder(path: Path) -> None:
    """Bring a file's name to the disk."""
    folder = os.open(path.absolute().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read_bytes(path: Path) -> bytes:
    """A whole file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError.no_snapshot(path, reason(error)) from None


def reason(error: OSError) -> str:
    """What the system says, in its own words."""
    return (error.strerror or str(error)).lower()


def call_to_json(call: dict[str, Any]) -> str:
    """A call's arguments as text; equal calls give equal texts."""
    return json.dumps({name: _plain(value) for name, value in call.items()}, sort_keys=True)


def call_from_json(text: str) -> dict[str, Any]:
    """The arguments back."""
    return {name: _back(value) for name, value in json.loads(text).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, pa.Schema):
        return {"schema": base64.b64encode(value.serialize().to_pybytes()).decode()}
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, dt.timedelta):
        length = nanoseconds_of(value)
        return f"{length} nanoseconds" if length % 1000 else {"microseconds": length // 1000}
    if isinstance(value, (list, tuple)):
        return [_plain(own) for own in value]
    if hasattr(value, "items"):
        return {"mapping": [[name, _plain(own)] for name, own in value.items()]}
    return value


def _back(value: Any) -> Any:
    if isinstance(value, list):
        return [_back(own) for own in value]
    if not isinstance(value, dict):
        return value
    (kind, inner), *_ = value.items()
    if kind == "schema":
        return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(inner)))
    if kind == "decimal":
        return Decimal(inner)
    if kind == "microseconds":
        return dt.timedelta(microseconds=inner)
    return {name: _back(own) for name, own in inner}
