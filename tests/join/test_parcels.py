"""Rows that are packed into parcels arrive as they were, each at its place."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from dovetail._hosts.spark.parcels import PLACE, arrived, packed


@pytest.mark.parametrize("most", [0, 1, 45, 200_000])
@pytest.mark.parametrize("rows", [1, 1000])
def test_rows_arrive_at_their_places(most: int, rows: int) -> None:
    dice = np.random.default_rng(most + rows)
    places = pa.array(dice.integers(0, most, rows, endpoint=True), pa.int32())
    words = pa.array([None if i % 7 == 0 else f"row {i}" * (i % 3) for i in range(rows)])
    sent = pa.table({PLACE: places, "number": np.arange(rows), "word": words, "list": [[i] for i in range(rows)]})

    parcels = list(packed(iter(sent.to_batches(max_chunksize=300))))

    for place, (anchor, table) in zip(_places(parcels), arrived(iter(parcels)), strict=True):
        assert anchor == bool(place % 2)
        here = pa.array(np.flatnonzero(places.to_numpy() == place))
        assert table.equals(sent.take(here).drop_columns(PLACE).combine_chunks())
    assert _places(parcels) == sorted(set(places.to_pylist()))


def test_nothing_is_packed_of_nothing() -> None:
    assert list(packed(iter(()))) == []
    assert list(arrived(iter(()))) == []


def _places(parcels: list[pa.RecordBatch]) -> list[int]:
    return [place for batch in parcels for place in batch.column(PLACE).to_pylist()]
