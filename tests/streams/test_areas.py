"""Every kind of area finds what a look at every pair finds, before and after rows expire, merge and are restored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from dovetail._core.condition.values import Op
from dovetail._core.plan.choose import COMPARE
from dovetail._core.sweep.areas.area import Area
from dovetail._core.sweep.areas.boxes import boxes, probing_box, stored_box
from dovetail._core.sweep.areas.by_key import ByKey
from dovetail._core.sweep.areas.distance import Distance
from dovetail._core.sweep.areas.interval import Interval
from dovetail._core.sweep.areas.ordered import Ordered
from dovetail._core.sweep.areas.rows import AreaRows, Probes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dovetail._core.sweep.areas.area import Kind

    Keys = NDArray[np.int64]
    Columns = tuple[Keys, ...]

MOST = np.iinfo(np.int64).max
WIDE = 1 << 40


def _values(dice: np.random.Generator, size: int, columns: int) -> Columns:
    return tuple(dice.integers(0, 30, size) for _ in range(columns))


def _intervals(dice: np.random.Generator, size: int, dimensions: int) -> list[tuple[Keys, Keys]]:
    starts = [dice.integers(0, 30, size) for _ in range(dimensions)]
    return [(start, start + dice.integers(1, 9, size)) for start in starts]


def _compared(ops: tuple[Op, ...]) -> Callable[[Columns, Columns, int, int], bool]:
    return lambda ours, theirs, i, j: all(
        bool(COMPARE[op](a[i], b[j])) for op, a, b in zip(ops, ours, theirs, strict=True)
    )


def _near(far: int) -> Callable[[Columns, Columns, int, int], bool]:
    return lambda ours, theirs, i, j: sum(int(a[i] - b[j]) ** 2 for a, b in zip(ours, theirs, strict=True)) <= far * far


BAND = (Op.GE, Op.LE, Op.LT)
KINDS: dict[str, tuple[Kind, int, Callable[..., bool]]] = {
    "equality": (ByKey(), 0, lambda *_: True),
    "equality and more": (ByKey((Op.LT,)), 1, _compared((Op.LT,))),
    "ordered": (Ordered((Op.GT,)), 1, _compared((Op.GT,))),
    "ordered by two": (Ordered(BAND, (2,)), 3, _compared(BAND)),
    "interval": (Interval((Op.LT, Op.GT), 0, 1), 2, _compared((Op.LT, Op.GT))),
    "closed interval": (Interval((Op.LE, Op.GE), 0, 1), 2, _compared((Op.LE, Op.GE))),
    "distance": (Distance(4), 2, _near(4)),
    "distance in three dimensions": (Distance(6), 3, _near(6)),
}


def _rows(dice: np.random.Generator, first: int, size: int, values: Columns, keys: int) -> AreaRows:
    start = np.sort(dice.integers(0, 40, size))
    lengths = dice.integers(1, 15, size)
    end = np.where(lengths == 14, MOST, start + lengths)
    codes = tuple(dice.choice([0, 1, 2, WIDE, -WIDE], size) for _ in range(keys))
    return AreaRows(np.arange(first, first + size), start, end, codes, values)


def _naive(probes: Probes, stored: AreaRows, holds: Callable[..., bool]) -> set[tuple[int, int]]:
    found = set()
    for i in range(probes.rows.size):
        for j in range(stored.size):
            timed = stored.start[j] <= probes.until[i] and stored.end[j] > probes.at[i]
            keyed = all(a[i] == b[j] for a, b in zip(probes.rows.keys, stored.keys, strict=True))
            if timed and keyed and holds(probes.rows.values, stored.values, i, j):
                found.add((i, int(stored.number[j])))
    return found


@pytest.mark.parametrize("keys", [0, 1, 2])
@pytest.mark.parametrize("name", KINDS)
def test_an_area_finds_every_partner(name: str, keys: int) -> None:
    kind, columns, holds = KINDS[name]
    dice = np.random.default_rng(keys)
    area, stored = Area(kind), None
    for first in range(0, 120, 20):
        rows = _rows(dice, first, 20, _values(dice, 20, columns), keys)
        area.insert(rows)
        stored = rows if stored is None else stored.beside([rows])
    assert stored is not None
    looking = _rows(dice, 0, 25, _values(dice, 25, columns), keys)
    probes = Probes(looking, looking.start, looking.start + dice.integers(0, 9, 25))
    pairs: list[tuple[int, int]] = []
    for before in (None, 10, 25):
        if before is not None:
            area.expire(before)
            later = np.flatnonzero(probes.at >= before)
            probes = probes.pick(later)
        found = area.probe(probes)
        pairs = list(zip(found.probing.tolist(), found.number.tolist(), strict=True))
        assert len(pairs) == len(set(pairs))
        assert set(pairs) == _naive(probes, stored, holds)
    copy = Area(kind)
    copy.restore(area.snapshot())
    again = copy.probe(probes)
    assert set(zip(again.probing.tolist(), again.number.tolist(), strict=True)) == set(pairs)


def test_boxes_overlap_in_every_dimension() -> None:
    dice = np.random.default_rng(5)
    here, there = _intervals(dice, 40, 3), _intervals(dice, 40, 3)
    always = np.zeros(40, np.int64)
    area = Area(boxes(3))
    area.insert(AreaRows(np.arange(40), always, always + 1, (), stored_box(there)))
    probes = Probes(AreaRows(np.arange(40), always, always + 1, (), probing_box(here)), always, always)
    found = area.probe(probes)
    want = {
        (i, j)
        for i in range(40)
        for j in range(40)
        if all(a[0][i] < b[1][j] and b[0][j] < a[1][i] for a, b in zip(here, there, strict=True))
    }
    assert set(zip(found.probing.tolist(), found.number.tolist(), strict=True)) == want
    assert want


def test_a_far_distance_does_not_wrap_around() -> None:
    ends = np.array([np.iinfo(np.int64).min, MOST])
    always = np.zeros(2, np.int64)
    area = Area(Distance(1 << 40, "greatest"))
    area.insert(AreaRows(np.arange(2), always, always + 1, (), (ends,)))
    found = area.probe(Probes(AreaRows(np.arange(2), always, always + 1, (), (ends,)), always, always))
    assert found.probing.tolist() == found.number.tolist() == [0, 1]


def test_keys_beyond_all_that_are_held_have_no_partner_however_far_apart_rows_start() -> None:
    area, start = Area(ByKey()), np.array([0, 1 << 50])
    area.insert(AreaRows(np.arange(2), start, np.full(2, MOST), (np.array([0, 1]),)))
    keys = np.arange(1 << 16)
    late = np.full(keys.size, 1 << 51)
    found = area.probe(Probes(AreaRows(keys, late, late + 1, (keys,)), late, late))
    assert found.probing.tolist() == found.number.tolist() == [0, 1]


def test_an_empty_area_has_nothing_to_tell() -> None:
    area = Area(ByKey())
    nothing = np.empty(0, np.int64)
    assert area.snapshot() is None
    area.restore(None)
    assert area.probe(Probes(AreaRows(nothing, nothing, nothing), nothing, nothing)).number.size == 0


def test_expired_rows_leave() -> None:
    area = Area(ByKey())
    at = np.arange(1000)
    area.insert(AreaRows(at, at, at + 5))
    area.expire(900)
    assert area.size <= 2 * 104
    area.expire(2000)
    assert area.size == 0
