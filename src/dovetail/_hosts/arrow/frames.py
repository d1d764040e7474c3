"""The caller's frames as Arrow tables, and back into the library they came from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._hosts.arrow.plain import plain_table, roomy_schema
from dovetail.errors import DovetailError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Restore = Callable[[pa.Schema, Iterator[pa.RecordBatch]], Any]


FLOAT_BITS = 53
"""A float holds whole numbers of so many bits exactly."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A table, and how to hand a result back as the same kind of frame."""

    table: pa.Table
    restore: Restore


def open_frame(name: str, frame: object) -> Frame:
    """Read any frame that speaks Arrow."""
    for (module, kind), reader in _READERS.items():
        if any(base.__module__.split(".")[0] == module and base.__name__ == kind for base in type(frame).__mro__):
            return _plain(name, _read(reader, name, frame))
    if hasattr(frame, "__arrow_c_stream__") and not isinstance(frame, type):
        return _plain(name, _read(_read_stream, name, frame))
    raise UsageError.no_frame(name, type(frame).__name__)


def open_frames(frames: dict[str, Any]) -> dict[str, Frame]:
    """Read named frames; one that has two names is read once, as a reader has its rows only once."""
    opened: dict[int, Frame] = {}
    for name, frame in frames.items():
        if id(frame) not in opened:
            opened[id(frame)] = open_frame(name, frame)
    return {name: opened[id(frame)] for name, frame in frames.items()}


def _read(reader: Callable[[str, Any], Frame], name: str, frame: object) -> Frame:
    """Read a frame; a lazy one, a query or a stream is computed only now, and may fail in any way."""
    try:
        return reader(name, frame)
    except (DovetailError, MemoryError):
        raise
    except Exception as error:
        raise UsageError.failing_frame(name, type(frame).__name__, error) from error


def _plain(name: str, frame: Frame) -> Frame:
    """A frame of which rows can be taken."""
    try:
        table = plain_table(frame.table)
    except pa.ArrowException as error:
        raise UsageError.unreadable_frame(name, str(error).splitlines()[0].rstrip(".")) from None
    return frame if table is frame.table else replace(frame, table=table)


def _as_table(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> pa.Table:
    return pa.Table.from_batches(batches, schema)


def _read_stream(name: str, frame: Any) -> Frame:
    """What else speaks Arrow; a single column does, too, and is no frame."""
    try:
        reader = pa.RecordBatchReader.from_stream(frame)
    except pa.ArrowInvalid:
        raise UsageError.no_frame(name, type(frame).__name__) from None
    return Frame(reader.read_all(), _as_table)


def _read_table(_name: str, frame: Any) -> Frame:
    return Frame(frame, _as_table)


def _read_batch(_name: str, frame: Any) -> Frame:
    return Frame(pa.Table.from_batches([frame]), _as_table)


def _read_reader(_name: str, frame: Any) -> Frame:
    """A reader gets a reader back: its rows are joined as they are taken."""
    return Frame(frame.read_all(), pa.RecordBatchReader.from_batches)


def _read_pandas(name: str, frame: Any) -> Frame:
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        reason = "; ".join(str(part).partition("\n")[0].rstrip(".") for part in error.args)
        raise UsageError.unreadable_frame(name, reason) from None
    by_type, columns = _extension_types(frame, table), zip(table.schema, frame.dtypes, strict=True)
    extended = {field: kind for field, kind in columns if hasattr(kind, "__from_arrow__")}

    def restore(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Any:
        kept = {
            field.name: kind
            for field, kind in extended.items()
            if field.name in schema.names and schema.field(field.name).type == field.type
        }
        return _as_pandas(_as_table(schema, batches), by_type, kept)

    return Frame(table, restore)


def _extension_types(frame: Any, table: pa.Table) -> dict[pa.DataType, Any]:
    """pandas' own types for Arrow's, such as Int64, where all columns of an Arrow type have the same."""
    found: dict[pa.DataType, set[Any]] = {}
    for field, kind in zip(table.schema, frame.dtypes, strict=True):
        found.setdefault(field.type, set()).add(kind if hasattr(kind, "__from_arrow__") else None)
    return {kind: owns.pop() for kind, owns in found.items() if len(owns) == 1 and None not in owns}


def _as_pandas(table: pa.Table, by_type: dict[pa.DataType, Any], by_name: dict[str, Any]) -> Any:
    """A table as pandas has it; whole numbers beside NULLs stay whole where a float would not hold them.

    `by_type` are pandas' own types for Arrow's, `by_name` those of columns.
    """
    import pandas as pd  # noqa: PLC0415 -- only for callers who have it

    whole = {pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype()}
    with np.errstate(invalid="ignore"):  # pandas casts what is missing of intervals of whole numbers
        frame = table.to_pandas(types_mapper=by_type.get)
    for name, kind in by_name.items():
        if frame[name].dtype != kind:
            frame[name] = kind.__from_arrow__(table.column(name))
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = frame[name].dtype
        if isinstance(kind, pd.IntervalDtype) and str(kind.subtype) == "int64" and column.null_count:
            gaps = frame[name].astype(pd.IntervalDtype("float64", kind.closed))
            frame[name] = gaps.where(column.is_valid().to_numpy())
        mapped = name in by_name or column.type in by_type
        if column.type in whole and not mapped and column.null_count and _beyond_floats(column):
            frame[name] = column.to_pandas(types_mapper=whole.get)
    return frame


def _beyond_floats(column: pa.ChunkedArray) -> bool:
    least, most = (end.as_py() for end in pc.min_max(column).values())
    return least is not None and max(-least, most) > 1 << FLOAT_BITS


def _read_polars(name: str, frame: Any) -> Frame:
    """Lazy frames are collected and handed back lazy."""
    import polars as pl  # noqa: PLC0415 -- only for callers who have it

    lazy = isinstance(frame, pl.LazyFrame)
    whole = frame.collect() if lazy else frame
    for column, kind in whole.schema.items():
        for inner in _parts(kind):
            if str(inner) in _ONLY_POLARS:
                raise UsageError.unreadable_frame(name, f"column {column!r} is {kind}, which Arrow has no type for")

    def restore(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Any:
        result = cast("pl.DataFrame", pl.from_arrow(_as_table(schema, batches)))
        enums = {own: kind for own, kind in whole.schema.items() if isinstance(kind, pl.Enum)}
        kept = [own for own in enums if own in schema.names and schema.field(own).type in given[own]]
        result = result.with_columns(pl.col(own).cast(enums[own]) for own in kept)
        return result.lazy() if lazy else result

    table = whole.to_arrow()
    given = {own.name: (own.type, roomy_schema(table.schema).field(own.name).type) for own in table.schema}
    return Frame(table, restore)


_ONLY_POLARS = {"Object", "Int128", "UInt128"}


def _parts(kind: Any) -> Iterator[Any]:
    """A type of Polars, and those of its items or fields."""
    yield kind
    inner = [getattr(kind, "inner", None), *(field.dtype for field in getattr(kind, "fields", ()))]
    for own in inner:
        if own is not None:
            yield from _parts(own)


def _read_duckdb(_name: str, frame: Any) -> Frame:
    """A relation gets one of its own connection, which alone can go on with it."""
    import duckdb  # noqa: PLC0415 -- only for callers who have it

    def restore(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Any:
        dovetail_found = _as_table(schema, batches)  # DuckDB looks the name up here
        try:
            found = frame.query("dovetail_input", "FROM dovetail_found")
            return found.set_alias(f"found_{id(found):x}")  # another than the input's, which it may be joined with
        except duckdb.CatalogException:  # its connection looks up no names of Python's
            return duckdb.from_arrow(dovetail_found)

    return Frame(frame.to_arrow_table(), restore)


_READERS: dict[tuple[str, str], Callable[[str, Any], Frame]] = {
    ("pyarrow", "Table"): _read_table,
    ("pyarrow", "RecordBatch"): _read_batch,
    ("pyarrow", "RecordBatchReader"): _read_reader,
    ("pandas", "DataFrame"): _read_pandas,
    ("polars", "DataFrame"): _read_polars,
    ("polars", "LazyFrame"): _read_polars,
    ("duckdb", "DuckDBPyRelation"): _read_duckdb,
    ("_duckdb", "DuckDBPyRelation"): _read_duckdb,
}
