"""Every shape, with and without keys, against comparing every pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail._core.condition.values import Op
from dovetail._core.plan.shape import Kind, Shape
from dovetail._core.sweep.build import build_join
from dovetail._core.sweep.matches import SideKeys, has_partner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dovetail._core.condition.values import Side

SIDES: list[Side] = ["left", "right"]
COMPARE = {Op.LT: np.less, Op.LE: np.less_equal, Op.GT: np.greater, Op.GE: np.greater_equal}
INT64 = np.iinfo(np.int64)
VALUES = st.integers(0, 9) | st.sampled_from([INT64.min, INT64.min + 1, INT64.max - 1, INT64.max])


@st.composite
def _joins(draw: st.DrawFn) -> tuple[Kind, Shape, list[Op], SideKeys, SideKeys]:
    number = draw(st.integers(1, 3))
    ops = draw(st.lists(st.sampled_from(Op), min_size=number, max_size=number))
    stored: Side = draw(st.sampled_from(SIDES))
    shared = number > 1 and draw(st.booleans())
    keyed = draw(st.booleans())
    wide = draw(st.booleans())
    left, right = (
        _side(draw, number, keyed=keyed, wide=wide, shared=shared and stored == own) for own in ("left", "right")
    )
    used = (0, 1) if shared else (0,)
    rest = [i for i in range(number) if i not in used]
    shape = Shape(stored, used, rest[0] if rest else None)
    opposite = len(shape.used) == 2 and not shared and ops[0].rises != ops[1].rises
    kind = Kind.OVERLAP if opposite and draw(st.booleans()) else Kind.TWO_INEQUALITIES
    return kind, shape, ops, left, right


def _side(draw: st.DrawFn, number: int, *, keyed: bool, wide: bool, shared: bool) -> SideKeys:
    size = draw(st.integers(0, 25))

    def column(values: st.SearchStrategy[int]) -> NDArray[np.int64]:
        return np.array(draw(st.lists(values, min_size=size, max_size=size)), np.int64)

    columns = [column(VALUES if wide else st.integers(0, 9)) for _ in range(number)]
    if shared:
        columns[1] = columns[0]
    return SideKeys(np.arange(size), column(st.integers(0, 3)) if keyed else None, tuple(columns))


def _pairs(ops: list[Op], shape: Shape, left: SideKeys, right: SideKeys) -> NDArray[np.bool_]:
    holds = np.ones((left.rows.size, right.rows.size), np.bool_)
    for i in shape.used:
        holds &= COMPARE[ops[i]](left.values[i][:, None], right.values[i][None, :])
    if left.codes is not None and right.codes is not None:
        holds &= left.codes[:, None] == right.codes[None, :]
    return holds


@given(_joins(), st.integers(1, 2), st.booleans())
def test_every_pair_is_found_once(
    join: tuple[Kind, Shape, list[Op], SideKeys, SideKeys],
    threads: int,
    large: bool,  # noqa: FBT001
) -> None:
    kind, shape, ops, left, right = join
    with pytest.MonkeyPatch.context() as patch:
        if large:
            patch.setattr("dovetail._core.sweep.bounds.WORTH_ORDER", 0)
            patch.setattr("dovetail._core.kernels.threads.WORTH_THREADS", 0)
            patch.setattr("dovetail._core.kernels.sort.SMALL", 1)
        built = build_join(kind, shape, ops, left, right, threads)
    found = [
        (int(built.left_order[a]), int(built.right_order[b]))
        for task in built.pairs.tasks(threads)
        for piece in task
        for a, b in zip(piece.left_rows, piece.right_rows, strict=True)
    ]
    want = _pairs(ops, shape, left, right)
    assert sorted(found) == list(zip(*(rows.tolist() for rows in np.nonzero(want)), strict=True))
    assert built.pairs.count() == len(found)


@given(_joins())
def test_partners_are_known_without_pairs(join: tuple[Kind, Shape, list[Op], SideKeys, SideKeys]) -> None:
    kind, shape, ops, left, right = join
    built = build_join(kind, shape, ops, left, right)
    want = _pairs(ops, shape, left, right)
    for side, order, axis in zip(SIDES, (built.left_order, built.right_order), (1, 0), strict=True):
        found = np.zeros(want.shape[1 - axis], np.bool_)
        found[order] = has_partner(built.pairs, side, order.size)
        assert found.tolist() == want.any(axis=axis).tolist()


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 255, 256, 257, 5000])
def test_the_tower_of_maxima_has_no_seam(size: int) -> None:
    random = np.random.default_rng(size)
    left = SideKeys(np.arange(40), None, (random.integers(0, 60, 40), random.integers(0, 60, 40)))
    right = SideKeys(np.arange(size), None, (random.integers(0, 60, size), random.integers(0, 60, size)))
    shape = Shape("right", (0,), 1)
    built = build_join(Kind.TWO_INEQUALITIES, shape, [Op.LE, Op.LT], left, right)
    assert built.pairs.count() == _pairs([Op.LE, Op.LT], shape, left, right).sum()
    assert sum(p.left_rows.size for task in built.pairs.tasks(3) for p in task) == built.pairs.count()
