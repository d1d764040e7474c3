"""The whole way from evaluated columns to rows, for one cell: a whole table, or the share of it in a Spark task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dovetail._core.aggregate.run import fold
from dovetail._core.emit.rows import SideRows, emit
from dovetail._core.kernels.slices import taken
from dovetail._core.plan.choose import SAMPLE, Sample, choose_shape, evenly_spaced
from dovetail._core.plan.shape import Kind, kind_of
from dovetail._core.sweep.build import Join, build_join, spans_of
from dovetail._core.sweep.placed_join import placed_join
from dovetail._core.sweep.prepare import prepare
from dovetail._core.sweep.tested import TestedPairs, order_test

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from dovetail._core.aggregate.digest import Digest
    from dovetail._core.aggregate.run import Argument
    from dovetail._core.condition.values import Condition, Side
    from dovetail._core.plan.aggregates import Aggregate
    from dovetail._core.plan.knobs import Knobs
    from dovetail._core.plan.query import How
    from dovetail._core.plan.shape import Shape
    from dovetail._core.sweep.matches import Matches, SideKeys
    from dovetail._core.sweep.prepare import SideColumns
    from dovetail._core.sweep.residual import RowTest
    from dovetail._core.sweep.tested import Test


MOSTLY = 0.5
"""Above this share of proper intervals on either side, two inequalities are joined as an overlap."""


@dataclass(frozen=True)
class Cell:
    """Both sides of a cell, keyed and ready to be joined; `kinds` are the types that the comparisons compare."""

    condition: Condition
    left: SideKeys
    right: SideKeys
    kinds: tuple[pa.DataType, ...]
    threads: int = 1

    @classmethod
    def of(cls, condition: Condition, left: SideColumns, right: SideColumns, threads: int = 1) -> Cell:
        """Map evaluated columns to order keys; comparisons of one type have one axis."""
        safe = [key.null_safe for key in condition.keys]
        return cls(condition, *prepare(left, right, safe), tuple(array.type for array in left.values), threads)

    @property
    def axes(self) -> tuple[str, ...]:
        """The axis of every comparison."""
        return tuple(str(kind) for kind in self.kinds)

    def sample(self) -> Sample:
        """Evenly spaced rows of both sides."""
        picks = [evenly_spaced(side.rows.size, SAMPLE) for side in self.sides]
        left, right = (
            tuple(values[pick] for values in side.values) for pick, side in zip(picks, self.sides, strict=True)
        )
        codes = [None if s.codes is None else s.codes[pick] for pick, s in zip(picks, self.sides, strict=True)]
        return Sample(left, right, codes[0], codes[1])

    @property
    def sides(self) -> tuple[SideKeys, SideKeys]:
        """The left side, then the right."""
        return self.left, self.right

    def shape(self, stored: Side | None = None) -> Shape:
        """The shape that leaves the fewest candidates here."""
        return choose_shape(self.condition, self.sample(), stored, self.axes)

    def kind(self, shape: Shape) -> Kind:
        """What to call it; two inequalities are an overlap only of intervals that mostly start before they end."""
        kind = kind_of(self.condition, shape)
        return Kind.TWO_INEQUALITIES if kind is Kind.OVERLAP and not self._intervals(shape) else kind

    def _intervals(self, shape: Shape) -> bool:
        """Whether both sides bring intervals on one axis."""
        if len({self.axes[i] for i in shape.used}) > 1:
            return False
        ops = [comparison.op for comparison in self.condition.comparisons]
        spans = spans_of(shape, ops, self.left, self.right)
        return all(own.start.size == 0 or own.proper().mean() > MOSTLY for own in spans)

    def join(self, test: RowTest | None, stored: Side | None = None, *, fused: bool = False) -> Join:
        """The pairs of this cell; `fused` asks for slices and thresholds that can be folded without pairs.

        Where a side is to be stored, the other asks only whether it has partners: with a test, by slices, too.
        """
        shape = self.shape(stored)
        kind = self.kind(shape)
        tested = bool(shape.rest) or test is not None
        if kind is Kind.OVERLAP and (fused or (stored is not None and tested)):
            kind = Kind.TWO_INEQUALITIES
        ops = [comparison.op for comparison in self.condition.comparisons]
        join = build_join(kind, shape, ops, self.left, self.right, self.threads)
        return self._tested(join, self._order_tests(shape, join), test)

    def placed(self, knobs: Knobs, test: RowTest | None = None) -> Join:
        """The pairs of this cell by a partitioned theta-join over the only comparison."""
        join = placed_join(self.condition.comparisons[0].op, self.left, self.right, self.kinds[0], knobs)
        return self._tested(join, [], test)

    def _tested(self, join: Join, tests: list[Test], test: RowTest | None) -> Join:
        """The pairs that also pass some tests of positions and one of rows."""
        for own in tests + ([_on_rows(test, self, join)] if test is not None else []):
            join = Join(TestedPairs(join.pairs, own), join.left_order, join.right_order)
        return join

    def _order_tests(self, shape: Shape, join: Join) -> list[Test]:
        """Tests for the comparisons that the shape leaves over."""
        return [
            order_test(
                taken(self.left.values[i], join.left_order),
                self.condition.comparisons[i].op,
                taken(self.right.values[i], join.right_order),
            )
            for i in shape.rest
        ]

    def rows(
        self,
        how: How,
        left: Sequence[pa.Array],
        right: Sequence[pa.Array],
        sizes: tuple[int, int],
        test: RowTest | None,
        knobs: Knobs | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the joined rows: the left columns, then the right ones (semi and anti: the left ones)."""
        stored: Side | None = "right" if how in ("semi", "anti") else None
        join = self.join(test, stored) if knobs is None else self.placed(knobs, test)
        ours = SideRows(tuple(left), sizes[0], self.left.at(join.left_order))
        theirs = SideRows(tuple(right), sizes[1], self.right.at(join.right_order))
        number = len(left) if how in ("semi", "anti") else len(left) + len(right)
        return emit(join.pairs, ours, theirs, how, [str(i) for i in range(number)], self.threads)

    def fold(
        self,
        aggregates: Sequence[Aggregate],
        arguments: Sequence[Argument],
        per: Side,
        size: int,
        test: RowTest | None,
        digest: Digest | None = None,
    ) -> list[pa.Array]:
        """One column per aggregate, one row per row of the `per` side; `digest` is of rows that match all of these."""
        join = self.join(test, stored="left" if per == "right" else "right", fused=True)
        keys: dict[Side, SideKeys] = {"left": self.left, "right": self.right}
        ordered = has_sequence(self.condition)
        return fold(aggregates, arguments, join, per, keys, size, ordered=ordered, digest=digest, threads=self.threads)


def has_sequence(condition: Condition) -> bool:
    """Whether `first` and `last` go by the folded side's value in the first comparison."""
    return bool(condition.comparisons) and not condition.comparisons[0].is_solved


def _on_rows(test: RowTest, cell: Cell, join: Join) -> Test:
    """A test of table rows as a test of positions."""
    left, right = cell.left.at(join.left_order), cell.right.at(join.right_order)

    def on_positions(found: Matches) -> NDArray[np.bool_]:
        return test(left[found.left_rows], right[found.right_rows])

    return on_positions
