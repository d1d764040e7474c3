"""What the caller asked for, checked once and frozen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from sqlglot import exp

from dovetail._core.condition.dialect import AsWritten
from dovetail._core.condition.parse import column_expression, columns_of, expression, parse_list, resolve, told
from dovetail._core.condition.split import read_condition
from dovetail._core.condition.values import Equality
from dovetail._core.plan.aggregates import read_aggregates
from dovetail._core.plan.knobs import read_knobs, read_order
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dovetail._core.condition.inputs import Input, Inputs, Names
    from dovetail._core.condition.values import Condition, Expression, Side
    from dovetail._core.plan.aggregates import Aggregate
    from dovetail._core.plan.knobs import Knobs

How = Literal["inner", "left", "right", "full", "semi", "anti"]

_HOWS: dict[str, How] = {
    "inner": "inner",
    "cross": "inner",
    "left": "left",
    "leftouter": "left",
    "right": "right",
    "rightouter": "right",
    "full": "full",
    "outer": "full",
    "fullouter": "full",
    "semi": "semi",
    "leftsemi": "semi",
    "anti": "anti",
    "leftanti": "anti",
}
WINDOW = "dovetail window"
"""The column that a host adds to either side of a windowed join: the number of each row's window, from 0."""


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """One column of the result: its name and what it shows."""

    name: str
    shows: Expression

    @property
    def plain(self) -> exp.Column | None:
        """The input column that it shows unchanged; None if it shows an expression."""
        return self.shows.node if isinstance(self.shows.node, exp.Column) else None


@dataclass(frozen=True, slots=True)
class Query:
    """A join as the caller asked for it."""

    inputs: Inputs
    condition: Condition
    how: How
    output: tuple[OutputColumn, ...]
    aggregates: tuple[Aggregate, ...]
    per: Side | None
    knobs: Knobs

    @property
    def algorithm(self) -> str:
        """The algorithm that was asked for."""
        return self.knobs.algorithm

    @property
    def cells(self) -> int | None:
        """The number of cells that was asked for."""
        return self.knobs.partitions

    @property
    def free_pairs(self) -> bool:
        """Whether pairs alone are asked for, and how to find them is ours to choose."""
        return self.algorithm == "auto" and self.cells is None and self.how == "inner" and self.per is None

    def read_by_output(self, name: str) -> list[str]:
        """The columns of an input that the result shows, in the input's order."""
        found = set().union(*(columns_of(column.shows.node, name) for column in self.output))
        return self._ordered(name, found)

    def read_by_condition(self, name: str) -> list[str]:
        """The columns of an input that the condition reads, in the input's order."""
        found = set().union(*(columns_of(part.node, name) for part in self.condition.parts))
        return self._ordered(name, found)

    def _ordered(self, name: str, found: set[str]) -> list[str]:
        own = self.inputs.left if name == self.inputs.left.name else self.inputs.right
        window = [WINDOW] if WINDOW in found else []
        return [column for column in own.columns if column in found] + window


def read_query(
    inputs: Inputs,
    *,
    on: str,
    how: str = "inner",
    select: str | None = None,
    agg: Mapping[str, str] | None = None,
    per: str | None = None,
    algorithm: str = "auto",
    order: str | None = None,
    **knobs: Any,
) -> Query:
    """Check a call and freeze it; the order in which two inputs are joined makes no difference."""
    kind = read_how(how)
    read_order(order)
    condition = read_condition(on, inputs)
    side = _per(per, agg, kind, inputs)
    aggregates = read_aggregates(agg, side, inputs) if agg is not None and side is not None else ()
    shown = _shown(kind, side, inputs)
    output = selected(select, inputs, shown) if select is not None else every_column(shown, aggregates)
    refuse_twice([column.name for column in output] + [aggregate.name for aggregate in aggregates], inputs.left)
    chosen = read_knobs(algorithm, **knobs)
    keys = [key for key in condition.keys if WINDOW not in key.left.sql]
    if chosen.partitioned and (len(condition.comparisons) != 1 or keys):
        raise UsageError.not_one_inequality(algorithm, len(condition.comparisons), len(keys))
    if chosen.outer and not keys:
        raise UsageError.no_equality(algorithm)
    if chosen.outer and side is not None:
        raise UsageError.algorithm_with_agg(algorithm)
    if chosen.window is not None:
        condition = _within_windows(condition, inputs)
    return Query(inputs, condition, kind, output, aggregates, side, chosen)


def _within_windows(condition: Condition, inputs: Inputs) -> Condition:
    """The same condition, between rows of equally numbered windows."""
    same = Equality(column_expression(inputs.left.name, WINDOW), column_expression(inputs.right.name, WINDOW))
    return replace(condition, sql=f"({condition.sql}) AND {same}", keys=(*condition.keys, same))


def read_how(how: str, *, crosses: bool = True) -> How:
    """A join type in any of Spark's spellings; with a condition, Spark's cross join is an inner one."""
    spelling = how.lower().replace("_", "").replace(" ", "") if isinstance(how, str) else ""
    known = _HOWS.get(spelling)
    if known is None or (spelling == "cross" and not crosses):
        raise UsageError.unknown_choice("how", how, ("inner", "left", "right", "full", "semi", "anti"))
    return known


def _per(per: str | None, agg: Mapping[str, str] | None, how: How, inputs: Inputs) -> Side | None:
    """The side that gets one row each, if the call aggregates."""
    if (per is None) != (agg is None):
        raise UsageError.agg_without_per(given="per" if agg is None else "agg")
    if per is None:
        return None
    owner = read_per(per, inputs)
    if how not in ("inner", "left"):
        raise UsageError.how_with_agg(how)
    return inputs.side(owner.name)


def read_per(per: object, inputs: Names) -> Input:
    """The input that gets one row each."""
    names = [own.name for own in inputs.each]
    if not isinstance(per, str):
        raise UsageError.unknown_choice("per", per, names)
    owner = inputs.named(per)
    if owner is None:
        raise UsageError.unknown_input(per, names)
    return owner


def _shown(how: How, per: Side | None, inputs: Inputs) -> tuple[Input, ...]:
    """The inputs whose columns a result can show."""
    if per is not None:
        return (inputs.left if per == "left" else inputs.right,)
    return (inputs.left,) if how in ("semi", "anti") else (inputs.left, inputs.right)


def every_column(shown: tuple[Input, ...], aggregates: tuple[Aggregate, ...]) -> tuple[OutputColumn, ...]:
    """All columns of the first input, then of the others; a name that clashes gets its input's name before it."""
    taken = {shown[0].plain(aggregate.name) for aggregate in aggregates} if len(shown) > 1 else set()
    columns: list[OutputColumn] = []
    for owner in shown:
        clashing = {name for name in owner.columns if owner.plain(name) in taken}
        columns += [
            OutputColumn(f"{owner.name}_{name}" if name in clashing else name, column_expression(owner.name, name))
            for name in owner.columns
        ]
        taken |= set(map(owner.plain, owner.columns))
    return tuple(columns)


def selected(select: str, inputs: Names, shown: tuple[Input, ...]) -> tuple[OutputColumn, ...]:
    """The items of a select list, stars spelled out."""
    columns = tuple(column for item in parse_list(select, inputs.dialect) for column in _item(item, inputs, shown))
    if not columns:
        raise UsageError.cannot_read("select", select, "it names no column")
    hidden = {owner.name for owner in inputs.each} - {owner.name for owner in shown}
    for column in columns:
        if any(columns_of(column.shows.node, name) for name in hidden):
            raise UsageError.not_in_result(told(column.shows), next(iter(hidden)))
    return columns


def _item(item: exp.Expr, inputs: Names, shown: tuple[Input, ...]) -> Iterator[OutputColumn]:
    if isinstance(item, exp.Star):
        yield from every_column(shown, ())
    elif isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
        owner = inputs.named(item.table)
        if owner is None:
            raise UsageError.unknown_input(item.table, [own.name for own in inputs.each])
        yield from (OutputColumn(name, column_expression(owner.name, name)) for name in owner.columns)
    else:
        node = resolve(item.this if isinstance(item, exp.Alias) else item, inputs)
        yield OutputColumn(item.alias if isinstance(item, exp.Alias) else _name(node), expression(node))


def _name(node: exp.Expr) -> str:
    """A column keeps its own name; an expression is called by its text."""
    if isinstance(node, (exp.Column, exp.Dot)):
        return node.name
    return told(node.sql(dialect=AsWritten))


def refuse_twice(names: list[str], like: Input) -> None:
    """Refuse two output columns of one name, compared as the names of an input are."""
    seen: set[str] = set()
    for name in names:
        if like.plain(name) in seen:
            raise UsageError.name_twice(name)
        seen.add(like.plain(name))
