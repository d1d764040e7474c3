"""Rows found by their keys, in parts: whatever the type, whatever the hash."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from dovetail._core.sweep import key_index
from dovetail._core.sweep.key_index import KeyIndex, hashes, side_hashes
from dovetail._core.sweep.prepare import SideColumns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dovetail._core.columns.key_parts import KeyParts

COLUMNS: list[tuple[pa.Array, pa.Array]] = [
    (pa.array([3, 1, 3, None]), pa.array([1, 3, 9, None])),
    (pa.array(["é", "", "é", None]), pa.array(["", "é", "e", None])),
    (pa.array([b"\x00", b"", b"\x00", None]), pa.array([b"", b"\x00", b"\x00\x00", None])),
    (pa.array([0.0, float("nan"), -0.0, None]), pa.array([float("nan"), -0.0, 1.0, None])),
    (
        pa.array([Decimal("9" * 38), Decimal(1), Decimal("9" * 38), None], pa.decimal128(38, 0)),
        pa.array([Decimal(1), Decimal("9" * 38), Decimal(-1), None], pa.decimal128(38, 0)),
    ),
]


def _side(*keys: pa.Array) -> SideColumns:
    return SideColumns(len(keys[0]), None, keys, ())


def _pairs(stored: list[pa.Array], probing: list[pa.Array], safe: list[bool]) -> set[tuple[int, int]]:
    index = KeyIndex.build(_side(*stored), safe)
    found, rows = index.probe(_side(*probing))
    return {
        (int(rows[i]), int(index.rows[at]))
        for i, (low, high) in enumerate(zip(found.low, found.high, strict=True))
        for at in range(low, high)
    }


@pytest.mark.parametrize("columns", COLUMNS, ids=lambda own: str(own[0].type))
@pytest.mark.parametrize("safe", [False, True])
def test_equal_keys_of_every_type_meet(columns: tuple[pa.Array, pa.Array], safe: bool) -> None:  # noqa: FBT001
    nulls = {(3, 3)} if safe else set()
    assert _pairs([columns[0]], [columns[1]], [safe]) == {(0, 1), (1, 0), (1, 2)} | nulls


def test_all_of_several_keys_must_be_equal() -> None:
    stored, probing = [COLUMNS[0][0], COLUMNS[1][0]], [pa.array([3, 3]), pa.array(["é", ""])]
    assert _pairs(stored, probing, [False, False]) == {(0, 0), (0, 2)}


def test_keys_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def worse(parts: KeyParts, seed: int) -> NDArray[np.int64]:
        return np.zeros_like(hashes(parts, seed)) if seed < 2 else hashes(parts, seed)

    monkeypatch.setattr(key_index, "hashes", worse)
    stored = pa.array(["a", "b", "a", "c"])
    assert KeyIndex.build(_side(stored), [False]).seed == 2
    assert _pairs([stored], [pa.array(["c", "a", "x"])], [False]) == {(0, 3), (1, 0), (1, 2)}


def test_a_probing_key_that_shares_a_hash_with_a_stored_one_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_index, "hashes", lambda parts, seed: np.zeros_like(hashes(parts, seed)))
    assert _pairs([pa.array(["a", "a"])], [pa.array(["b", "a"])], [False]) == {(1, 0), (1, 1)}


def test_the_owner_of_a_key_is_the_same_wherever_it_is_looked_at() -> None:
    def owner(*keys: Any) -> list[int]:
        return [int(own) for own in side_hashes(_side(pa.array(keys)), [False])[1]]

    assert owner("a", "b", None) == [owner("a")[0], owner("b", "x")[0]]
    assert len(set(owner(*range(1000)))) == 1000
