"""The different codes of a window are counted once each, whether it overlaps the one before or not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.stored_rows import area_of, inside, some_rows, some_windows


@pytest.mark.parametrize("disorder", [0, 30, 2000])
@pytest.mark.parametrize("ordered", [True, False])
def test_windows_count_their_different_codes(disorder: int, ordered: bool) -> None:  # noqa: FBT001 -- a parameter
    rows, asked = some_rows(1500, disorder), some_windows()
    codes = rows.words[0] * rows.words[1] // 9 % 50 - 1  # -1: does not count
    area = area_of(rows._replace(words=np.stack([codes, codes])), ordered=ordered)
    seen, out = np.zeros(50, np.int64), np.zeros(asked.codes.size, np.int64)
    area.distinct(asked, area.find(asked), 0, seen, out)
    expected = [set(codes[inside(rows, asked, i)].tolist()) - {-1} for i in range(asked.codes.size)]
    assert out.tolist() == [len(own) for own in expected]
    assert not ordered or not seen.any()
