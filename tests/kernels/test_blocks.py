"""The time-travel index holds what was inserted, in order, through splits, growth and expiry."""

from __future__ import annotations

import numpy as np

from dovetail._core.kernels.pages import LEAST
from dovetail._core.kernels.seeking import Asked
from tests.kernels.stored_rows import area_of, some_rows


def test_a_dump_is_in_the_order_of_key_and_time_and_holds_every_row() -> None:
    rows = some_rows(900, 300)
    dumped = area_of(rows).dump()
    assert np.array_equal(np.lexsort((dumped.at, dumped.codes)), np.arange(900))
    assert sorted(map(tuple, dumped.words.T.tolist())) == sorted(map(tuple, rows.words.T.tolist()))


def test_whole_blocks_expire_and_their_pages_are_used_again() -> None:
    rows = some_rows(800, 10)
    area = area_of(rows)
    held = area.bytes
    for turn in range(1, 5):
        area.expire(turn * 400, prevails=False)
        assert area.rows < 400
        area.insert(rows._replace(at=rows.at + turn * 400), np.arange(800))
    assert area.bytes == held
    area.expire(10_000, prevails=False)
    assert area.rows == 0


def test_the_row_that_prevails_does_not_expire() -> None:
    rows = some_rows(800, 10)
    area = area_of(rows)
    area.expire(10_000, prevails=True)
    found = np.full(2, LEAST)
    asked = Asked(np.arange(2), np.zeros(2, np.int64), np.zeros(2, np.int64), np.arange(2))
    area.prevailing(asked, np.full(2, 10_000), found)
    assert found.tolist() == [int(rows.at[rows.codes == key].max()) for key in (0, 1)]
