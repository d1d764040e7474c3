"""Small numbers from 0 up for values and combinations of values, the same in every batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dovetail._core.columns.order_keys import order_keys
from dovetail._core.columns.stable_keys import has_stable_order
from dovetail._core.kernels.compile import NO_ROW
from dovetail._core.kernels.numbers import fill_table, find_numbers, give_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_FIRST = 64
_HALF = 32


class Numbering:
    """Numbers for int64 values."""

    def __init__(self) -> None:
        self._values = np.empty(_FIRST, np.int64)
        self._table = np.full(2 * _FIRST, NO_ROW)
        self.size = 0
        self._one, self._found = np.empty(1, np.int64), np.empty(1, np.int64)

    def give(self, values: Ints) -> Ints:
        """The number of each value, a new one to those not seen before."""
        self._make_room(self.size + values.size)
        out = np.empty(values.size, np.int64)
        self.size = int(give_numbers(self._values, self.size, self._table, values, out))
        return out

    def find(self, values: Ints) -> Ints:
        """The number of each value; NO_ROW to those not seen before."""
        out = np.empty(values.size, np.int64)
        find_numbers(self._values, self._table, values, out)
        return out

    def find_one(self, value: int) -> int:
        """The number of one value; NO_ROW if it has none."""
        self._one[0] = value
        find_numbers(self._values, self._table, self._one, self._found)
        return int(self._found[0])

    def dump(self) -> Ints:
        """The values in the order of their numbers."""
        return self._values[: self.size].copy()

    def _make_room(self, most: int) -> None:
        if 2 * most <= self._table.size:
            return
        wide = 1 << (2 * most).bit_length()
        values = np.empty(wide, np.int64)
        values[: self.size] = self._values[: self.size]
        self._values, self._table = values, np.empty(wide, np.int64)
        fill_table(values, self.size, self._table)


class ValueNumbers:
    """Numbers for the values of one type: through their order keys, or one by one where a batch's keys are its own."""

    def __init__(self, kind: pa.DataType) -> None:
        self._steady = has_stable_order(kind)
        self._kind = kind
        self._words = Numbering()
        self._others: dict[Any, int] = {}

    @property
    def size(self) -> int:
        """How many values have a number."""
        return self._words.size if self._steady else len(self._others)

    def give(self, array: pa.Array) -> Ints:
        """The number of each value of an array without nulls."""
        if self._steady:
            return self._words.give(order_keys([array])[0])
        return self._each(array, lambda value: self._others.setdefault(value, len(self._others)))

    def find(self, array: pa.Array) -> Ints:
        """The number of each value; NO_ROW to those not seen before."""
        if self._steady:
            return self._words.find(order_keys([array])[0])
        return self._each(array, lambda value: self._others.get(value, NO_ROW))

    def find_one(self, value: Any) -> int:
        """The number of an integer, a moment or a string that is not NULL; NO_ROW if it has none."""
        if not self._steady:
            return self._others.get(value, NO_ROW)
        word = value if isinstance(value, int) else pa.scalar(value, self._kind).value
        return self._words.find_one(word)

    def dump(self) -> pa.Array:
        """The values, or their order keys, in the order of their numbers."""
        return pa.array(self._words.dump()) if self._steady else pa.array(list(self._others), self._kind)

    def load(self, values: pa.Array) -> None:
        """Take over what was dumped."""
        if self._steady:
            self._words.give(values.to_numpy(zero_copy_only=False))
        else:
            self._others = {value: number for number, value in enumerate(values.to_pylist())}

    @staticmethod
    def _each(array: pa.Array, number: Any) -> Ints:
        encoded = array.dictionary_encode()
        found = np.array([number(value) for value in encoded.dictionary.to_pylist()], np.int64)
        return np.asarray(found[encoded.indices.to_numpy(zero_copy_only=False)], np.int64)


class KeyNumbers:
    """Numbers for combinations of equality keys; a row with a NULL that equals nothing has none."""

    def __init__(self, kinds: Sequence[pa.DataType], null_safe: Sequence[bool]) -> None:
        self.columns = [ValueNumbers(kind) for kind in kinds]
        self._null_safe = list(null_safe)
        self.pairs = [Numbering() for _ in kinds[1:]]

    @property
    def size(self) -> int:
        """How many combinations have a number."""
        if not self.columns:
            return 1
        return self.pairs[-1].size if self.pairs else self.columns[0].size + 1

    def give(self, arrays: Sequence[pa.Array], rows: int) -> Ints:
        """The number of each row's keys, a new one to those not seen before."""
        return self._numbers(arrays, rows, new=True)

    def find(self, arrays: Sequence[pa.Array], rows: int) -> Ints:
        """The number of each row's keys; NO_ROW to those not seen before."""
        return self._numbers(arrays, rows, new=False)

    def find_row(self, values: Sequence[Any]) -> int:
        """The number of one row's keys: integers, moments or strings; NO_ROW if it has none."""
        code = 0
        for number, (value, own) in enumerate(zip(values, self.columns, strict=True)):
            if value is None:
                found = 0 if self._null_safe[number] else NO_ROW
            else:
                found = own.find_one(value)
                found += found >= 0
            if found < 0:
                return NO_ROW
            code = found if number == 0 else self.pairs[number - 1].find_one((code << _HALF) | found)
            if code < 0:
                return NO_ROW
        return code

    def _numbers(self, arrays: Sequence[pa.Array], rows: int, *, new: bool) -> Ints:
        if not arrays:
            return np.zeros(rows, np.int64)
        found = [self._column(i, array, new=new) for i, array in enumerate(arrays)]
        codes = found[0]
        for own, numbering in zip(found[1:], self.pairs, strict=True):
            none = (codes < 0) | (own < 0)
            packed = (codes << _HALF) | own
            codes = np.full(rows, NO_ROW)
            codes[~none] = (numbering.give if new else numbering.find)(packed[~none])
        return codes

    def _column(self, number: int, array: pa.Array, *, new: bool) -> Ints:
        """Numbers of one column, from 1 up; 0 for a NULL that equals itself, NO_ROW for one that does not."""
        numbers = self.columns[number]
        count = numbers.give if new else numbers.find
        if not array.null_count:
            found = count(array)
            return found + (found >= 0)
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        out = np.full(len(array), 0 if self._null_safe[number] else NO_ROW)
        found = count(array.filter(pa.array(valid)))
        out[valid] = found + (found >= 0)
        return out
