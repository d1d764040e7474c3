"""Pages and segments are handed out once, and again when they were handed back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from dovetail._core.kernels.pages import (
    FREE,
    LEAST,
    MAX,
    MOST,
    SPARE,
    SUM,
    Index,
    chain_pages,
    give_page,
    give_segment,
    has_segment,
    page_layout,
    segment_size,
    slot_of,
    take_page,
    take_segment,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


def _index(pages: int = 0, slots: int = 0, key: Sequence[int] = (-1, 0, 0, 0)) -> Index:
    times, size = page_layout([SUM, MAX], 1)
    words, tally = np.full(pages * size, 7), np.full(SPARE + 8, -1)
    tally[:SPARE] = 0
    keys, kinds = np.array([key]), np.array([SUM, MAX])
    return Index(words, words.view(np.float64), np.zeros(slots, np.int64), keys, tally, kinds, 1, times, size)


def test_a_page_handed_back_is_taken_again_and_comes_cleared() -> None:
    index = _index(pages=3)
    chain_pages(index, 0)
    taken = [take_page(index) for _ in range(3)]
    assert sorted(taken) == [0, index.size, 2 * index.size]
    assert index.tally[FREE] == 0
    index.pages[:] = 7
    give_page(index, taken[1])
    again = take_page(index)
    assert again == taken[1]
    assert index.pages[again : again + 5].tolist() == [0, MOST, LEAST, 0, LEAST]
    assert index.numbers[again + 5 : again + 7].tolist() == [0.0, 0.0]


def test_a_segment_handed_back_is_taken_again_for_its_size_alone() -> None:
    index = _index(slots=segment_size(2) + segment_size(4))
    first = take_segment(index, 2)
    give_segment(index, first, 2)
    other = take_segment(index, 4)
    assert other != first
    assert not has_segment(index, 4)
    assert has_segment(index, 2)
    assert take_segment(index, 2) == first
    assert not has_segment(index, 2)


@pytest.mark.parametrize("bits", [2, 5, 8])
@pytest.mark.parametrize("head", [0, 37, 255])
def test_the_slots_of_blocks_and_nodes_fill_their_segment_without_meeting(bits: int, head: int) -> None:
    index = _index(key=[100, bits, head, 1 << bits])
    last = head + (1 << bits) - 1
    of_level = [range(head >> 4 * level, (last >> 4 * level) + 1) for level in range((bits >> 2) + 1)]
    slots = [slot_of(index, 0, level, own) for level, positions in enumerate(of_level) for own in positions]
    assert len(set(slots)) == len(slots)
    assert min(slots) == 100
    assert max(slots) < 100 + segment_size(bits)
