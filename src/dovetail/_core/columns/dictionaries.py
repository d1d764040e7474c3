"""Columns of dictionaries, put together: every piece brings the values of its own rows, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Sequence

ENOUGH = 1 << 10
"""Up to so many values, a dictionary is carried along as it is: pieces that share it are put together quickly."""


def one_batch(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """The rows of several batches; of values that none of the rows has, dictionaries hold few."""
    return pa.concat_batches([lean_batch(batch) for batch in batches])


def one_array(arrays: Sequence[pa.Array]) -> pa.Array:
    """The same of arrays."""
    return pa.concat_arrays([lean(array) for array in arrays])


def nulls_like(column: pa.Array, size: int) -> pa.Array:
    """So many NULLs of a column's type; with its dictionary, too, since a file of Arrow's has one for all batches."""
    if not pa.types.is_dictionary(column.type):
        return pa.nulls(size, column.type)
    indices = pa.nulls(size, column.type.index_type)
    return pa.DictionaryArray.from_arrays(indices, column.dictionary, ordered=column.type.ordered)


def lean_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch whose dictionaries hold few values that no row has."""
    if not any(pa.types.is_dictionary(kind) for kind in batch.schema.types):
        return batch
    return pa.RecordBatch.from_arrays([lean(own) for own in batch.columns], schema=batch.schema)


def lean(column: pa.Array) -> pa.Array:
    """A column whose dictionary, if it has one, is not much longer than itself."""
    if not pa.types.is_dictionary(column.type) or len(column.dictionary) <= max(ENOUGH, 2 * len(column)):
        return column
    used = pc.unique(column.indices.drop_null())
    used = used.take(pc.sort_indices(used))  # an ordered dictionary stays in order
    indices = pc.index_in(column.indices, used).cast(column.type.index_type)
    return pa.DictionaryArray.from_arrays(indices, column.dictionary.take(used), ordered=column.type.ordered)
