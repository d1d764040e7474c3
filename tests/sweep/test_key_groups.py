"""Rows by the numbers of their keys: the pairs of every type, in the order of the stored rows, whatever the hash."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail._core.sweep import key_groups
from dovetail._core.sweep.key_groups import KeyGroups
from dovetail._core.sweep.key_index import hashes
from dovetail._core.sweep.prepare import SideColumns
from tests.sweep.test_key_index import COLUMNS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dovetail._core.columns.key_parts import KeyParts

FAR = 2**63 - 1


def _side(*keys: pa.Array) -> SideColumns:
    return SideColumns(len(keys[0]), None, keys, ())


def _pairs(stored: list[pa.Array], probing: list[pa.Array], safe: list[bool]) -> list[tuple[int, int]]:
    groups = KeyGroups.build(_side(*stored), safe)
    pieces = groups.pairs(groups.find(_side(*probing)))
    return [pair for ours, theirs in pieces for pair in zip(ours.tolist(), theirs.tolist(), strict=True)]


@pytest.mark.parametrize("columns", COLUMNS, ids=lambda own: str(own[0].type))
@pytest.mark.parametrize("safe", [False, True])
def test_equal_keys_of_every_type_meet(columns: tuple[pa.Array, pa.Array], safe: bool) -> None:  # noqa: FBT001
    nulls = [(3, 3)] if safe else []
    assert _pairs([columns[0]], [columns[1]], [safe]) == [(1, 0), (0, 1), (1, 2), *nulls]


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from([None, -FAR - 1, -1, 0, 1, 2, 5, FAR]), max_size=12),
    st.lists(st.sampled_from([None, -FAR - 1, -1, 0, 1, 2, 7, FAR]), max_size=12),
)
def test_pairs_come_in_the_order_of_the_stored_rows(stored: list[int | None], probing: list[int | None]) -> None:
    sides = [pa.array(stored, pa.int64())], [pa.array(probing, pa.int64())]
    want = [(i, j) for j, other in enumerate(stored) for i, own in enumerate(probing) if own == other is not None]
    assert _pairs(*sides, [False]) == want


def test_pairs_are_cut_anywhere_between_a_rows_partners(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_groups, "CHUNK", 2)
    assert _pairs([pa.array([4, 9, 4])], [pa.array([4, 4, 4])], [False]) == [(i, j) for j in (0, 2) for i in range(3)]


def test_keys_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def worse(parts: KeyParts, seed: int) -> NDArray[np.int64]:
        return np.zeros_like(hashes(parts, seed)) if seed < 2 else hashes(parts, seed)

    monkeypatch.setattr(key_groups, "hashes", worse)
    stored = pa.array(["a", "b", "a", "c"])
    assert KeyGroups.build(_side(stored), [False]).seed == 2
    assert _pairs([stored], [pa.array(["c", "a", "x"])], [False]) == [(1, 0), (1, 2), (0, 3)]


def test_a_probing_key_that_shares_a_hash_with_a_stored_one_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_groups, "hashes", lambda parts, seed: np.zeros_like(hashes(parts, seed)))
    assert _pairs([pa.array(["a", "a"])], [pa.array(["b", "a"])], [False]) == [(1, 0), (1, 1)]
