"""The caller's frames as Arrow tables, and back into the library they came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Restore = Callable[[pa.Schema, Iterator[pa.RecordBatch]], Any]


@dataclass(frozen=True, slots=True)
class Frame:
    """A table, and how to hand a result back as the same kind of frame."""

    table: pa.Table
    restore: Restore


def open_frame(name: str, frame: object) -> Frame:
    """Read any frame that speaks Arrow."""
    for (module, kind), reader in _READERS.items():
        if any(base.__module__.split(".")[0] == module and base.__name__ == kind for base in type(frame).__mro__):
            return reader(frame)
    if hasattr(frame, "__arrow_c_stream__"):
        return Frame(pa.table(frame), _as_table)
    raise UsageError.no_frame(name, type(frame).__name__)


def _as_table(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> pa.Table:
    return pa.Table.from_batches(batches, schema)


def _read_table(frame: Any) -> Frame:
    return Frame(frame, _as_table)


def _read_batch(frame: Any) -> Frame:
    return Frame(pa.Table.from_batches([frame]), _as_table)


def _read_reader(frame: Any) -> Frame:
    """A reader gets a reader back: its rows are joined as they are taken."""
    return Frame(frame.read_all(), pa.RecordBatchReader.from_batches)


def _read_pandas(frame: Any) -> Frame:
    table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    return Frame(table, lambda schema, batches: _as_table(schema, batches).to_pandas())


def _read_polars(frame: Any) -> Frame:
    """Lazy frames are collected and handed back lazy."""
    import polars as pl  # noqa: PLC0415 -- only for callers who have it

    lazy = isinstance(frame, pl.LazyFrame)

    def restore(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Any:
        result = pl.from_arrow(_as_table(schema, batches))
        return result.lazy() if lazy else result  # type: ignore[union-attr]

    return Frame((frame.collect() if lazy else frame).to_arrow(), restore)


def _read_duckdb(frame: Any) -> Frame:
    import duckdb  # noqa: PLC0415 -- only for callers who have it

    def restore(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Any:
        return duckdb.from_arrow(_as_table(schema, batches))

    return Frame(frame.to_arrow_table(), restore)


_READERS: dict[tuple[str, str], Callable[[Any], Frame]] = {
    ("pyarrow", "Table"): _read_table,
    ("pyarrow", "RecordBatch"): _read_batch,
    ("pyarrow", "RecordBatchReader"): _read_reader,
    ("pandas", "DataFrame"): _read_pandas,
    ("polars", "DataFrame"): _read_polars,
    ("polars", "LazyFrame"): _read_polars,
    ("duckdb", "DuckDBPyRelation"): _read_duckdb,
    ("_duckdb", "DuckDBPyRelation"): _read_duckdb,
}
