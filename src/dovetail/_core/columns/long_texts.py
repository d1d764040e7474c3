"""What texts of one array can weigh: offsets of 32 bits tell two gigabytes apart."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_BYTES = 1 << 28
"""What the texts of some rows weigh at most, far below two gigabytes: a row with a long text may have all partners."""
_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)


def rows_of_longest(columns: Iterable[pa.Array]) -> int:
    """How many rows weigh no more than that, even if all of them are the longest."""
    return rows_of(heaviest(columns))


def rows_of(weight: int) -> int:
    """How many rows of some weight are no more than that."""
    return max(1, MOST_BYTES // max(1, weight))


def heaviest(columns: Iterable[pa.Array]) -> int:
    """What the longest texts of some columns weigh together."""
    return sum(map(_longest, columns))


@contextmanager
def in_one_array() -> Iterator[None]:
    """Say it in one line if texts do not fit an array: that Arrow cannot put them there can have no other reason."""
    try:
        yield
    except pa.ArrowInvalid:
        raise UnsupportedError.long_texts() from None


def _longest(column: pa.Array) -> int:
    if pa.types.is_dictionary(column.type):
        return _longest(column.dictionary)
    if not any(is_text(column.type) for is_text in _TEXTS):
        return 0
    return pc.max(pc.binary_length(column)).as_py() or 0
