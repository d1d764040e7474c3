"""Runs of values and stretches of memory, from any pair on, are what an index would give."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dovetail._core.kernels.slices import copy_slices, repeat_values, taken

WORDS = st.sampled_from([np.uint8, np.uint16, np.uint32, np.uint64])


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 9)), min_size=1, max_size=20), WORDS, st.data())
def test_pieces_of_slices(slices: list[tuple[int, int]], word: type[np.integer], data: st.DataObject) -> None:
    low, count = (np.array(own, np.int64) for own in zip(*slices, strict=True))
    ends = np.cumsum(count)
    first = data.draw(st.integers(0, int(ends[-1])))
    size = data.draw(st.integers(0, int(ends[-1]) - first))
    rows = np.repeat(np.arange(low.size), count)[first : first + size]
    places = (np.concatenate([np.arange(a, a + b) for a, b in zip(low, count, strict=True)]))[first : first + size]
    stored: np.ndarray = np.arange(int((low + count).max())).astype(word)
    probes: np.ndarray = np.arange(low.size).astype(word) * 7
    out: np.ndarray = np.empty(size, word)
    repeat_values(probes, ends, np.int64(first), out)
    assert out.tolist() == probes[rows].tolist()
    copy_slices(stored, low, ends, np.int64(first), out)
    assert out.tolist() == stored[places].tolist() == taken(stored, places).tolist()
