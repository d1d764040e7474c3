"""Tiles hold the pairs of their slices, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dovetail._core.sweep.bounds import Slices
from dovetail._core.sweep.slice_join import SliceJoin
from dovetail._core.sweep.tiles import cut_tiles

if TYPE_CHECKING:
    from dovetail._core.sweep.tiles import Tiles

SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 300)), max_size=12)


def _slices(spans: list[tuple[int, int]]) -> SliceJoin:
    low, length = np.array(spans, np.int64).reshape(-1, 2).T
    high = low + length
    return SliceJoin(Slices(np.arange(high.max(initial=0)), np.arange(low.size), low, high), "right")


def _pairs(tiles: Tiles) -> list[tuple[int, int]]:
    numbers = np.arange(tiles.pairs)
    tile, nth = numbers >> tiles.shift, numbers & ((1 << tiles.shift) - 1)
    return list(zip(tiles.probes[tile].tolist(), (tiles.firsts[tile] + nth).tolist(), strict=True))


@given(SPANS)
def test_tiles_are_the_slices(spans: list[tuple[int, int]]) -> None:
    found = [pair for tiles in cut_tiles(_slices(spans)) for pair in _pairs(tiles)]
    wanted = [(probe, first + i) for probe, (first, length) in enumerate(spans) for i in range(length)]
    assert sorted(found) == wanted


def test_a_slice_is_cut_from_the_left_in_tiles_of_falling_size() -> None:
    tiles = cut_tiles(_slices([(3, 41), (0, 0), (5, 40)]))
    assert [(own.shift, own.probes.tolist(), own.firsts.tolist()) for own in tiles] == [
        (3, [0, 0, 0, 0, 0, 2, 2, 2, 2, 2], [3, 11, 19, 27, 35, 5, 13, 21, 29, 37]),
        (0, [0], [43]),
    ]


def test_long_slices_have_few_tiles() -> None:
    lengths = np.random.default_rng(1).integers(1, 100_000, 1_000)
    tiles = cut_tiles(_slices([(0, int(length)) for length in lengths]))
    assert sum(own.probes.size for own in tiles) < 30 * lengths.size
