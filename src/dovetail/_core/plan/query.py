"""What the caller asked for, checked once and frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlglot import exp

from dovetail._core.condition.parse import column_expression, columns_of, expression, parse_list, resolve
from dovetail._core.condition.split import read_condition
from dovetail._core.plan.aggregates import read_aggregates
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dovetail._core.condition.inputs import Input, Inputs
    from dovetail._core.condition.values import Condition, Expression, Side
    from dovetail._core.plan.aggregates import Aggregate

How = Literal["inner", "left", "right", "full", "semi", "anti"]

_HOWS: dict[str, How] = {
    "inner": "inner",
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
ALGORITHMS = ("auto", "broadcast", "range", "spark")


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
    algorithm: str
    cells: int | None

    def read_by_output(self, name: str) -> list[str]:
        """The columns of an input that the result shows, in the input's order."""
        found = set().union(*(columns_of(column.shows.node, name) for column in self.output))
        own = self.inputs.left if name == self.inputs.left.name else self.inputs.right
        return [column for column in own.columns if column in found]


def read_query(
    inputs: Inputs,
    *,
    on: str,
    how: str = "inner",
    select: str | None = None,
    agg: Mapping[str, str] | None = None,
    per: str | None = None,
    algorithm: str = "auto",
    partitions: int | None = None,
) -> Query:
    """Check a call and freeze it."""
    kind = read_how(how)
    condition = read_condition(on, inputs)
    side = _per(per, agg, kind, inputs)
    aggregates = read_aggregates(agg, side, inputs) if agg is not None and side is not None else ()
    shown = _shown(kind, side, inputs)
    output = _selected(select, inputs, shown) if select is not None else every_column(shown, aggregates)
    refuse_twice([column.name for column in output] + [aggregate.name for aggregate in aggregates])
    if algorithm not in ALGORITHMS:
        raise UsageError.unknown_choice("algorithm", algorithm, ALGORITHMS)
    return Query(inputs, condition, kind, output, aggregates, side, algorithm, read_cells(partitions))


def read_cells(partitions: int | None) -> int | None:
    """The number of cells asked for, if any."""
    if partitions is not None and (not isinstance(partitions, int) or partitions < 1):
        raise UsageError.too_few_partitions(partitions)
    return partitions


def read_how(how: str) -> How:
    """A join type in any of Spark's spellings."""
    known = _HOWS.get(how.lower().replace("_", "").replace(" ", "")) if isinstance(how, str) else None
    if known is None:
        raise UsageError.unknown_choice("how", how, ("inner", "left", "right", "full", "semi", "anti"))
    return known


def _per(per: str | None, agg: Mapping[str, str] | None, how: How, inputs: Inputs) -> Side | None:
    """The side that gets one row each, if the call aggregates."""
    if (per is None) != (agg is None):
        raise UsageError.agg_without_per(given="per" if agg is None else "agg")
    if per is None:
        return None
    owner = inputs.named(per)
    if owner is None:
        raise UsageError.unknown_input(per, [inputs.left.name, inputs.right.name])
    if how not in ("inner", "left"):
        raise UsageError.how_with_agg(how)
    return inputs.side(owner.name)


def _shown(how: How, per: Side | None, inputs: Inputs) -> tuple[Input, ...]:
    """The inputs whose columns a result can show."""
    if per is not None:
        return (inputs.left if per == "left" else inputs.right,)
    return (inputs.left,) if how in ("semi", "anti") else (inputs.left, inputs.right)


def every_column(shown: tuple[Input, ...], aggregates: tuple[Aggregate, ...]) -> tuple[OutputColumn, ...]:
    """All columns of the first input, then of the other; a name that clashes gets its input's name before it."""
    taken = {aggregate.name.lower() for aggregate in aggregates} if len(shown) > 1 else set()
    columns: list[OutputColumn] = []
    for number, owner in enumerate(shown):
        own = {name.lower() for name in shown[0].columns} if number else taken
        columns += [
            OutputColumn(f"{owner.name}_{name}" if name.lower() in own else name, column_expression(owner.name, name))
            for name in owner.columns
        ]
    return tuple(columns)


def _selected(select: str, inputs: Inputs, shown: tuple[Input, ...]) -> tuple[OutputColumn, ...]:
    """The items of a select list, stars spelled out."""
    columns = tuple(column for item in parse_list(select) for column in _item(item, inputs, shown))
    if not columns:
        raise UsageError.cannot_read("select", select, "it names no column")
    hidden = {owner.name for owner in (inputs.left, inputs.right)} - {owner.name for owner in shown}
    for column in columns:
        if any(columns_of(column.shows.node, name) for name in hidden):
            raise UsageError.not_in_result(column.shows.sql, next(iter(hidden)))
    return columns


def _item(item: exp.Expr, inputs: Inputs, shown: tuple[Input, ...]) -> Iterator[OutputColumn]:
    if isinstance(item, exp.Star):
        yield from every_column(shown, ())
    elif isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
        owner = inputs.named(item.table)
        if owner is None:
            raise UsageError.unknown_input(item.table, [inputs.left.name, inputs.right.name])
        yield from (OutputColumn(name, column_expression(owner.name, name)) for name in owner.columns)
    else:
        node = resolve(item.this if isinstance(item, exp.Alias) else item, inputs)
        yield OutputColumn(item.alias if isinstance(item, exp.Alias) else _name(node), expression(node))


def _name(node: exp.Expr) -> str:
    """A column keeps its own name; an expression is called by its text."""
    if isinstance(node, (exp.Column, exp.Dot)):
        return node.name
    return node.sql(dialect="spark").replace("`", "")


def refuse_twice(names: list[str]) -> None:
    """Refuse two output columns of one name."""
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            raise UsageError.name_twice(name)
        seen.add(name.lower())
