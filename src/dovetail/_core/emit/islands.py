"""Rows that a condition cannot tell apart, valid at once or one after the other, as one row: an *island*.

Meaning      whoever asks when a row has any partner, and not which (semi, anti), gets the same answer from the islands.
Needs        the columns that the condition reads, and validity in columns START and END of one type.
How          k  valid                     k  valid
             1  [0, 4)                    1  [0, 6)
             1  [2, 6)         ->         1  [8, 9)
             1  [8, 9)                    2  [6, 7)
             2  [6, 7)
Edges        NULL is a value like any other; where values have no numbers, as structs have none, all rows stay.
State        the order of the rows.
Worst case   O(n log n). Without it, rows that are all valid at once would be met n times each.
Source       our own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dovetail._core.columns.order_keys import order_keys
from dovetail._core.columns.table import one_chunk
from dovetail._core.kernels.sort import sort_with_order
from dovetail._core.kernels.stretches import find_islands
from dovetail._core.plan.validity import END, START
from dovetail._core.sweep.ranks import value_codes

if TYPE_CHECKING:
    from collections.abc import Sequence


def islands(table: pa.Table, read: Sequence[str]) -> pa.Table:
    """The islands of a table's rows: the columns that the condition reads, START and END."""
    table = table.select([*read, START, END])
    columns = [one_chunk(own) for own in table.columns]
    codes = value_codes(columns[:-2], table.num_rows)
    if codes is None:
        return table
    start, end = order_keys(columns[-2:])
    by_start = sort_with_order(start)[1]
    order = by_start[sort_with_order(codes[by_start])[1]]
    first, last = np.empty_like(order), np.empty_like(order)
    size = find_islands(codes[order], start[order], end[order], first, last)
    found = table.take(pa.array(order[first[:size]]))
    return found.set_column(found.num_columns - 1, END, columns[-1].take(pa.array(order[last[:size]])))
