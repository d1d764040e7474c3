"""Columns in a form of which Arrow can take rows: no views, no runs, and no more than one piece can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Callable

    Test = Callable[[pa.DataType], bool]
    Plain = Callable[[pa.DataType], pa.DataType]


_MOST = (1 << 31) - 1
"""How many bytes or items offsets of 32 bits can tell apart."""


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of a column once it is plain; any other stays as it is."""
    for is_odd, plain in _ODD:
        if is_odd(kind):
            return plain(kind)
    return _of_inner(kind, plain_type)


def _of_inner(kind: pa.DataType, change: Plain) -> pa.DataType:
    """A type with the types of its fields or items changed."""

    def changed(field: pa.Field) -> pa.Field:
        return field.with_type(change(field.type))

    if pa.types.is_struct(kind):
        return pa.struct([changed(kind.field(i)) for i in range(kind.num_fields)])
    if pa.types.is_list(kind):
        return pa.list_(changed(kind.value_field))
    if pa.types.is_large_list(kind):
        return pa.large_list(changed(kind.value_field))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(changed(kind.value_field), kind.list_size)
    if pa.types.is_map(kind):
        return pa.map_(changed(kind.key_field), changed(kind.item_field), keys_sorted=kind.keys_sorted)
    return kind


def _long_type(kind: pa.DataType) -> pa.DataType:
    """The type with offsets of 64 bits."""
    if pa.types.is_string(kind):
        return pa.large_string()
    if pa.types.is_binary(kind):
        return pa.large_binary()
    inner = _of_inner(kind, _long_type)
    return pa.large_list(inner.value_field) if pa.types.is_list(kind) else inner


def _roomy_type(kind: pa.DataType) -> pa.DataType:
    """The plain type whose dictionaries have indices of at least 32 bits."""
    if not pa.types.is_dictionary(kind):
        return _of_inner(plain_type(kind), _roomy_type)
    index = kind.index_type if kind.index_type.bit_width >= pa.int32().bit_width else pa.int32()
    return pa.dictionary(index, plain_type(kind.value_type), kind.ordered)


_ODD: tuple[tuple[Test, Plain], ...] = (
    (pa.types.is_run_end_encoded, lambda kind: plain_type(kind.value_type)),
    (pa.types.is_string_view, lambda _: pa.large_string()),
    (pa.types.is_binary_view, lambda _: pa.large_binary()),
)


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The columns of a plain table."""
    return pa.schema([_plain_field(field) for field in schema], schema.metadata)


def roomy_schema(schema: pa.Schema) -> pa.Schema:
    """The columns of plain batches that come one by one: each may bring values of its own to a dictionary."""
    return pa.schema([field.with_type(_roomy_type(field.type)) for field in schema], schema.metadata)


def plain_table(table: pa.Table) -> pa.Table:
    """A table with the same values in plain columns."""
    table = _told_by_indices(table)
    fields = [_field_in_one(*own) for own in zip(plain_schema(table.schema), table.columns, strict=True)]
    return _fitted(table, pa.schema(fields, table.schema.metadata))


def _told_by_indices(table: pa.Table) -> pa.Table:
    """A table whose dictionaries hold no NULL: Arrow puts no two together of which one does."""
    for number, column in enumerate(table.columns):
        if pa.types.is_dictionary(column.type) and any(own.dictionary.null_count for own in column.chunks):
            chunks = [_without_null(own) for own in column.chunks]
            table = table.set_column(number, table.schema.field(number), pa.chunked_array(chunks, column.type))
    return table


def _without_null(column: pa.DictionaryArray) -> pa.DictionaryArray:
    """The same values, of which the indices alone tell where there is none."""
    there = pc.indices_nonzero(column.dictionary.is_valid()).cast(pa.int64())
    indices = pc.index_in(column.indices.cast(pa.int64()), there).cast(column.type.index_type)
    return pa.DictionaryArray.from_arrays(indices, column.dictionary.take(there), ordered=column.type.ordered)


def _fitted(table: pa.Table, schema: pa.Schema) -> pa.Table:
    if schema.equals(table.schema):
        return table
    columns = [_plain_column(own, kind) for own, kind in zip(table.columns, schema.types, strict=True)]
    return pa.Table.from_arrays(columns, schema=schema)


def _field_in_one(field: pa.Field, column: pa.ChunkedArray) -> pa.Field:
    """The field of a column in one piece: chunks may hold more together than a piece of their type could."""
    if pa.types.is_dictionary(field.type) and _values_of(column) > 1 << (field.type.index_type.bit_width - 1):
        return field.with_type(_roomy_type(field.type))
    return field.with_type(_long_type(field.type)) if column.num_chunks > 1 and column.nbytes > _MOST else field


def _values_of(column: pa.ChunkedArray) -> int:
    """How many values the dictionaries of a column have together, or fewer than a byte tells apart."""
    found = [chunk.dictionary for chunk in column.chunks]
    if sum(map(len, found)) < 1 << 7:
        return 0
    return len(pa.chunked_array(found).unique()) if len(found) > 1 else 0


def plain_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch with the same values in columns of a roomy schema."""
    table = pa.Table.from_batches([batch])
    plain = _fitted(_told_by_indices(table), roomy_schema(table.schema))
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
