"""Order keys for values that come a batch at a time, where a batch's own ranks would not do.

Numbers, dates and timestamps have keys of their own, the same in every batch. Strings, binaries, booleans and wide
decimals get *labels*: integers far apart, so that a new value finds room between its neighbours. When there is no room
left, all values get new labels, in the same order, and whoever has stored the old ones is told.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dovetail._core.columns.order_keys import from_keys, is_plain, value_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Relabel = Callable[[Ints, Ints], None]

STEP = 1 << 32


class Labels:
    """Labels of the values seen so far, and the values of labels."""

    def __init__(self, kind: pa.DataType) -> None:
        self.kind = kind
        self._relabel: Relabel | None = None
        self._values: list[Any] = []
        self._labels: list[int] = []
        self._known: dict[Any, int] = {}
        self._back: dict[int, Any] = {}

    def on_relabel(self, relabel: Relabel) -> None:
        """Whom to tell of old labels and the new ones in their place."""
        self._relabel = relabel

    def keys(self, array: pa.Array) -> Ints:
        """Labels of an array without nulls; values not seen before get new ones."""
        if is_plain(self.kind):
            return value_keys(array)
        encoded = array.dictionary_encode()
        values = encoded.dictionary.to_pylist()
        for value in values:
            if value not in self._known:
                self._add(value)
        found = np.array([self._known[value] for value in values], np.int64)
        return np.asarray(found[encoded.indices.to_numpy(zero_copy_only=False)], np.int64)

    def array(self, keys: Ints, none: NDArray[np.bool_]) -> pa.Array:
        """The values of labels, NULL where there are none."""
        if is_plain(self.kind):
            return from_keys(keys, none, self.kind)
        values = [None if absent else self._back[key] for key, absent in zip(keys.tolist(), none.tolist(), strict=True)]
        return pa.array(values, self.kind)

    def dump(self) -> list[tuple[Any, int]]:
        """All values with their labels, in order."""
        return list(zip(self._values, self._labels, strict=True))

    def load(self, values: Sequence[Any], labels: Sequence[int]) -> None:
        """Take over what was dumped."""
        self._values, self._labels = list(values), list(labels)
        self._enter()

    def _add(self, value: Any) -> None:
        at = bisect_left(self._values, value)
        label = self._between(at)
        if label is None:
            self._spread()
            label = self._between(at)
            assert label is not None
        self._values.insert(at, value)
        self._labels.insert(at, label)
        self._known[value], self._back[label] = label, value

    def _between(self, at: int) -> int | None:
        """A label for a value that comes at a place among the others; None if there is no room."""
        if not self._labels:
            return 0
        if at == 0:
            return self._labels[0] - STEP
        if at == len(self._labels):
            return self._labels[-1] + STEP
        low, high = self._labels[at - 1], self._labels[at]
        return (low + high) // 2 if high - low > 1 else None

    def _spread(self) -> None:
        """Set the labels far apart again."""
        old = np.array(self._labels, np.int64)
        new = (np.arange(old.size) - old.size // 2) * STEP
        self._labels = new.tolist()
        self._enter()
        if self._relabel is not None:
            self._relabel(old, new)

    def _enter(self) -> None:
        self._known = dict(zip(self._values, self._labels, strict=True))
        self._back = dict(zip(self._labels, self._values, strict=True))
