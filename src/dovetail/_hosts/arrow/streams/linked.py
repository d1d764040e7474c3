"""A condition over several streams: filters of one input, links of two, and tests of what is bound."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from sqlglot import exp

from dovetail._core.columns.cast import cast
from dovetail._core.columns.coerce import comparison_type
from dovetail._core.columns.order_keys import has_order
from dovetail._core.columns.stable_keys import has_stable_order, stable_keys
from dovetail._core.columns.table import Columns
from dovetail._core.columns.types import sql_name
from dovetail._core.condition.dialect import AsWritten
from dovetail._core.condition.inputs import Inputs, ManyInputs
from dovetail._core.condition.normalise import conjuncts
from dovetail._core.condition.parse import expression, owners, told
from dovetail._core.condition.residual import as_residual
from dovetail._core.condition.split import parse_boolean, read_condition
from dovetail._core.sweep.links import Link
from dovetail._hosts.arrow.evaluate import all_hold
from dovetail._hosts.arrow.plain import no_rows
from dovetail.errors import UnsupportedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dovetail._core.condition.inputs import Input
    from dovetail._core.condition.values import Comparison, Condition, Equality, Expression
    from dovetail._core.sweep.links import BroughtKeys

    Keys = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Part:
    """One operand of a link: an expression of one input, in the type in which it is compared."""

    shows: Expression
    kind: pa.DataType
    null_safe: bool = False


@dataclass(frozen=True, slots=True)
class Brought:
    """What an input brings to a link."""

    keys: tuple[Part, ...]
    values: tuple[Part, ...]


@dataclass(frozen=True)
class Tested:
    """A boolean that is tested once all inputs it reads are bound; `columns` are those that it reads."""

    shows: Expression
    reads: frozenset[int]

    @cached_property
    def columns(self) -> list[tuple[str, str]]:
        """The input and the name of each column that it reads."""
        return list(dict.fromkeys((own.table, own.name) for own in self.shows.node.find_all(exp.Column)))


@dataclass(frozen=True)
class Linked:
    """A condition, sorted by what can be told from one input, from two, and from more."""

    names: tuple[str, ...]
    filters: tuple[tuple[Expression, ...], ...]
    links: tuple[Link, ...]
    brought: dict[tuple[int, int], Brought]
    tests: tuple[Tested, ...]

    def brings(self, number: int, columns: Columns) -> tuple[dict[int, BroughtKeys], Keys | None]:
        """What the rows of an input that can have partners bring to each link, and which rows these are; None: all."""
        columns, fits = self.fitting(number, columns)
        arrays, some = self.complete(number, self.arrays(number, columns), columns.rows)
        if some is not None:
            fits = some if fits is None else fits[some]
        return self.keyed(number, arrays), fits

    def fitting(self, number: int, columns: Columns) -> tuple[Columns, Keys | None]:
        """The rows of an input that pass its own filters, and where they stood; None: all."""
        held = all_hold(self.filters[number], columns)
        if held is None:
            return columns, None
        rows = np.flatnonzero(held.to_numpy(zero_copy_only=False))
        return columns.take(rows, list(columns.raw)), rows

    def arrays(self, number: int, columns: Columns) -> dict[int, tuple[list[pa.Array], list[pa.Array]]]:
        """The columns that rows of an input bring to each of its links."""
        return {
            link: (_evaluated(own.keys, columns), _evaluated(own.values, columns))
            for (owner, link), own in self.brought.items()
            if owner == number
        }

    def keyed(self, number: int, arrays: dict[int, tuple[list[pa.Array], list[pa.Array]]]) -> dict[int, BroughtKeys]:
        """The same as order keys; nothing that must be there is NULL any more."""
        found = {}
        for link, (keys, values) in arrays.items():
            own = self.brought[number, link]
            made = [
                key for part, array in zip(own.keys, keys, strict=True) for key in _keys(array, safe=part.null_safe)
            ]
            found[link] = tuple(made), tuple(stable_keys(array) for array in values)
        return found

    def needed(self, number: int, arrays: dict[int, tuple[list[pa.Array], list[pa.Array]]]) -> list[pa.Array]:
        """The columns in which NULL means that a row has no partner."""
        return [
            array
            for link, (keys, values) in arrays.items()
            for part, array in [
                *zip(self.brought[number, link].keys, keys, strict=True),
                *zip(self.brought[number, link].values, values, strict=True),
            ]
            if not part.null_safe
        ]

    def complete(
        self, number: int, arrays: dict[int, tuple[list[pa.Array], list[pa.Array]]], rows: int
    ) -> tuple[dict[int, tuple[list[pa.Array], list[pa.Array]]], Keys | None]:
        """The same of rows in which nothing is NULL that must be there, and which rows these are; None: all."""
        masks = [array.is_valid() for array in self.needed(number, arrays) if array.null_count]
        if not masks:
            return arrays, None
        there = np.ones(rows, np.bool_)
        for mask in masks:
            there &= mask.to_numpy(zero_copy_only=False)
        some = np.flatnonzero(there)
        index = pa.array(some)
        return {
            link: ([own.take(index) for own in keys], [own.take(index) for own in values])
            for link, (keys, values) in arrays.items()
        }, some


def _evaluated(parts: Sequence[Part], columns: Columns) -> list[pa.Array]:
    return [cast(columns.evaluate(part.shows), part.kind) for part in parts]


def _keys(array: pa.Array, *, safe: bool) -> list[Keys]:
    """The keys of an operand; of a null-safe one also whether it is there."""
    if not safe:
        return [stable_keys(array)]
    there = np.asarray(array.is_valid().to_numpy(zero_copy_only=False), np.bool_)
    keys = np.zeros(len(array), np.int64)
    keys[there] = stable_keys(array.filter(pa.array(there)))
    return [keys, there.astype(np.int64)]


def read_linked(on: str, inputs: tuple[Input, ...], schemas: Sequence[pa.Schema]) -> Linked:
    """Sort a condition, and learn over no rows in which types its parts are compared."""
    names = ManyInputs(inputs)
    parts = conjuncts(parse_boolean(on, names))
    numbers = {own.name: i for i, own in enumerate(inputs)}
    nothing = [
        Columns.of(own.name, pa.Table.from_batches([no_rows(schema)]))
        for own, schema in zip(inputs, schemas, strict=True)
    ]
    filters: list[list[Expression]] = [[] for _ in inputs]
    pairs: dict[frozenset[int], list[exp.Expr]] = {}
    tests: list[Tested] = []
    for part in parts:
        reads = frozenset(numbers[name] for name in owners(part))
        if len(reads) < 2:  # noqa: PLR2004 -- a constant is tested with the first input
            filters[min(reads, default=0)].append(expression(part))
        elif len(reads) == 2:  # noqa: PLR2004 -- a link
            pairs.setdefault(reads, []).append(part)
        else:
            tests.append(Tested(expression(part), reads))
    links: list[Link] = []
    brought: dict[tuple[int, int], Brought] = {}
    for one, other in combinations(range(len(inputs)), 2):
        of_both = pairs.get(frozenset((one, other)))
        if of_both:
            text = " AND ".join(f"({part.sql(dialect=AsWritten)})" for part in of_both)
            condition = read_condition(text, Inputs(inputs[one], inputs[other]))
            link, ours, theirs, more = _link(condition, one, other, nothing[one], nothing[other])
            reads = frozenset((one, other))
            if link is not None:
                brought[one, len(links)], brought[other, len(links)] = ours, theirs
                links.append(link)
            tests += [Tested(own, reads) for own in more]
    found = Linked(tuple(numbers), tuple(map(tuple, filters)), tuple(links), brought, tuple(tests))
    _check(found, nothing)
    return found


def _check(found: Linked, nothing: Sequence[Columns]) -> None:
    """Evaluate everything over no rows."""
    for number, columns in enumerate(nothing):
        for own in found.filters[number]:
            columns.boolean(own)
    everything = nothing[0]
    for columns in nothing[1:]:
        everything = everything.beside(columns)
    for test in found.tests:
        everything.boolean(test.shows)


def _link(
    condition: Condition, one: int, other: int, left: Columns, right: Columns
) -> tuple[Link | None, Brought, Brought, list[Expression]]:
    """The link of two inputs, what either brings to it, and what must be tested beside it."""
    more = list(condition.residuals)
    keys = [(key, _common(key, left, right)) for key in condition.keys]
    more += [as_residual(key) for key, kind in keys if not has_stable_order(kind)]
    compared = [(own, _common(own, left, right)) for own in condition.comparisons]
    more += [as_residual(own) for own, kind in compared if not has_stable_order(kind)]
    stable = [(own, kind) for own, kind in compared if has_stable_order(kind)]
    sides = [
        Brought(
            tuple(Part(getattr(key, side), kind, key.null_safe) for key, kind in keys),
            tuple(Part(getattr(own, side), kind) for own, kind in stable),
        )
        for side in ("left", "right")
    ]
    if not keys and not stable:
        return None, sides[0], sides[1], more
    link = Link(
        one,
        other,
        tuple(own.op for own, _ in stable),
        (tuple(own.left.sql for own, _ in stable), tuple(own.right.sql for own, _ in stable)),
        tuple(str(kind) for _, kind in stable),
        (tuple(f"{key.left.sql} {kind}" for key, kind in keys), tuple(f"{key.right.sql} {kind}" for key, kind in keys)),
    )
    return link, sides[0], sides[1], more


def _common(part: Equality | Comparison, left: Columns, right: Columns) -> pa.DataType:
    ours, theirs = left.evaluate(part.left).type, right.evaluate(part.right).type
    common = comparison_type(ours, theirs)
    if common is None:
        raise UsageError.cannot_compare(told(part), sql_name(ours), sql_name(theirs))
    if not has_order(common):
        raise UnsupportedError.expression(told(part), f"a comparison of {sql_name(common)}")
    return common
