"""Windows begin and end where a binary search in the key's sorted times says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from dovetail._core.kernels.pages import LEAST, MOST, page_at
from dovetail._core.kernels.seeking import Asked, block_of, row_of
from tests.kernels.stored_rows import area_of, inside, some_rows

if TYPE_CHECKING:
    from dovetail._core.sweep.time_travel import Area


def _rows_before(area: Area, key: int, place: int) -> int:
    before = (page_at(area.index, key, position) for position in range(block_of(place)))
    return int(sum(area.index.pages[page] for page in before)) + int(row_of(place))


@pytest.mark.parametrize("disorder", [0, 30, 2000])
@pytest.mark.parametrize("step", [1, 300])  # from window to window within a block, and over many
@pytest.mark.parametrize("size", [60, 3000])  # one block a key, and many
def test_places_are_those_of_a_binary_search(disorder: int, step: int, size: int) -> None:
    rows = some_rows(size, disorder)
    area = area_of(rows)
    lower = np.append(np.arange(-50, 1600, step), [LEAST, 40, LEAST, 900, 30])
    upper = np.append(lower[:-5] + 25, [10, MOST, MOST, 900, 20])
    codes = np.arange(lower.size) % 3  # key 2 has no rows
    asked = Asked(codes, lower, upper, np.argsort(codes, kind="stable"))
    found = area.find(asked)
    assert found.order.tolist() == [i for i in asked.order.tolist() if inside(rows, asked, i).any()]
    for i in found.order.tolist():
        times = np.sort(rows.at[rows.codes == codes[i]])
        assert _rows_before(area, int(codes[i]), int(found.begins[i])) == np.searchsorted(times, lower[i])
        assert _rows_before(area, int(codes[i]), int(found.ends[i])) == np.searchsorted(times, upper[i], "right")


@pytest.mark.parametrize("ordered", [True, False])
def test_the_last_time_at_or_before_a_start_prevails(ordered: bool) -> None:  # noqa: FBT001 -- a parameter
    rows = some_rows(1500, 30)
    starts = np.append(np.arange(-5, 900, 7), [LEAST, MOST, MOST])
    codes = np.arange(starts.size) % 3  # key 2 has no rows
    found = np.full(starts.size, LEAST)
    found[99] = MOST  # later than any time stored: stays
    asked = Asked(codes, starts, starts, np.arange(starts.size))
    area_of(rows, ordered=ordered).prevailing(asked, starts, found)
    before = [(rows.codes == codes[i]) & (rows.at <= starts[i]) for i in range(starts.size)]
    expected = [rows.at[own].max(initial=LEAST) for own in before]
    expected[99] = MOST
    assert found.tolist() == expected
