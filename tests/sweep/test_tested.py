"""Pairs that must pass a test: who has a partner is known at the first one, without looking at all candidates."""

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
from dovetail._core.sweep.tested import TestedPairs, order_test

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dovetail._core.condition.values import Side
    from dovetail._core.sweep.matches import Matches

SHAPES = [Shape("right", (0,), None), Shape("right", (0,), 1), Shape("left", (0,), 1), Shape("left", (), None)]
NUMBERS = st.lists(st.tuples(*[st.integers(0, 9)] * 3), max_size=30)


def _side(rows: list[tuple[int, ...]]) -> SideKeys:
    values = np.array(rows, np.int64).reshape(len(rows), 3)
    return SideKeys(np.arange(len(rows)), None, tuple(np.ascontiguousarray(values[:, i]) for i in range(3)))


def _other(side: Side) -> Side:
    return "left" if side == "right" else "right"


@given(NUMBERS, NUMBERS, st.sampled_from(SHAPES))
def test_a_row_has_a_partner_if_some_pair_of_it_passes_all_tests(
    ours: list[tuple[int, ...]], theirs: list[tuple[int, ...]], shape: Shape
) -> None:
    left, right = _side(ours), _side(theirs)
    join = build_join(Kind.TWO_INEQUALITIES, shape, [Op.LE, Op.GT, Op.LT], left, right)
    pairs = TestedPairs(join.pairs, lambda found: found.left_rows % 3 != found.right_rows % 2)
    pairs = TestedPairs(pairs, order_test(left.values[2][join.left_order], Op.LT, right.values[2][join.right_order]))
    for side, size in (("left", len(ours)), ("right", len(theirs))):
        want = np.zeros(size, np.bool_)
        for task in pairs.tasks(1):
            for found in task:
                want[found.left_rows if side == "left" else found.right_rows] = True
        known = pairs.partners(side)  # type: ignore[arg-type]
        assert (known is None) == (side == shape.stored)
        assert (has_partner(pairs, side, size) == want).all()  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", SHAPES)
def test_no_more_candidates_are_tested_than_twice_those_before_the_first_partner(shape: Shape) -> None:
    size, tested = 2000, [0]
    side = _side([(i, size - i, 0) for i in range(size)])
    join = build_join(Kind.TWO_INEQUALITIES, shape, [Op.LE, Op.GE, Op.LT], side, side)

    def unlike(found: Matches) -> NDArray[np.bool_]:
        tested[0] += found.size
        return np.not_equal(join.left_order[found.left_rows], join.right_order[found.right_rows], dtype=np.bool_)

    known = TestedPairs(join.pairs, unlike).partners(_other(shape.stored))
    assert known is not None
    assert known.sum() >= size - 1
    assert tested[0] <= 3 * size  # of two million candidates


def test_candidates_that_lie_together_behind_others_are_not_all_tested() -> None:
    size, tested = 2000, [0]
    side = _side([(0, i, 0) for i in range(size)])
    join = build_join(Kind.TWO_INEQUALITIES, Shape("right", (0,), 1), [Op.LE, Op.LE, Op.LT], side, side)

    def counted(found: Matches) -> NDArray[np.bool_]:
        tested[0] += found.size
        return np.ones(found.size, np.bool_)

    known = TestedPairs(join.pairs, counted).partners("left")
    assert known is not None
    assert known.all()
    assert tested[0] <= 2 * size  # of two million candidates


@given(NUMBERS, NUMBERS, st.sampled_from(SHAPES[1:3]), st.sampled_from([Op.LT, Op.LE, Op.GT, Op.GE]))
def test_either_side_of_two_inequalities_knows_its_partners_without_pairs(
    ours: list[tuple[int, ...]], theirs: list[tuple[int, ...]], shape: Shape, op: Op
) -> None:
    join = build_join(Kind.TWO_INEQUALITIES, shape, [Op.LE, op, Op.LT], _side(ours), _side(theirs))
    for side, size in (("left", len(ours)), ("right", len(theirs))):
        want = np.zeros(size, np.bool_)
        for task in join.pairs.tasks(1):
            for found in task:
                want[found.left_rows if side == "left" else found.right_rows] = True
        known = join.pairs.partners(side)  # type: ignore[arg-type]
        assert known is not None
        assert (known == want).all()
