"""The first and last row of a window, by time, then by flag and value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dovetail._core.kernels.window_ends import Ends
from tests.kernels.stored_rows import EVEN, ODD, area_of, inside, some_rows, some_windows

if TYPE_CHECKING:
    from dovetail._core.kernels.blocks import Rows
    from dovetail._core.kernels.seeking import Asked


@pytest.mark.parametrize("disorder", [0, 30, 2000])
@pytest.mark.parametrize("folds", [True, False])
@pytest.mark.parametrize("last", [True, False])
def test_windows_end_with_a_row_that_counts(disorder: int, folds: bool, last: bool) -> None:  # noqa: FBT001 -- parameters
    rows, asked = some_rows(1500, disorder), some_windows()
    area, ends = area_of(rows, folds=folds), Ends.none(asked.codes.size)
    area.ends(asked, area.find(asked), (0, 1), ends, last=last)
    _check(ends, rows, asked, last=last)


@pytest.mark.parametrize("disorder", [0, 30, 2000])
@pytest.mark.parametrize("last", [True, False])
def test_of_the_ends_in_two_areas_the_better_one_stays(disorder: int, last: bool) -> None:  # noqa: FBT001 -- a parameter
    rows, asked = some_rows(1500, disorder), some_windows()
    ends = Ends.none(asked.codes.size)
    for area in (area_of(rows, EVEN), area_of(rows, ODD)):
        area.ends(asked, area.find(asked), (0, 1), ends, last=last)
    _check(ends, rows, asked, last=last)


def _check(ends: Ends, rows: Rows, asked: Asked, *, last: bool) -> None:
    for i in range(asked.codes.size):
        counted = inside(rows, asked, i) & (rows.words[0] > 0)
        found = zip(*(own[counted].tolist() for own in (rows.at, *rows.words)), strict=True)
        best = max(found, default=None) if last else min(found, default=None)
        assert (ends.flag[i] > 0) == (best is not None)
        assert best is None or (ends.at[i], ends.flag[i], ends.value[i]) == best
