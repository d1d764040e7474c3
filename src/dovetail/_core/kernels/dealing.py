"""Rows dealt to joiners by the partitions of their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import kernel

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Int = Any  # Numba's integers are of either kind
    Ints = NDArray[np.int64]
    Doubles = NDArray[np.float64]


@kernel
def deal_rows(codes: Ints, parts_up_to: Doubles, dealt: Int, seen: Doubles, loads: Doubles, out_owner: Ints) -> None:
    """Write a joiner for each row: the one into whose part of the key's partition its number falls, evenly spread.

    Counts the rows by partition and by joiner. A row without a key (-1) counts as one of the first.
    """
    for i in range(codes.size):
        partition = max(codes[i], np.int64(0)) % seen.size
        spread = (np.uint64(dealt) + np.uint64(i)) * np.uint64(0x9E37_79B9_7F4A_7C15)
        chance = np.float64(spread >> np.uint64(33)) / 2147483648.0
        owner = np.int64(0)
        for joiner in range(parts_up_to.shape[1]):
            owner += np.int64(chance >= parts_up_to[partition, joiner])
        seen[partition] += 1.0
        loads[owner] += 1.0
        out_owner[i] = owner


@kernel
def group_by_owner(order: Ints, owners: Ints, begins: Ints, out_rows: Ints) -> None:
    """Write rows, in some order, those of each joiner together; `begins` says where, and where they end afterwards."""
    for i in range(order.size):
        row = order[i]
        out_rows[begins[owners[row]]] = row
        begins[owners[row]] += 1
