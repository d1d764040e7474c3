"""Columns in a form of which Arrow can take rows: no views, and no runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Callable

    Test = Callable[[pa.DataType], bool]
    Plain = Callable[[pa.DataType], pa.DataType]


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of a column once it is plain; any other stays as it is."""
    for is_odd, plain in _ODD:
        if is_odd(kind):
            return plain(kind)
    if pa.types.is_struct(kind):
        return pa.struct([_plain_field(kind.field(i)) for i in range(kind.num_fields)])
    if pa.types.is_list(kind):
        return pa.list_(_plain_field(kind.value_field))
    if pa.types.is_large_list(kind):
        return pa.large_list(_plain_field(kind.value_field))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_plain_field(kind.value_field), kind.list_size)
    if pa.types.is_map(kind):
        return pa.map_(_plain_field(kind.key_field), _plain_field(kind.item_field), keys_sorted=kind.keys_sorted)
    return kind


_ODD: tuple[tuple[Test, Plain], ...] = (
    (pa.types.is_run_end_encoded, lambda kind: plain_type(kind.value_type)),
    (pa.types.is_string_view, lambda _: pa.large_string()),
    (pa.types.is_binary_view, lambda _: pa.large_binary()),
)


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The columns of a plain table."""
    return pa.schema([_plain_field(field) for field in schema], schema.metadata)


def plain_table(table: pa.Table) -> pa.Table:
    """A table with the same values in plain columns."""
    schema = plain_schema(table.schema)
    if schema.equals(table.schema):
        return table
    columns = [_plain_column(own, kind) for own, kind in zip(table.columns, schema.types, strict=True)]
    return pa.Table.from_arrays(columns, schema=schema)


def plain_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch with the same values in plain columns."""
    table = pa.Table.from_batches([batch])
    plain = plain_table(table)
    return batch if plain is table else next(iter(plain.to_batches()), no_rows(plain.schema))


def no_rows(schema: pa.Schema) -> pa.RecordBatch:
    """A batch without rows, of any types."""
    return pa.RecordBatch.from_arrays([pa.nulls(0, kind) for kind in schema.types], schema=schema)


def _plain_field(field: pa.Field) -> pa.Field:
    return field.with_type(plain_type(field.type))


def _plain_column(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_run_end_encoded(column.type):
        chunks = [pc.run_end_decode(chunk) for chunk in column.chunks]
        column = pa.chunked_array(chunks, column.type.value_type)
    return column if column.type == kind else column.cast(kind)
