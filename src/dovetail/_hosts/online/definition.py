"""What an engine knows before its first row: types, offsets in ticks, and how rows become words."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

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
from dovetail._core.columns.cast import cast
from dovetail._core.columns.table import Columns
from dovetail._core.columns.types import canonical
from dovetail._core.emit.window import WindowCell, reversed_rows
from dovetail._core.kernels.sort import extent
from dovetail._core.plan.offset import PerRow
from dovetail._core.plan.temporal import offset_columns
from dovetail._hosts.arrow.evaluate import timed_columns
from dovetail._hosts.arrow.join import arguments_of, output_schema
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail._core.condition.values import Expression
    from dovetail._core.plan.offset import Offset
    from dovetail._core.plan.online import Choices
    from dovetail._core.plan.temporal import Window, WindowJoin

    Ints = NDArray[np.int64]


class Given:
    """A batch of one side; its expressions are evaluated when they are asked for."""

    def __init__(self, definition: Definition, side: int, batch: pa.RecordBatch) -> None:
        self.batch = batch
        self._definition, self._side = definition, side

    @cached_property
    def columns(self) -> Columns:
        """All columns by name."""
        return self._definition.columns(self._side, self.batch)


class Read(NamedTuple):
    """An expression to be read in a type; the number of its column, if it is one and stays as it is."""

    expression: Expression
    kind: pa.DataType | None
    column: int | None

    def array(self, given: Given) -> pa.Array:
        """Its values."""
        if self.column is not None:
            return given.batch.column(self.column)
        found = given.columns.evaluate(self.expression)
        return found if self.kind is None else cast(found, self.kind)


class Timed(NamedTuple):
    """Rows of one side: their equality keys, times as ticks, and the times as order keys, the least and greatest."""

    keys: list[pa.Array]
    ticks: NDArray[Any]
    at: Ints
    least: int
    greatest: int


class Ends(NamedTuple):
    """Where the windows of one kind end, as order keys, lower above upper for none; and where rows prevail."""

    lower: Ints
    upper: Ints
    start: Ints | None


class Whole(NamedTuple):
    """Windows alike for all rows, on whole ticks: how far each goes down, up (None: without end), and to its start."""

    windows: list[tuple[int | None, int | None, int | None]]
    reach: int

    @classmethod
    def of(cls, definition: Definition) -> Whole:
        """The windows of a definition without distances of rows' own."""

        def size(offset: Offset | None, rounding: Any) -> int | None:
            return None if offset is None else int(steps(offset, definition.axis, None, rounding).size)

        found = [
            (
                size(own.preceding, "within" if own.lower_closed else "below"),
                size(own.following, "within" if own.upper_closed else "below"),
                size(own.preceding, "beyond") if definition.prevails_in(own) else None,
            )
            for own in definition.asked.windows
        ]
        return cls(found, max(abs(by or 0) for own in found for by in own))

    def ends(self, at: Ints) -> list[Ends]:
        """Where windows end for rows that are further from both ends of the axis than any reaches."""
        return [
            Ends(
                np.full(at.size, LEAST) if down is None else at - down,
                np.full(at.size, MOST) if up is None else at + up if up else at,
                None if start is None else at - start,
            )
            for down, up, start in self.windows
        ]


class Definition:
    """A window join over two known schemas."""

    def __init__(self, asked: WindowJoin, choices: Choices, base: pa.Schema, probe: pa.Schema) -> None:
        self.asked, self.base, self.probe = asked, base, probe
        self.has_own_bounds = bool(offset_columns(asked))
        """Whether rows bring distances of their own."""
        self.names = asked.query.inputs.left.name, asked.query.inputs.right.name
        none = self._columns(0, base.empty_table()), self._columns(1, probe.empty_table())
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
        return any(map(self.prevails_in, self.asked.windows))

    @staticmethod
    def prevails_in(window: Window) -> bool:
        """Whether a window begins with rows before it."""
        return window.include_prevailing and window.preceding is not None

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
        return self._columns(side, batch)

    def timed(self, side: int, given: Given) -> Timed:
        """Keys and times of some rows; a row without a time is refused."""
        keys, time = self._reads[side]
        times = time.array(given)
        if times.null_count:
            raise UsageError.null_time(self.names[side], _bare(time.expression.sql), times.null_count)
        found = times.to_numpy(zero_copy_only=False) if self._is_word else ticks_of(times)
        if found.dtype == object:
            raise UsageError.wide_time(self.names[side], _bare(time.expression.sql))
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

    def ends(self, given: Given | None, at: NDArray[Any]) -> list[Ends]:
        """Where all windows of base rows end; only distances of their own are read from what is given."""
        if self.whole is not None and _stays(at, self.whole.reach):
            return self.whole.ends(at)
        return [self._ends(own, given, at) for own in self.asked.windows]

    def _ends(self, window: Window, given: Given | None, at: NDArray[Any]) -> Ends:
        low, no_low = self._end(window.preceding, given, at, -1, "within" if window.lower_closed else "below")
        high, no_high = self._end(window.following, given, at, 1, "within" if window.upper_closed else "below")
        start = None
        if self.prevails_in(window):
            start = self._end(window.preceding, given, at, -1, "beyond")[0]
        none = _either(no_low, no_high)
        if start is not None and given is not None and self.has_own_bounds:
            none = _either(none, self._reversed(window, given.columns))
        if none is not None:
            low, high = np.where(none, MOST, low), np.where(none, LEAST, high)
            start = None if start is None else np.where(none, LEAST, start)
        return Ends(low, high, start)

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
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise UsageError.bad_rows("watermark", str(error).splitlines()[0].rstrip(".")) from None
        if array.null_count:
            raise UsageError.null_time("watermark", "time", 1)
        return ticks_of(array)[0].item()

    def moved(self, tick: Any, by: Any) -> int:
        """The order key of a time moved back by so many ticks."""
        if self.is_float:
            return int(comparable(np.array([tick - by], np.float64))[0][0])
        return max(LEAST, int(tick) - int(by))

    def _columns(self, side: int, table: Any) -> Columns:
        name = self.names[side]
        arrays = table.columns if isinstance(table, pa.RecordBatch) else [own.combine_chunks() for own in table.columns]
        arrays = [array if isinstance(array, pa.Array) else pa.concat_arrays(array.chunks) for array in arrays]
        return Columns(
            {(name, own): array for own, array in zip(table.schema.names, arrays, strict=True)}, table.num_rows
        )

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


def _stays(at: Ints, by: int) -> bool:
    """Whether times, of which there are some, may move by so much either way and stay on the axis."""
    least, greatest = extent(at)
    return bool(at.size and int(least) - by > LEAST and int(greatest) + by < MOST)


def _either(one: NDArray[np.bool_] | None, other: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    if one is None or other is None:
        return other if one is None else one
    return one | other


def _bare(sql: str) -> str:
    return sql.replace("`", "").split(".", 1)[-1]
