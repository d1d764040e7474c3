"""Rows that are packed into parcels arrive as they were, each at its place."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from dovetail._core.condition.values import Op
from dovetail._core.placement.boxes import Cut
from dovetail._hosts.spark.parcels import arrived, packed
from dovetail._hosts.spark.places import PLACE
from dovetail._hosts.spark.trees import Trees


@pytest.mark.parametrize("most", [0, 1, 45, 200_000])
@pytest.mark.parametrize("rows", [1, 1000])
def test_rows_arrive_at_their_places(most: int, rows: int) -> None:
    dice = np.random.default_rng(most + rows)
    places = pa.array(dice.integers(0, most, rows, endpoint=True), pa.int32())
    words = pa.array([None if i % 7 == 0 else f"row {i}" * (i % 3) for i in range(rows)])
    sent = pa.table({PLACE: places, "number": np.arange(rows), "word": words, "list": [[i] for i in range(rows)]})

    parcels = list(packed(iter(sent.to_batches(max_chunksize=300))))

    for place, table in arrived(iter(parcels)):
        here = pa.array(np.flatnonzero(places.to_numpy() == place))
        assert table.equals(sent.take(here).drop_columns(PLACE).combine_chunks())
    assert [place for place, _ in arrived(iter(parcels))] == sorted(set(places.to_pylist()))


def test_rows_that_go_to_many_cells_leave_in_small_parcels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail._hosts.spark.parcels._ROWS", 100)
    monkeypatch.setattr("dovetail._hosts.spark.parcels._TURN", 40)
    # One inequality, cut at 0, 1, 2, ...: a row of the other side goes to every box below it.
    tree: Cut | int = 9
    for row in range(9, 0, -1):
        tree = Cut(0, row, row - 1, tree)
    trees = Trees(((tree, 0),), (Op.LE,), pa.table({"v0": np.arange(10)}), (), ("v",), ("v",))
    values = np.arange(90) % 10
    sent = pa.table({PLACE: pa.array(np.full(90, -1), pa.int32()), "v": values})

    parcels = list(packed(iter(sent.to_batches()), trees))

    assert max(sum(table.num_rows for _, table in arrived(iter([batch]))) for batch in parcels) <= 100
    met = [(place >> 2, v) for place, table in arrived(iter(parcels)) for v in table["v"].to_pylist()]
    assert sorted(met) == sorted((box, int(v)) for v in values for box in range(v + 1))


def test_nothing_is_packed_of_nothing() -> None:
    assert list(packed(iter(()))) == []
    assert list(arrived(iter(()))) == []
