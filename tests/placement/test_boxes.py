"""Boxes: every pair meets in the box of its anchor row, and few rows of the other side go to more than one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail._core.columns.number_line import places
from dovetail._core.columns.order_keys import order_keys
from dovetail._core.condition.values import Op
from dovetail._core.placement.boxes import (
    anchors_inside,
    cut_boxes,
    home_boxes,
    others_reached,
    reached_boxes,
    values_of,
)
from dovetail._core.plan.choose import Sample
from dovetail._core.plan.span import Span

if TYPE_CHECKING:
    from numpy.typing import NDArray

INT, DOUBLE = pa.int64(), pa.float64()
EDGES = [0.0, -0.0, 1e-300, 1e300, -1e300, float("inf"), float("-inf"), float("nan")]
VALUES = {
    INT: st.integers(-20, 20) | st.sampled_from([-(2**63), 2**63 - 1, 2**53 + 1]),
    DOUBLE: st.floats(-20, 20) | st.sampled_from(EDGES),
}
RISING, FALLING = [Op.LT, Op.LE], [Op.GT, Op.GE]


def spanned(kind: pa.DataType, left: list[pa.Array], right: list[pa.Array], longest: float | None = None) -> Sample:
    """A sample of intervals whose starts rise and ends fall; the longest is that of the sample if nothing is said."""
    keys = order_keys([*left, *right])
    span = Span(0, 1, 0.0, *(places(own, kind) for own in keys))
    known = float(span.length.max(initial=0.0)) if longest is None else longest
    span = Span(0, 1, known, span.start, span.end, span.met_by_start, span.met_by_end)
    return Sample((keys[0], keys[1]), (keys[2], keys[3]), None, None, (span,))


@st.composite
def samples(draw: st.DrawFn) -> tuple[Sample, list[Op]]:
    kind = draw(st.sampled_from([INT, DOUBLE]))
    row = st.tuples(VALUES[kind], VALUES[kind])
    sides = [draw(st.lists(row, min_size=1, max_size=30)) for _ in range(2)]
    columns = [[pa.array([own[i] for own in rows], kind) for i in (0, 1)] for rows in sides]
    return spanned(kind, columns[0], columns[1]), [draw(st.sampled_from(RISING)), draw(st.sampled_from(FALLING))]


@given(samples(), st.integers(1, 12))
def test_every_pair_meets_in_the_box_of_its_anchor_row(drawn: tuple[Sample, list[Op]], cells: int) -> None:
    sample, ops = drawn
    boxes = cut_boxes(sample, ops, cells).boxes
    inside = np.array([anchors_inside(box, sample) for box in boxes])
    reached = np.array([others_reached(box, ops, sample) for box in boxes])
    assert (inside.sum(axis=0) == 1).all()
    met = inside.T.astype(np.int64) @ reached.astype(np.int64) > 0
    assert not (sample.holds(tuple(ops)) & ~met).any()


@given(samples(), st.integers(1, 12))
def test_rows_walk_down_the_cuts_to_the_boxes_that_have_them(drawn: tuple[Sample, list[Op]], cells: int) -> None:
    sample, ops = drawn
    found = cut_boxes(sample, ops, cells)
    own = [values_of(sample, dimension) for dimension in range(3)]
    inside = np.array([anchors_inside(box, sample) for box in found.boxes])
    assert (home_boxes(found.tree, own, own) == inside.argmax(axis=0)).all()
    reached = np.array([others_reached(box, ops, sample) for box in found.boxes])
    walked = reached_boxes(found.tree, sample, ops)
    met = zip(walked.boxes.tolist(), walked.rows.tolist(), strict=True)
    assert sorted(met) == sorted(map(tuple, np.argwhere(reached).tolist()))


@given(samples(), st.integers(1, 12))
def test_rows_that_cover_a_box_match_all_of_it_and_do_not_go_there(drawn: tuple[Sample, list[Op]], cells: int) -> None:
    sample, ops = drawn
    found = cut_boxes(sample, ops, cells, covering=True)
    inside = np.array([anchors_inside(box, sample) for box in found.boxes])
    walked = reached_boxes(found.tree, sample, ops, covering=True)
    sent, covered = np.zeros((2, len(found.boxes), sample.right[0].size), np.int64)
    np.add.at(sent, (walked.boxes, walked.rows), 1)
    for cover in walked.covers:
        covered[cover.first : cover.end, cover.rows] += 1
    assert (sent + covered <= 1).all()
    assert (sent == [others_reached(box, ops, sample, covering=True) for box in found.boxes]).all()
    assert [box.others for box in found.boxes] == sent.sum(axis=1).tolist()
    holds = sample.holds(tuple(ops))
    assert not (inside.T.astype(np.int64) @ covered > holds).any()
    assert not (holds & ~(inside.T.astype(np.int64) @ (sent + covered) > 0)).any()


def intervals(rows: int, longest: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rng = np.random.default_rng(rows)
    start = rng.integers(0, 1_000_000, rows)
    return start, start + rng.integers(0, longest, rows)


@pytest.mark.parametrize(
    ("longest", "known", "copies"),
    [
        (0, None, 1.05),  # points
        (2_000, None, 1.2),
        (2_000, 1e12, 2.2),  # one that the sample does not show is far longer: it has a box of its own
    ],
)
def test_rows_of_the_other_side_go_to_few_boxes(longest: int, known: float | None, copies: float) -> None:
    ours, theirs = (intervals(rows, max(1, longest)) for rows in (2_000, 1_999))
    left, right = [pa.array(own) for own in ours], [pa.array(own) for own in theirs[::-1]]
    boxes = cut_boxes(spanned(INT, left, right, known), [Op.LE, Op.GE], 32)
    assert len(boxes.boxes) == 32
    assert boxes.moved <= copies * 1_999
