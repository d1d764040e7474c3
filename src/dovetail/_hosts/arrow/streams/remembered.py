"""The rows of all inputs by number, and the tests that read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dovetail._core.columns.long_texts import rows_of
from dovetail._core.columns.table import Columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from dovetail._core.emit.store import Store
    from dovetail._core.sweep.links import BroughtKeys, Link
    from dovetail._hosts.arrow.streams.linked import Linked, Tested

    Keys = NDArray[np.int64]


@dataclass(frozen=True)
class StoredRows:
    """What a stream join remembers, asked by the areas' search."""

    linked: Linked
    stores: Sequence[Store]

    def brought(self, number: int, link: int, rows: Keys) -> BroughtKeys:
        """The keys and values that rows of an input bring to a link."""
        return self.stores[number].brought(link, rows)

    def asks(self, link: Link | None) -> bool:
        """Whether there is any test, or another link."""
        return bool(self.linked.tests) or any(own is not link for own in self.linked.links)

    def most(self) -> int:
        """Of how many combinations the columns can be taken at once."""
        return room(self.stores)

    def holds(self, bound: dict[int, Keys], new: int, link: Link | None) -> NDArray[np.bool_] | None:
        """Whether all holds that can be told since an input was bound, by a link or by time alone."""
        holds = None
        for number, own in enumerate(self.linked.links):
            if own is not link and new in (own.one, own.other) and {own.one, own.other} <= set(bound):
                ends = (self.stores[end].brought(number, bound[end]) for end in (own.one, own.other))
                holds = _and(holds, own.holds(*ends))
        for test in self.linked.tests:
            if new in test.reads and test.reads <= set(bound):
                holds = _and(holds, passes(test, self.linked.names, self.stores, bound))
        return holds


def _and(one: NDArray[np.bool_] | None, other: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return other if one is None else one & other


def passes(test: Tested, names: Sequence[str], stores: Sequence[Store], bound: dict[int, Keys]) -> NDArray[np.bool_]:
    """Whether a boolean is true of rows that are bound."""
    size, most = next(iter(bound.values())).size, room(stores)
    cuts = [{i: own[at : at + most] for i, own in bound.items()} for at in range(0, size, most)]
    return np.concatenate([np.empty(0, np.bool_), *(_passes(test, names, stores, some) for some in cuts)])


def room(stores: Sequence[Store]) -> int:
    """Of how many combinations the columns of all inputs can be taken at once."""
    return rows_of(sum(store.heaviest for store in stores))


def _passes(test: Tested, names: Sequence[str], stores: Sequence[Store], bound: dict[int, Keys]) -> NDArray[np.bool_]:
    raw: dict[tuple[str, str], pa.Array] = {}
    for number in test.reads:
        columns = [column for owner, column in test.columns if owner == names[number]]
        taken = stores[number].take(columns, bound[number])
        raw |= {(names[number], column): array for column, array in zip(columns, taken, strict=True)}
    told = Columns(raw, next(iter(bound.values())).size).boolean(test.shows)
    return told.fill_null(False).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]  # noqa: FBT003
