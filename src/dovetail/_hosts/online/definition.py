"""What an engine knows before its first row: types, offsets in ticks, and how to read keys, times and windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from dovetail._core.aggregate.run import Argument
from dovetail._core.columns.axis import (
    LEAST,
    MOST,
    bound,
    check_offset,
    comparable,
    furthest,
    steps,
    ticks_of,
)
from dovetail._core.columns.table import Columns
from dovetail._core.columns.types import canonical
from dovetail._core.condition.parse import told
from dovetail._core.emit.window import WindowCell, reversed_rows
from dovetail._core.kernels.sort import extent
from dovetail._core.plan.offset import PerRow
from dovetail._core.plan.timed import offset_columns
from dovetail._hosts.arrow.evaluate import timed_columns
from dovetail._hosts.arrow.join import arguments_of, output_schema
from dovetail._hosts.arrow.plain import no_rows
from dovetail._hosts.online.reading import Read, Timed
from dovetail._hosts.online.windows import Whole, WindowEnds, prevails_in
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Expression
    from dovetail._core.plan.offset import Offset
    from dovetail._core.plan.online import Choices
    from dovetail._core.plan.timed import Window, WindowJoin
    from dovetail._hosts.online.reading import Given

    Ints = NDArray[np.int64]


SIDES = ("base", "probe")
"""What the caller calls the two inputs; in expressions they are `l` and `r`."""


class Definition:
    """A window join over two known schemas."""

    def __init__(self, asked: WindowJoin, choices: Choices, base: pa.Schema, probe: pa.Schema) -> None:
        self.asked, self.base, self.probe = asked, base, probe
        self.has_own_bounds = bool(offset_columns(asked))
        """Whether rows bring distances of their own."""
        self.names = asked.query.inputs.left.name, asked.query.inputs.right.name
        none = self.columns(0, no_rows(base)), self.columns(1, no_rows(probe))
        sides = timed_columns(asked.query.condition, *none)
        offsets = {column.sql: none[0].evaluate(column) for column in offset_columns(asked)}
        arguments = arguments_of(asked.query, none[1])
        cell = WindowCell(asked, *sides, offsets, arguments)
        cell.check()
        self.schema = output_schema(asked.query, *none)
        self.axis: pa.DataType = sides[0].values[0].type
        self.is_float, self._is_word = pa.types.is_floating(self.axis), self.axis == pa.int64()
        self.key_kinds = [array.type for array in sides[0].keys]
        self.null_safe = [key.null_safe for key in asked.query.condition.keys]
        self.argument_kinds = [None if own.values is None else own.values.type for own in arguments]
        self.keep = choices.keep
        self.keep_given = choices.keep_given
        self.keep_ticks = None if choices.keep is None else furthest(choices.keep, self.axis, None)
        for option, offset in (("lateness", choices.lateness), ("keep", choices.keep)):
            if offset is not None:
                check_offset(option, offset, self.axis, None)
        self.lateness = None if choices.lateness is None else furthest(choices.lateness, self.axis, None)
        self.reach = self._reach()
        self.behind = self._behind()
        self.whole = None if self.is_float or self.has_own_bounds else Whole.of(self)
        self._reads = self._read_side(0), self._read_side(1)
        self._read_arguments = [
            None if own.argument is None else self._read(1, own.argument, None) for own in asked.query.aggregates
        ]

    @property
    def prevails(self) -> bool:
        """Whether any window begins with rows before it."""
        return any(map(prevails_in, self.asked.windows))

    def ticks_of(self, at: Ints) -> NDArray[Any]:
        """Times as ticks, of their order keys."""
        if not self.is_float:
            return at
        return (at ^ ((at >> 63) & np.int64(MOST))).view(np.float64)

    def kept(self, at: NDArray[Any]) -> Ints:
        """The least key that a window of each row may reach, as rows are kept."""
        assert self.keep is not None
        return comparable(bound(at, steps(self.keep, self.axis, None, "beyond"), -1).ticks)[0]

    def column_of(self, expression: Expression) -> str | None:
        """The base column that an expression is; None if it is more than a column."""
        node = expression.node
        return node.name if isinstance(node, exp.Column) and node.name in self.base.names else None

    def columns(self, side: int, batch: pa.RecordBatch) -> Columns:
        """The columns of a batch of one side."""
        arrays = zip(batch.schema.names, batch.columns, strict=True)
        return Columns({(self.names[side], own): array for own, array in arrays}, batch.num_rows)

    def timed(self, side: int, given: Given) -> Timed:
        """Keys and times of some rows; a row without a time is refused."""
        keys, time = self._reads[side]
        times = time.array(given)
        if times.null_count:
            raise UsageError.null_time(SIDES[side], _bare(time.expression.sql), times.null_count)
        found = times.to_numpy(zero_copy_only=False) if self._is_word else ticks_of(times)
        if found.dtype == object:
            raise UsageError.wide_time(SIDES[side], _bare(time.expression.sql))
        at = np.array(
            found if self._is_word else comparable(found)[0]
        )  # Arrow's memory is read-only, and kernels are compiled for one kind
        return Timed([key.array(given) for key in keys], found, at, *extent(at))

    def arguments(self, given: Given) -> list[Argument]:
        """What each aggregate reads of probe rows."""
        return [
            Argument(
                None if read is None else read.array(given),
                None if own.where is None else given.columns.boolean(own.where),
            )
            for own, read in zip(self.asked.query.aggregates, self._read_arguments, strict=True)
        ]

    def ends(self, given: Given | None, at: NDArray[Any]) -> list[WindowEnds]:
        """Where all windows of base rows end; only distances of their own are read from what is given."""
        if self.whole is not None and self.whole.stay(at):
            return self.whole.ends(at)
        return [self._ends(own, given, at) for own in self.asked.windows]

    def _ends(self, window: Window, given: Given | None, at: NDArray[Any]) -> WindowEnds:
        low, no_low = self._end(window.preceding, given, at, -1, "within" if window.lower_closed else "below")
        high, no_high = self._end(window.following, given, at, 1, "within" if window.upper_closed else "below")
        start = None
        if prevails_in(window):
            start = self._end(window.preceding, given, at, -1, "beyond")[0]
        none = _either(no_low, no_high)
        if start is not None and given is not None and self.has_own_bounds:
            none = _either(none, self._reversed(window, given.columns))
        if none is not None:
            low, high = np.where(none, MOST, low), np.where(none, LEAST, high)
            start = None if start is None else np.where(none, LEAST, start)
        return WindowEnds(low, high, start)

    def value(self, tick: Any) -> Any:
        """A time of the axis as Python has it."""
        if tick is None:
            return None
        if self.is_float or pa.types.is_integer(self.axis):
            return tick
        if pa.types.is_decimal(self.axis):
            return pa.scalar(tick).cast(pa.decimal128(38, 0)).as_py().scaleb(-self.axis.scale)
        whole = pa.scalar(tick, pa.int32() if pa.types.is_date(self.axis) else pa.int64())
        return whole.cast(self.axis).as_py()

    def tick(self, value: Any) -> Any:
        """A time as the caller gives it, in ticks."""
        try:
            array = pa.array([value], self.axis)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise UsageError.no_watermark_time(value, str(self.axis)) from None
        found = ticks_of(array)
        if array.null_count or found.dtype == object or (self.is_float and np.isnan(found[0])):
            raise UsageError.no_watermark_time(value, str(self.axis))
        if not self.is_float and isinstance(value, float) and array[0].as_py() != value:
            raise UsageError.no_watermark_time(value, str(self.axis))
        return found[0].item()

    def moved(self, tick: Any, by: Any) -> int:
        """The order key of a time moved back by so many ticks."""
        if self.is_float:
            return int(comparable(np.array([tick - by], np.float64))[0][0])
        return max(LEAST, int(tick) - int(by))

    def _end(
        self, offset: Offset | None, given: Given | None, at: NDArray[Any], sign: int, rounding: Any
    ) -> tuple[Ints, NDArray[np.bool_] | None]:
        """One end of the windows as order keys, and the rows that have none."""
        if offset is None:
            return np.full(at.size, LEAST if sign < 0 else MOST), None
        if isinstance(offset, PerRow):
            assert given is not None
            by = steps(offset, self.axis, given.columns.evaluate(offset.column), rounding)
        else:
            by = steps(offset, self.axis, None, rounding)
        found = bound(at, by, sign)
        return comparable(found.ticks)[0] + found.inset, found.none

    def _read_side(self, side: int) -> tuple[list[Read], Read]:
        """How to read the keys and the time of one side."""
        condition = self.asked.query.condition
        axis = condition.comparisons[0]
        keys = [
            self._read(side, (key.left, key.right)[side], kind)
            for key, kind in zip(condition.keys, self.key_kinds, strict=True)
        ]
        return keys, self._read(side, (axis.left, axis.right)[side], self.axis)

    def _read(self, side: int, expression: Expression, kind: pa.DataType | None) -> Read:
        schema, node = (self.base, self.probe)[side], expression.node
        if not isinstance(node, exp.Column):
            return Read(expression, kind, None)
        have = schema.field(node.name).type
        stays = canonical(have) == have and kind in (None, have)
        return Read(expression, kind, schema.get_field_index(node.name) if stays else None)

    def _reversed(self, window: Window, columns: Columns) -> NDArray[np.bool_] | None:
        offsets = {column.sql: columns.evaluate(column) for column in offset_columns(self.asked)}
        return reversed_rows(window, self.axis, offsets)

    def _reach(self) -> Any:
        """How many ticks a window of any row reaches back at most; None if nothing bounds it."""
        return self._furthest([window.preceding for window in self.asked.windows])

    def _behind(self) -> Any:
        """How many ticks a row may wait at most after its own time; None if nothing bounds it."""
        return self._furthest([window.following for window in self.asked.windows])

    def _furthest(self, offsets: Sequence[Offset | None]) -> Any:
        if any(offset is None or isinstance(offset, PerRow) for offset in offsets):
            return None
        return max([0, *(furthest(offset, self.axis, None) for offset in offsets if offset is not None)])


def _either(one: NDArray[np.bool_] | None, other: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    if one is None or other is None:
        return other if one is None else one
    return one | other


def _bare(sql: str) -> str:
    return told(sql).split(".", 1)[-1]
