"""Pages and segments are handed out once, and again when they were handed back."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail._core.kernels.pages import (
    FREE,
    LEAST,
    MAX,
    MOST,
    SPARE,
    SUM,
    chain_pages,
    give_page,
    give_segment,
    has_segment,
    page_shape,
    segment_size,
    slot_of,
    take_page,
    take_segment,
)


def test_a_page_handed_back_is_taken_again_and_comes_cleared() -> None:
    shape, tally = page_shape([SUM, MAX], 1), np.zeros(SPARE, np.int64)
    pages = np.full(3 * int(shape[2]), 7)
    numbers = pages.view(np.float64)
    chain_pages(pages, shape, tally, 0)
    taken = [take_page(pages, numbers, shape, tally) for _ in range(3)]
    assert sorted(taken) == [0, shape[2], 2 * shape[2]]
    assert tally[FREE] == 0
    pages[:] = 7
    give_page(pages, tally, taken[1])
    again = take_page(pages, numbers, shape, tally)
    assert again == taken[1]
    assert pages[again : again + 5].tolist() == [0, MOST, LEAST, 0, LEAST]
    assert numbers[again + 5 : again + 7].tolist() == [0.0, 0.0]


def test_a_segment_handed_back_is_taken_again_for_its_size_alone() -> None:
    slots, tally = np.zeros(segment_size(2) + segment_size(4), np.int64), np.full(SPARE + 8, -1)
    tally[:SPARE] = 0
    first = take_segment(slots, tally, 2)
    give_segment(slots, tally, first, 2)
    other = take_segment(slots, tally, 4)
    assert other != first
    assert not has_segment(slots, tally, 4)
    assert has_segment(slots, tally, 2)
    assert take_segment(slots, tally, 2) == first
    assert not has_segment(slots, tally, 2)


@pytest.mark.parametrize("bits", [2, 5, 8])
@pytest.mark.parametrize("head", [0, 37, 255])
def test_the_slots_of_blocks_and_nodes_fill_their_segment_without_meeting(bits: int, head: int) -> None:
    keys = np.array([100, bits, head, 1 << bits])
    last = head + (1 << bits) - 1
    of_level = [range(head >> 4 * level, (last >> 4 * level) + 1) for level in range((bits >> 2) + 1)]
    slots = [slot_of(keys, 0, level, own) for level, positions in enumerate(of_level) for own in positions]
    assert len(set(slots)) == len(slots)
    assert min(slots) == 100
    assert max(slots) < 100 + segment_size(bits)
