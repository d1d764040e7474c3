"""Windows fold the rows that lie in them, with and without the folds of blocks and nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from dovetail._core.kernels.pages import LEAST
from dovetail._core.kernels.window_folds import Folds, clear_one, merge_columns
from tests.kernels.stored_rows import EVEN, EVERY, KINDS, ODD, area_of, inside, some_rows, some_windows

if TYPE_CHECKING:
    from dovetail._core.kernels.seeking import Asked
    from dovetail._core.sweep.time_travel import Area


def _folded(area: Area, asked: Asked) -> Folds:
    out = Folds.none(KINDS, 1, asked.codes.size)
    area.fold(asked, area.find(asked), out, np.zeros(asked.codes.size, np.int64))
    return out


@pytest.mark.parametrize("disorder", [0, 30, 2000])
@pytest.mark.parametrize("folds", [True, False])
def test_windows_fold_what_lies_in_them(disorder: int, folds: bool) -> None:  # noqa: FBT001 -- a parameter
    rows = some_rows(1500, disorder)
    asked = some_windows()
    out = _folded(area_of(rows, folds=folds), asked)
    for i in range(asked.codes.size):
        own = inside(rows, asked, i)
        assert out.words[0, i] == own.sum()
        assert out.words[1, i] == rows.words[0, own].sum()
        assert out.words[2, i] == rows.words[1, own].max(initial=LEAST)
        assert out.high[0, i] + out.low[0, i] == pytest.approx(rows.doubles[0, own].sum(), abs=1e-9)


def test_the_folds_of_two_parts_merge_to_those_of_the_whole() -> None:
    rows, asked = some_rows(1500, 30), some_windows()
    size = asked.codes.size
    whole, even, odd = (_folded(area_of(rows, part), asked) for part in (EVERY, EVEN, ODD))
    merge_columns(np.array(KINDS), odd, size, even)
    assert np.array_equal(even.words[:, :size], whole.words[:, :size])
    sums, expected = ((out.high + out.low)[:, :size] for out in (even, whole))
    assert np.allclose(sums, expected, rtol=0, atol=1e-9)


def test_a_cleared_column_is_the_fold_of_nothing() -> None:
    nothing = Folds.none(KINDS, 1, 3)
    used = Folds(nothing.words + 5, nothing.high + 5, nothing.low + 5)
    clear_one(np.array(KINDS), used)
    for lanes, expected in zip(used, nothing, strict=True):
        assert np.array_equal(lanes[:, 0], expected[:, 0])
        assert np.array_equal(lanes[:, 1:], expected[:, 1:] + 5)
