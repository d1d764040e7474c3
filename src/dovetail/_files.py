"""Tables in files, by their ending: CSV, Parquet, Arrow and lines of JSON."""

from __future__ import annotations

import csv as plain_csv
import io
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, feather, ipc, json, parquet

from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class _Format(NamedTuple):
    """How files of one ending are read and, if they are, written."""

    read: Callable[[Path], pa.Table]
    writer: Callable[[Path, pa.Schema], Any] | None


WIDE_WHOLE = pa.decimal128(38, 0)
"""The type of whole numbers that 64 bits do not hold."""
_MOST_OF_A_BLOCK = (1 << 31) - 1
_EXPANDED = 16
"""How many times as long a text may be that was compressed."""
_BEFORE_JSON, _MARGIN = b"\xef\xbb\xbf \t\r\n", 1 << 10
"""What may stand before the first object, and how far it is looked for."""


def are_whole(texts: pa.Array | pa.ChunkedArray) -> bool:
    """Whether all fields of a column are whole numbers of at most 38 digits, or empty: Arrow takes such for doubles."""
    text = pa.large_string() if pa.types.is_large_binary(texts.type) else pa.string()
    return bool(pc.all(pc.match_substring_regex(texts.cast(text), r'^"?[+-]?[0-9]{0,38}"?$'), min_count=0).as_py())


def _read_csv(path: Path) -> pa.Table:
    """Read a file of CSV; ids of more than 64 bits stay what they are."""
    table = _typed_csv(path, {})
    _refuse_open_quote(path, table)
    long = [own.name for own, column in zip(table.schema, table.columns, strict=True) if _is_long(column)]
    texts = _typed_csv(path, dict.fromkeys(long, pa.string())) if long else table
    kinds = {name: WIDE_WHOLE for name in set(long) if long.count(name) == 1 and are_whole(texts.column(name))}
    return _typed_csv(path, kinds) if kinds else table


def _refuse_open_quote(path: Path, table: pa.Table) -> None:
    """Refuse a quote that nothing closes: all rows behind it have become one text of the last one."""
    last = table.slice(max(0, table.num_rows - 1)).to_pylist()
    if not any("\n" in text for row in last for text in row.values() if isinstance(text, str)):
        return
    if (line := _open_quote(path)) is not None:
        raise UsageError.open_quote(str(path), line)


def _open_quote(path: Path) -> int | None:
    """The line of the row in which a quote is never closed, as Python's own reader of CSV finds it."""
    line, limit = 1, plain_csv.field_size_limit(_MOST_OF_A_BLOCK)
    try:
        with pa.input_stream(path) as file, io.TextIOWrapper(file, "utf-8", newline="") as text:
            rows = plain_csv.reader(text, strict=True)
            for _ in rows:
                line = rows.line_num + 1
    except plain_csv.Error as error:
        return line if "end of data" in str(error) else None
    finally:
        plain_csv.field_size_limit(limit)
    return None


def _typed_csv(path: Path, kinds: dict[str, pa.DataType]) -> pa.Table:
    """Read a file of CSV with some types."""
    convert = csv.ConvertOptions(column_types=kinds, strings_can_be_null=pa.string() in kinds.values())
    return _in_blocks(path, lambda size: csv.read_csv(path, csv.ReadOptions(block_size=size), convert_options=convert))


def _in_blocks(path: Path, read: Callable[[int | None], pa.Table]) -> pa.Table:
    """Read a text by blocks of a size; a row that is longer than one is read in a block that holds the file."""
    try:
        return read(None)
    except pa.ArrowInvalid as error:
        if "straddl" not in str(error):
            raise
        return read(min(_MOST_OF_A_BLOCK, 1 + _EXPANDED * path.stat().st_size))


def _is_long(column: pa.ChunkedArray) -> bool:
    """Whether these are doubles, some beyond 64 bits."""
    most = pc.max(pc.abs(column)).as_py() if pa.types.is_floating(column.type) else None
    return most is not None and 2.0**63 <= most < float("inf")


def _read_json(path: Path) -> pa.Table:
    """Read lines of JSON; say so if it is JSON of another form, such as one array."""
    with pa.input_stream(path) as file:
        begin = file.read(_MARGIN).lstrip(_BEFORE_JSON)
    if begin.startswith(b"n"):  # of nothing but `null`, Arrow crashes
        raise _no_objects(path, "it begins with no object")
    try:
        table = _in_blocks(path, lambda size: json.read_json(path, json.ReadOptions(block_size=size)))
        table.validate(full=True)  # Arrow takes texts of JSON as they come
    except pa.ArrowInvalid as error:
        raise _no_objects(path, str(error).partition("\n")[0].rstrip(".")) from None
    return table


def _no_objects(path: Path, reason: str) -> UsageError:
    return UsageError.unreadable_file(path, f"{reason}; it is read as lines of JSON, an object each")


_ARROW = _Format(feather.read_table, lambda path, schema: ipc.new_file(str(path), schema))
_JSON = _Format(_read_json, None)
_FORMATS = {
    ".arrow": _ARROW,
    ".csv": _Format(_read_csv, csv.CSVWriter),
    ".feather": _ARROW,
    ".json": _JSON,
    ".jsonl": _JSON,
    ".parquet": _Format(parquet.read_table, parquet.ParquetWriter),
}


_COMPRESSED = (".bz2", ".gz", ".lz4", ".zst")
"""Endings by which pyarrow undoes the compression of a text."""
_TEXT = (".csv", ".json", ".jsonl")


def read_table(path: Path) -> pa.Table:
    """Read a whole file, or a directory of Parquet files."""
    try:
        if not path.exists():
            raise UsageError.unreadable_file(path, "there is no such file")
        form = _FORMATS[".parquet"] if path.is_dir() else _form(path)
        table = form.read(path)
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:  # the last of names of columns
        raise UsageError.unreadable_file(path, str(error).partition("\n")[0].rstrip(".")) from None
    if path.is_dir() and not table.num_columns:
        raise UsageError.unreadable_file(path, "there is no Parquet file in it")
    return table


def write_batches(path: Path, batches: pa.RecordBatchReader, tell: Callable[[int], None]) -> int:
    """Write rows as they come; the file appears when it is whole. Returns, and tells on the way, how many there are."""
    writer, rows = _writer(path), 0
    with whole_file(path) as unfinished, writer(unfinished, batches.schema) as out:
        for batch in batches:
            out.write_batch(batch)
            rows += batch.num_rows
            tell(rows)
    return rows


def refuse_unwritable(path: Path) -> None:
    """Refuse a place where no result can be written, before any time goes into the result."""
    _writer(path)
    refuse_no_file(path)
    if not path.parent.is_dir():
        raise UsageError.unwritable_file(path, f"there is no folder {str(path.parent)!r}")


def _writer(path: Path) -> Callable[[Path, pa.Schema], Any]:
    """What writes files of this ending."""
    writers = {ending: own.writer for ending, own in _FORMATS.items() if own.writer is not None}
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise UsageError.file_ending(path, writers)
    return writer


def refuse_no_file(path: Path) -> None:
    """Refuse to put a result in the place of what is no file: a directory, a pipe or a device would be lost."""
    try:
        if path.exists() and not path.is_file():
            raise UsageError.unwritable_file(path, "it is a directory" if path.is_dir() else "it is no file")
    except OSError as error:
        raise UsageError.unwritable_file(path, error.strerror or str(error)) from None


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path to write to; what stands there takes its name at the end, and is gone if anything fails."""
    refuse_no_file(path)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield unfinished
        unfinished.replace(path)
    except pa.ArrowException as error:
        raise UsageError.unfit_format(path, str(error).partition("\n")[0]) from None
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error).partition("\n")[0]
        raise UsageError.unwritable_file(path, reason) from None
    finally:
        unfinished.unlink(missing_ok=True)


def _form(path: Path) -> _Format:
    form = _FORMATS.get(_ending(path))
    if form is None:
        raise UsageError.file_ending(path, _FORMATS)
    return form


def _ending(path: Path) -> str:
    """The ending that tells the format: that of `a.csv.gz` is `.csv`."""
    inner = path.with_suffix("").suffix.lower()
    return inner if path.suffix.lower() in _COMPRESSED and inner in _TEXT else path.suffix.lower()
