"""From evaluated columns to `SideKeys`: which rows can match at all, and their order keys over both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._core.columns.order_keys import order_keys
from dovetail._core.kernels.memory import joined, numbered
from dovetail._core.sweep.matches import SideKeys
from dovetail._core.sweep.ranks import dense_ranks, equality_codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class SideColumns:
    """What a side brings to the condition, one array per part, all of the type in which both sides are compared.

    `fits` says which rows pass the side's own filters; None: there are none.
    """

    rows: int
    fits: pa.Array | None
    keys: tuple[pa.Array, ...]
    values: tuple[pa.Array, ...]


def prepare(left: SideColumns, right: SideColumns, null_safe: Sequence[bool]) -> tuple[SideKeys, SideKeys]:
    """Set aside the rows that cannot match and map the rest to order keys.

    All values of one type share an axis: their keys can be compared across comparisons, which a slice of several
    comparisons and an overlap need.
    """
    rows = [can_match(side, null_safe) for side in (left, right)]
    codes = _codes(left, right, rows, null_safe)
    picked = [[pick(array, own) for array in side.values] for side, own in zip((left, right), rows, strict=True)]
    values = _on_axes(picked[0], picked[1])
    return SideKeys(rows[0], codes[0], tuple(values[0])), SideKeys(rows[1], codes[1], tuple(values[1]))


def can_match(side: SideColumns, null_safe: Sequence[bool]) -> NDArray[np.int64]:
    """The rows whose filters hold and whose keys and values are there."""
    needed = [key for key, safe in zip(side.keys, null_safe, strict=True) if not safe]
    masks = [pc.is_valid(array) for array in (*needed, *side.values) if array.null_count]
    if side.fits is not None:
        masks.append(pc.fill_null(side.fits, False))
    if not masks:
        return numbered(side.rows)
    fits = masks[0].to_numpy(zero_copy_only=False).copy()
    for mask in masks[1:]:
        fits &= mask.to_numpy(zero_copy_only=False)
    return np.flatnonzero(fits)


def pick(array: pa.Array, rows: NDArray[np.int64]) -> pa.Array:
    """Some rows of a column; all of them as it is."""
    return array if rows.size == len(array) else array.take(pa.array(rows))


def _codes(
    left: SideColumns, right: SideColumns, rows: list[NDArray[np.int64]], null_safe: Sequence[bool]
) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
    """Number the equality keys of both sides together."""
    if not left.keys:
        return None, None
    columns: list[NDArray[np.int64]] = []
    for ours, theirs, safe in zip(left.keys, right.keys, null_safe, strict=True):
        both = [pick(ours, rows[0]), pick(theirs, rows[1])]
        columns.append(_null_safe_keys(both) if safe else joined(order_keys(both)))
    codes = equality_codes(columns)
    return codes[: rows[0].size], codes[rows[0].size :]


def _null_safe_keys(arrays: list[pa.Array]) -> NDArray[np.int64]:
    """Ranks from 1 up, and 0 for NULL, which equals itself."""
    present = [np.flatnonzero(array.is_valid().to_numpy(zero_copy_only=False)) for array in arrays]
    keys = np.concatenate(order_keys([pick(array, own) for array, own in zip(arrays, present, strict=True)]))
    out = np.zeros(sum(len(array) for array in arrays), np.int64)
    out[np.concatenate([present[0], present[1] + len(arrays[0])])] = dense_ranks(keys)[0] + 1
    return out


def _on_axes(left: list[pa.Array], right: list[pa.Array]) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]]:
    """Map the values of all comparisons to order keys, those of one type together."""
    keys: dict[int, list[NDArray[np.int64]]] = {}
    for kind in {array.type for array in left}:
        numbers = [i for i, array in enumerate(left) if array.type == kind]
        found = order_keys([*(left[i] for i in numbers), *(right[i] for i in numbers)])
        keys |= {i: [found[at], found[at + len(numbers)]] for at, i in enumerate(numbers)}
    return [keys[i][0] for i in range(len(left))], [keys[i][1] for i in range(len(left))]
