"""Temporal joins as the caller asked for them: when each row is valid, and what it must share with the others.

A temporal join is an ordinary one in disguise: of rows whose intervals of validity share an instant. The host gives
every input two hidden columns, START and END, on one axis; the condition grows by one overlap for every two inputs
(intervals that overlap two by two share an instant), and the result shows the greatest start and the least end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from dovetail._core.condition.dialect import AsWritten
from dovetail._core.condition.inputs import Inputs, ManyInputs
from dovetail._core.condition.parse import column_expression
from dovetail._core.condition.split import parse_boolean
from dovetail._core.condition.window import Window
from dovetail._core.plan.cascade import named
from dovetail._core.plan.knobs import read_choice
from dovetail._core.plan.query import every_column, read_how, read_query, refuse_twice
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dovetail._core.condition.inputs import Input
    from dovetail._core.plan.plan import Plan
    from dovetail._core.plan.query import How, OutputColumn

START, END, ROW = "dovetail start", "dovetail end", "dovetail row"
VALID_START, VALID_END = "valid_start", "valid_end"
ALGORITHMS = ("auto", "buffer-input", "buffer-output", "tpmj")


@dataclass(frozen=True, slots=True)
class Validity:
    """Between which instants the rows of an input are valid: from one column to another, or through a window."""

    start: str
    end: str | None = None
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class Temporal:
    """A join of rows while they are valid; `validity` says of every input when that is."""

    inputs: tuple[Input, ...]
    on: str
    how: How
    validity: tuple[Validity, ...]
    algorithm: str

    @property
    def names(self) -> list[str]:
        """The inputs' names in the order of the call."""
        return [own.name for own in self.inputs]

    @property
    def shown(self) -> tuple[OutputColumn, ...]:
        """The inputs' columns that the result shows, before the two of its validity."""
        return every_column(self.inputs[:1] if self.how in ("semi", "anti") else self.inputs, ())

    @property
    def hidden_inputs(self) -> list[Input]:
        """The inputs with the columns that a host adds to them."""
        return [replace(own, columns=(*own.columns, START, END, ROW)) for own in self.inputs]

    @property
    def overlapping(self) -> str:
        """The condition, and that all rows share an instant."""
        pairs = [
            f"{_column(a, START)} < {_column(b, END)} AND {_column(b, START)} < {_column(a, END)}"
            for a, b in combinations(self.names, 2)
        ]
        return " AND ".join([f"({self.on})", *pairs])

    def read_of(self, number: int) -> list[str]:
        """The columns of one of two inputs that the condition reads: by no other can it tell rows apart."""
        query = read_query(Inputs(*self.hidden_inputs), on=self.overlapping)
        return [own for own in query.read_by_condition(self.names[number]) if own not in (START, END)]

    def described(self, plan: Plan) -> Plan:
        """The plan of that join, told of this one; which stretches are unmatched shows only in the rows."""
        said: dict[str, Any] = {} if self.algorithm == "auto" else {"algorithm": self.algorithm, "reason": "asked for"}
        said["condition"] = _readable(plan.condition)
        said["uses"] = tuple((name, _readable(text)) for name, text in plan.uses)
        if plan.matrix is not None:
            said["matrix"] = replace(plan.matrix, left=_readable(plan.matrix.left), right=_readable(plan.matrix.right))
        return replace(plan, kind=f"temporal, {plan.kind}", how=self.how, **said)

    def select(self, shown: tuple[OutputColumn, ...]) -> str:
        """Columns of the inputs, and the validity of the result."""
        items = [named(column.shows.node, column.name) for column in shown]
        starts, ends = (", ".join(_column(name, own) for name in self.names) for own in (START, END))
        return ", ".join([*items, f"greatest({starts}) AS `{START}`", f"least({ends}) AS `{END}`"])

    def select_each(self, shown: tuple[OutputColumn, ...], hidden: Sequence[str]) -> str:
        """Columns of the inputs, and some hidden columns of every input, as they are."""
        items = [named(column.shows.node, column.name) for column in shown]
        for column in hidden:
            items += [f"{_column(name, column)} AS `{column} {i}`" for i, name in enumerate(self.names)]
        return ", ".join(items)


def _readable(text: str) -> str:
    """The hidden columns by the names of what they hold, for people."""
    return text.replace(START, VALID_START).replace(END, VALID_END)


def _column(name: str, column: str) -> str:
    return column_expression(name, column).sql


def read_temporal(
    inputs: tuple[Input, ...],
    *,
    on: str,
    ts: Any = None,
    window: Any = None,
    valid: Any = None,
    how: str = "inner",
    algorithm: str = "auto",
) -> Temporal:
    """Check a call of `temporal_join` and freeze it."""
    kind = read_how(how)
    if len(inputs) > 2 and kind != "inner":  # noqa: PLR2004 -- who is unmatched is asked of two
        raise UsageError.how_of_many(how)
    read_choice("algorithm", algorithm, ALGORITHMS)
    if (valid is None) == (ts is None) or (ts is None) != (window is None):
        raise UsageError.no_validity(ts, window, valid)
    for given in (ts, window, valid):
        _refuse_strangers(given, inputs)
    node = parse_boolean(on, ManyInputs(inputs))
    validity = tuple(_validity(own, ts, window, valid) for own in inputs)
    asked = Temporal(inputs, node.sql(dialect=AsWritten), kind, validity, algorithm)
    refuse_twice([*(column.name for column in asked.shown), VALID_START, VALID_END], inputs[0])
    return asked


def _validity(own: Input, ts: Any, window: Any, valid: Any) -> Validity:
    """When the rows of one input are valid; a mapping says it for every input by name."""
    if valid is not None:
        both = _own(own, "valid", valid)
        if not isinstance(both, (tuple, list)) or len(both) != 2:  # noqa: PLR2004 -- start and end
            raise UsageError.no_ends(both)
        return Validity(_find(own, both[0]), _find(own, both[1]))
    length = _own(own, "window", window)
    if not isinstance(length, Window):
        raise UsageError.no_time_window(length)
    return Validity(_find(own, _own(own, "ts", ts)), None, length)


def _refuse_strangers(given: Any, inputs: tuple[Input, ...]) -> None:
    """Refuse a mapping that speaks of an input which the call does not have."""
    names = [own.name for own in inputs]
    for name in given if isinstance(given, Mapping) else ():
        if name not in names:
            raise UsageError.unknown_choice("input", name, names)


def _own(own: Input, option: str, given: Any) -> Any:
    if not isinstance(given, Mapping):
        return given
    if own.name not in given:
        raise UsageError.not_for_input(option, own.name, given)
    return given[own.name]


def _find(own: Input, name: Any) -> str:
    column = own.find(name) if isinstance(name, str) else None
    if column is None:
        raise UsageError.unknown_column(name, own.name, own.columns)
    return column
