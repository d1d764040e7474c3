"""Small numbers in place of large ones, the same for ever: a hash table of int64 by open addressing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import NO_ROW, kernel, piece

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Int = Any  # Numba's integers are of either kind
    Ints = NDArray[np.int64]


@piece
def slot_of_value(values: Ints, table: Ints, value: Int) -> Int:
    """Return the slot that holds a value's number, or the free one where it belongs; the size is a power of two."""
    mask = table.size - 1
    mixed = np.uint64(value) * np.uint64(0x9E37_79B9_7F4A_7C15)
    slot = np.int64(mixed >> np.uint64(32)) & mask
    while table[slot] >= 0 and values[table[slot]] != value:
        slot = (slot + 1) & mask
    return slot


@kernel
def find_numbers(values: Ints, table: Ints, wanted: Ints, out_number: Ints) -> None:
    """Write the number of each value; NO_ROW for one that has none."""
    for i in range(wanted.size):
        out_number[i] = table[slot_of_value(values, table, wanted[i])]


@kernel
def give_numbers(values: Ints, size: Int, table: Ints, wanted: Ints, out_number: Ints) -> Int:
    """Write the number of each value, a new one to those that have none; return how many there are now.

    `values` and the table have room for all of them.
    """
    for i in range(wanted.size):
        slot = slot_of_value(values, table, wanted[i])
        if table[slot] < 0:
            table[slot] = size
            values[size] = wanted[i]
            size += 1
        out_number[i] = table[slot]
    return size


@kernel
def fill_table(values: Ints, size: Int, table: Ints) -> None:
    """Enter the first `size` values, all different, into an empty table."""
    table[:] = NO_ROW
    for number in range(size):
        table[slot_of_value(values, table, values[number])] = number
