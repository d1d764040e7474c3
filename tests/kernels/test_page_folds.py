"""Every block but the last, and every node, keeps the folds of its rows, in whatever order these came."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail._core.kernels.pages import HEAD, HEADER, behind_last, levels_of, page_at, slot_of
from tests.kernels.stored_rows import KINDS, area_of, some_rows


@pytest.mark.parametrize("disorder", [0, 30, 2000])
def test_blocks_and_nodes_keep_the_folds_of_the_rows_below(disorder: int) -> None:
    area = area_of(some_rows(2500, disorder, keys=1))
    index, rows = area.index, area.dump()
    pages, numbers = index.pages, index.numbers
    blocks = int(behind_last(index, 0))
    assert index.keys[0, HEAD] == 0
    assert levels_of(index, 0) == 1
    sizes = [pages[page_at(index, 0, position)] for position in range(blocks)]
    behind = np.append(0, np.cumsum(sizes))
    assert behind[-1] == rows.at.size
    for level, group in [(0, own) for own in range(blocks - 1)] + [(1, own) for own in range((blocks + 14) >> 4)]:
        page = index.slots[slot_of(index, 0, level, group)]
        below = slice(*behind[[group << 4 * level, min((group + 1) << 4 * level, blocks - 1)]].tolist())
        total, greatest = pages[page + HEADER : page + HEADER + len(KINDS)]
        sum_, lost = numbers[page + HEADER + len(KINDS) : page + HEADER + len(KINDS) + 2]
        assert pages[page] == below.stop - below.start
        assert total == rows.words[0, below].sum()
        assert greatest == rows.words[1, below].max()
        assert sum_ + lost == pytest.approx(rows.doubles[0, below].sum(), abs=1e-9)
