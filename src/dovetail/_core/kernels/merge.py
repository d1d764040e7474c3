"""Where values fall in a sorted array when they come in order themselves, or almost: one walk over both.

Each search gallops from where the last one ended, in either direction: values in order cost a few steps each, any
others a binary search of the distance between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.kernels.compile import NO_ROW, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = np.iinfo(np.int64).max


@kernel
def gallop(keys: NDArray[np.int64], value: np.int64, at: np.int64) -> np.int64:
    """Return how many keys lie below a value, searching outward from `at`; `keys` ascend."""
    size = np.int64(keys.size)
    low = at
    high = at
    step = np.int64(1)
    if at < size and keys[at] < value:
        low = at + 1
        high = low
        while high < size and keys[high] < value:
            low = high + 1
            high = min(size, high + step)
            step <<= 1
    elif at > 0 and keys[at - 1] >= value:
        high = at - 1
        low = high
        while low > 0 and keys[low - 1] >= value:
            high = low - 1
            low = max(np.int64(0), low - step)
            step <<= 1
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def walk_below(keys: NDArray[np.int64], values: NDArray[np.int64], out_count: NDArray[np.int64]) -> None:
    """Write, per value, how many keys lie below it; keys and values ascend.

    Every step goes to the next key or to the next value, by arithmetic: which of the two it is, no processor foresees.
    """
    key = np.int64(0) if values.size == 0 else np.int64(np.searchsorted(keys, values[0]))
    i = np.int64(0)
    while i < values.size and key < keys.size:
        out_count[i] = key
        below = np.int64(keys[key] < values[i])
        key += below
        i += 1 - below
    out_count[i:] = keys.size


@kernel
def walk_up_to(keys: NDArray[np.int64], values: NDArray[np.int64], out_count: NDArray[np.int64]) -> None:
    """Write, per value, how many keys lie below it or on it, as `walk_below` does."""
    key = np.int64(0) if values.size == 0 else np.int64(np.searchsorted(keys, values[0], side="right"))
    i = np.int64(0)
    while i < values.size and key < keys.size:
        out_count[i] = key
        below = np.int64(keys[key] <= values[i])
        key += below
        i += 1 - below
    out_count[i:] = keys.size


@kernel
def fill_places(
    codes: NDArray[np.int64],
    at: NDArray[np.int64],
    least: np.int64,
    most: np.int64,
    bits: np.int64,
    out_place: NDArray[np.int64],
) -> None:
    """Write each code above its time's distance from `least`, counted from 1; a time outside is one step outside."""
    for i in range(at.size):
        time = at[i]
        low = (most - least + 2) if time > most else np.int64(0) if time < least else time - least + 1
        out_place[i] = (codes[i] << bits) + low


@kernel
def positions_below(
    keys: NDArray[np.int64], values: NDArray[np.int64], rows: NDArray[np.int64], out_position: NDArray[np.int64]
) -> None:
    """Write, for some rows in an order that suits the search, how many keys lie below each one's value."""
    at = np.int64(keys.size >> 1)
    for i in range(rows.size):
        at = gallop(keys, values[rows[i]], at)
        out_position[i] = at


@kernel
def pick_before(
    keys: NDArray[np.int64],
    places: NDArray[np.int64],
    floors: NDArray[np.int64],
    bits: np.int64,
    rows: NDArray[np.int64],
    out_position: NDArray[np.int64],
) -> None:
    """Write, to each row, the last position whose key is at most its place; NO_ROW if it lies below its floor.

    `places` stand in the order of `rows`, `floors` in that of the output. Without floors, the floor is the place with
    its lowest `bits` cleared; with no such bits, there is none.
    """
    at = np.int64(keys.size >> 1)
    for i in range(rows.size):
        place = places[i]
        at = gallop(keys, place + 1, at) if place < MOST else np.int64(keys.size)
        row = rows[i]
        out_position[row] = NO_ROW
        if at == 0:
            continue
        if floors.size:
            if keys[at - 1] < floors[row]:
                continue
        elif bits > 0 and keys[at - 1] < (place >> bits) << bits:
            continue
        out_position[row] = at - 1


@kernel
def pick_after(
    keys: NDArray[np.int64],
    places: NDArray[np.int64],
    ceilings: NDArray[np.int64],
    bits: np.int64,
    rows: NDArray[np.int64],
    out_position: NDArray[np.int64],
) -> None:
    """Write, to each row, the first position whose key is at least its place; NO_ROW if it lies above its ceiling.

    As `pick_before`; without ceilings, the ceiling is the place with its lowest `bits` set.
    """
    at = np.int64(keys.size >> 1)
    for i in range(rows.size):
        place = places[i]
        at = gallop(keys, place, at)
        row = rows[i]
        out_position[row] = NO_ROW
        if at == keys.size:
            continue
        if ceilings.size:
            if keys[at] > ceilings[row]:
                continue
        elif bits > 0 and keys[at] >> bits != place >> bits:
            continue
        out_position[row] = at
