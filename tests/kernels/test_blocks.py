"""The time-travel index holds what was inserted, in order, through splits, growth and expiry."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail._core.kernels.blocks import LEAST, MAX, SUM
from dovetail._core.sweep.time_travel import Area, Asked, Ends, Folds, Rows

KINDS = [SUM, MAX]


def _rows(size: int, disorder: int, keys: int = 2) -> Rows:
    dice = np.random.default_rng(size + disorder)
    at = np.arange(size) // 2 + dice.integers(0, disorder + 1, size)
    words = np.stack([dice.integers(0, 9, size), dice.integers(-99, 99, size)])
    return Rows(dice.integers(0, keys, size), at, words, dice.random((1, size)))


def _area(rows: Rows, **options: bool) -> Area:
    area = Area(KINDS, 1, **options)
    area.admit(2)
    area.insert(rows, np.arange(rows.at.size))
    return area


@pytest.mark.parametrize("disorder", [0, 30, 2000])
@pytest.mark.parametrize("folds", [True, False])
def test_windows_fold_what_lies_in_them(disorder: int, folds: bool) -> None:  # noqa: FBT001 -- a parameter
    rows = _rows(1500, disorder)
    area = _area(rows, folds=folds)
    upper = np.arange(0, 1200, 37)
    lower = upper - np.where(upper % 2, 500, 20)
    codes = np.arange(upper.size) % 3  # key 2 has no rows
    asked = Asked(codes, lower, upper, np.lexsort((lower, codes)))
    out, ends = Folds.none(KINDS, 1, upper.size), Ends.none(upper.size)
    found = area.find(asked)
    area.fold(asked, found, out, np.zeros(upper.size, np.int64))
    area.ends(asked, found, (0, 1), ends, last=True)
    for i in range(upper.size):
        inside = (rows.codes == codes[i]) & (rows.at >= lower[i]) & (rows.at <= upper[i])
        assert out.words[0, i] == inside.sum()
        assert out.words[1, i] == rows.words[0, inside].sum()
        assert out.words[2, i] == rows.words[1, inside].max(initial=LEAST)
        assert out.high[0, i] + out.low[0, i] == pytest.approx(rows.doubles[0, inside].sum(), abs=1e-9)
        counted = inside & (rows.words[0] > 0)
        best = max(zip(*(own[counted].tolist() for own in (rows.at, *rows.words)), strict=True), default=None)
        assert (ends.flag[i] > 0) == (best is not None)
        assert best is None or (ends.at[i], ends.flag[i], ends.value[i]) == best


def test_a_dump_is_in_the_order_of_key_and_time_and_holds_every_row() -> None:
    rows = _rows(900, 300)
    dumped = _area(rows).dump()
    assert np.array_equal(np.lexsort((dumped.at, dumped.codes)), np.arange(900))
    assert sorted(map(tuple, dumped.words.T.tolist())) == sorted(map(tuple, rows.words.T.tolist()))


def test_whole_blocks_expire_and_their_pages_are_used_again() -> None:
    rows = _rows(800, 10)
    area = _area(rows)
    held = area.bytes
    for turn in range(1, 5):
        area.expire(turn * 400, prevails=False)
        assert area.rows < 400
        area.insert(rows._replace(at=rows.at + turn * 400), np.arange(800))
    assert area.bytes == held
    area.expire(10_000, prevails=False)
    assert area.rows == 0


def test_the_row_that_prevails_does_not_expire() -> None:
    rows = _rows(800, 10)
    area = _area(rows)
    area.expire(10_000, prevails=True)
    found = np.full(2, LEAST)
    asked = Asked(np.arange(2), np.zeros(2, np.int64), np.zeros(2, np.int64), np.arange(2))
    area.prevailing(asked, np.full(2, 10_000), found)
    assert found.tolist() == [int(rows.at[rows.codes == key].max()) for key in (0, 1)]
