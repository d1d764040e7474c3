"""Stretches of time: every row has one cell of its own, and is a guest wherever it may be within reach of another."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dovetail._core.columns.order_keys import order_keys
from dovetail._hosts.spark.places import is_guest, located
from dovetail._hosts.spark.stretches import Margins, Stretch, Timeline

DAY = date(2024, 2, 27)
TIMES: dict[str, tuple[pa.DataType, Any]] = {
    "bigint": (pa.int64(), lambda n: n),
    "at the ends": (pa.int64(), lambda n: (-1 if n % 2 else 1) * (2**63 - 1 - n)),
    "double": (pa.float64(), lambda n: [float("nan"), float("inf"), -0.0, -float("inf")][n] if n < 4 else n / 3),
    "decimal": (pa.decimal128(9, 2), lambda n: Decimal(n) / 4),
    "wide decimal": (pa.decimal128(38, 2), lambda n: Decimal(n) * 10**30),
    "date": (pa.date32(), lambda n: DAY + timedelta(days=n)),
    "timestamp": (pa.timestamp("us", "UTC"), lambda n: n),
    "string": (pa.string(), lambda n: f"{n:03}" * (n % 2)),
}


@pytest.mark.parametrize("name", TIMES)
@pytest.mark.parametrize(
    ("reach", "to_milestone"),
    [((0, 0), False), ((3, 40), False), ((-5, 9), False), ((0, 0), True), ((3, 40), True), ((None, 0), True)],
)
def test_cells_have_what_their_rows_reach(name: str, reach: tuple[int | None, int], to_milestone: bool) -> None:  # noqa: FBT001
    kind, value = TIMES[name]
    if name == "string" and reach[0] is not None:
        reach = 0, 0  # strings have no distances
    dice = np.random.default_rng(len(name))
    left, right, milestones = (
        pa.array([value(n) for n in dice.integers(0, 200, size).tolist()], kind) for size in (90, 90, 12)
    )
    cuts = [(0, row) for row in _ascending(left.slice(0, 30), 6)]
    stretch = Stretch.of(
        5, cuts, (pa.table({"v0": left}), pa.table({"v0": milestones})), _margins(kind, reach, to_milestone)
    )
    timeline = Timeline((stretch,), ("x",), ("y",), witnesses=False)

    mine, home, _ = located(timeline, pa.table({"x": left}), np.full(len(left), -2))
    rows, places, _ = located(timeline, pa.table({"y": right}), np.full(len(right), -1))

    assert sorted(mine.tolist()) == list(range(len(left)))
    assert not any(is_guest(place) for place in home.tolist())
    assert set(home >> 2) <= set(range(5, 5 + stretch.cells))
    ours, theirs, at_milestones, at_cuts = order_keys([left, right, milestones, stretch.cuts])
    assert (home >> 2).tolist() == (5 + (ours[mine, None] >= at_cuts).sum(axis=1)).tolist()
    if min(number or 0 for number in reach) >= 0:
        owned = [row for row, place in zip(rows.tolist(), places.tolist(), strict=True) if not is_guest(place)]
        assert sorted(owned) == list(range(len(right)))
    got = set(zip(rows.tolist(), (places >> 2).tolist(), strict=True))
    assert len(got) == rows.size
    assert got >= _needed(ours, home >> 2, theirs, at_milestones if to_milestone else None, reach, name)
    if reach == (0, 0) and not to_milestone and name != "double":
        assert rows.size == len(right) + sum(time in at_cuts.tolist() for time in theirs.tolist())


def _ascending(times: pa.Array, number: int) -> list[int]:
    """Rows of a few different times, by time; the least is no cut."""
    keys, rows = np.unique(order_keys([times])[0], return_index=True)
    assert keys.size > number
    return rows[1 + np.linspace(0, keys.size - 2, number).astype(int)].tolist()  # type: ignore[no-any-return]


def _margins(kind: pa.DataType, reach: tuple[int | None, int], to_milestone: bool) -> Margins:  # noqa: FBT001
    return Margins(kind, *reach, back_to_milestone=to_milestone, forward_to_milestone=to_milestone)


def _needed(
    ours: np.ndarray, cells: np.ndarray, theirs: np.ndarray, milestones: np.ndarray | None, reach: Any, name: str
) -> set[tuple[int, int]]:
    """Right rows, and cells with a left row that they lie within reach of; or next to, by milestones."""
    if milestones is not None:
        return {
            (row, cell)
            for row, time in enumerate(theirs.tolist())
            for at, cell in zip(ours.tolist(), cells.tolist(), strict=True)
            if not any(min(at, time) < milestone < max(at, time) for milestone in milestones.tolist())
        }
    if name in ("double", "wide decimal"):
        return set()  # their keys are no distances; the joins' own tests compare these
    back, forward = reach
    return {
        (row, cell)
        for row, time in enumerate(theirs.tolist())
        for at, cell in zip(ours.tolist(), cells.tolist(), strict=True)
        if (back is None or time >= at - back) and time <= at + forward
    }
