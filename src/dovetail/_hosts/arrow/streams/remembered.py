"""The rows of all inputs by number, and the tests that read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from dovetail._core.columns.table import Columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from dovetail._core.emit.store import Store
    from dovetail._core.sweep.links import Link
    from dovetail._hosts.arrow.streams.linked import Linked, Tested

    Keys = NDArray[np.int64]


@dataclass(frozen=True)
class StoredRows:
    """What a stream join remembers, asked by the areas' search."""

    linked: Linked
    stores: Sequence[Store]

    def brought(self, number: int, link: int, rows: Keys) -> tuple[tuple[Keys, ...], tuple[Keys, ...]]:
        """The keys and values that rows of an input bring to a link."""
        return self.stores[number].brought(link, rows)

    def asks(self, link: Link | None) -> bool:
        """Whether there is any test but those that a link answers."""
        return any(own.link is None or self.linked.links[own.link] is not link for own in self.linked.tests)

    def holds(self, bound: dict[int, Keys], new: int, link: Link | None) -> NDArray[np.bool_] | None:
        """Whether all tests hold that can be made since an input was bound, by a link or by time alone."""
        tests = [own for own in self.linked.tests if new in own.reads and own.reads <= set(bound)]
        holds = None
        for test in tests:
            if test.link is not None and self.linked.links[test.link] is link:
                continue
            found = passes(test, self.linked.names, self.stores, bound)
            holds = found if holds is None else holds & found
        return holds


def passes(test: Tested, names: Sequence[str], stores: Sequence[Store], bound: dict[int, Keys]) -> NDArray[np.bool_]:
    """Whether a boolean is true of rows that are bound."""
    read = list(dict.fromkeys((own.table, own.name) for own in test.shows.node.find_all(exp.Column)))
    raw: dict[tuple[str, str], pa.Array] = {}
    for number in test.reads:
        columns = [column for owner, column in read if owner == names[number]]
        taken = stores[number].take(columns, bound[number])
        raw |= {(names[number], column): array for column, array in zip(columns, taken, strict=True)}
    told = Columns(raw, next(iter(bound.values())).size).boolean(test.shows)
    return told.fill_null(False).to_numpy(zero_copy_only=False).copy()  # type: ignore[no-any-return]  # noqa: FBT003
