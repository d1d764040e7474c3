"""As-of and window joins, the joins *by time*, as the caller asked for them, checked once and frozen.

Both are told by a `Condition` whose first comparison is the axis: each side's time. Further comparisons and residuals
come from `where=` and are tested pair by pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from sqlglot import exp

from dovetail._core.condition.inputs import Inputs
from dovetail._core.condition.padding import padded
from dovetail._core.condition.parse import column_expression, expression, parse
from dovetail._core.condition.residual import as_residual
from dovetail._core.condition.split import read_condition
from dovetail._core.condition.values import Comparison, Condition, Equality, Op
from dovetail._core.plan.aggregates import read_aggregates
from dovetail._core.plan.knobs import read_choice, read_flag, read_knobs
from dovetail._core.plan.offset import UNBOUNDED, PerRow, read_offset, size_of
from dovetail._core.plan.online import ALGORITHMS, AUTO
from dovetail._core.plan.query import Query, every_column, read_how, refuse_twice
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dovetail._core.condition.inputs import Input
    from dovetail._core.condition.values import Expression
    from dovetail._core.plan.aggregates import Aggregate
    from dovetail._core.plan.offset import Offset

Direction = Literal["backward", "forward", "nearest"]
Ties = Literal["last", "first", "all", "error"]
_CHOICES = {
    "direction": ("backward", "forward", "nearest"),
    "ties": ("last", "first", "all", "error"),
    "nearest_tie": ("backward", "forward"),
    "closed": ("both", "left", "right", "neither"),
    "algorithm": (AUTO, *ALGORITHMS),
}
_WINDOW = ("preceding", "following", "agg", "closed", "include_prevailing")


@dataclass(frozen=True, slots=True)
class AsOf:
    """One right row, the nearest in time, for every left row.

    `tie_break` are the right columns that order rows of one time, from the least to the greatest, NULL first.
    """

    query: Query
    direction: Direction
    strict: bool
    tolerance: Offset | None
    ties: Ties
    tie_break: tuple[Expression, ...]
    nearest_tie: Direction

    @property
    def measures(self) -> bool:
        """Whether the axis must have distances, not only an order."""
        return self.direction == "nearest" or self.tolerance is not None


@dataclass(frozen=True, slots=True)
class Window:
    """The right rows within `preceding` before and `following` after a left row's time; None: without end."""

    preceding: Offset | None
    following: Offset | None
    lower_closed: bool
    upper_closed: bool
    include_prevailing: bool
    aggregates: tuple[Aggregate, ...]


@dataclass(frozen=True, slots=True)
class WindowJoin:
    """Aggregates over windows around every left row; the query holds those of all windows, in order.

    `algorithm` is one of the online engine's, or `auto`.
    """

    query: Query
    windows: tuple[Window, ...]
    algorithm: str = AUTO


def read_asof(
    inputs: Inputs,
    *,
    on: Any,
    keys: Any = None,
    direction: str = "backward",
    strict: bool = False,
    tolerance: object = None,
    how: str = "left",
    ties: str = "last",
    tie_break: str | Sequence[str] | None = None,
    nearest_tie: str = "backward",
    where: str | None = None,
    null_safe: bool | str | Sequence[str] = False,
    partitions: int | None = None,
) -> AsOf:
    """Check a call of `asof_join` and freeze it."""
    for option, value in (("direction", direction), ("ties", ties), ("nearest_tie", nearest_tie)):
        _choice(option, value)
    read_flag("strict", strict)
    kind = read_how(how, crosses=False)
    condition = _condition(inputs, on, keys, null_safe, where)
    reach = None if tolerance is None else read_offset("tolerance", tolerance, inputs.left)
    if reach is not None and (size_of(reach) or 0) < 0:
        raise UsageError.negative_tolerance(tolerance)
    shown = (inputs.left,) if kind in ("semi", "anti") else (inputs.left, inputs.right)
    output = every_column(shown, ())
    refuse_twice([column.name for column in output], inputs.left)
    query = Query(inputs, condition, kind, output, (), None, read_knobs("range", partitions))
    chosen = _tie_break(tie_break, condition, inputs.right)
    return AsOf(
        query, cast("Direction", direction), strict, reach, cast("Ties", ties), chosen, cast("Any", nearest_tie)
    )


def read_window_join(
    inputs: Inputs,
    *,
    on: Any,
    keys: Any = None,
    windows: Sequence[Mapping[str, Any]] | None = None,
    null_safe: bool | str | Sequence[str] = False,
    partitions: int | None = None,
    algorithm: str = AUTO,
    **window: Any,
) -> WindowJoin:
    """Check a call of `window_join` and freeze it; what a window does not say, the call says for all."""
    _choice("algorithm", algorithm)
    condition = _condition(inputs, on, keys, null_safe, None)
    given = {name: value for name, value in window.items() if value is not None}
    if windows is not None and (not isinstance(windows, (list, tuple)) or not windows):
        raise UsageError.no_window(windows)
    asked = [given] if windows is None else [{**given, **_options(own)} for own in windows]
    found = tuple(_window(own, inputs) for own in asked)
    aggregates = tuple(aggregate for own in found for aggregate in own.aggregates)
    output = every_column((inputs.left,), ())
    refuse_twice([column.name for column in output] + [aggregate.name for aggregate in aggregates], inputs.left)
    query = Query(inputs, condition, "left", output, aggregates, "left", read_knobs("range", partitions))
    return WindowJoin(query, found, algorithm)


def _window(asked: Mapping[str, Any], inputs: Inputs) -> Window:
    for needed in ("preceding", "agg"):
        if needed not in asked:
            raise UsageError.incomplete_window(needed)
    if not _mapping(asked["agg"]):
        raise UsageError.incomplete_window("agg")
    closed, prevailing = asked.get("closed", "both"), asked.get("include_prevailing", False)
    _choice("closed", closed)
    read_flag("include_prevailing", prevailing)
    ends = {"preceding": asked["preceding"], "following": asked.get("following", 0)}
    offsets = {
        name: None if isinstance(value, str) and value == UNBOUNDED else read_offset(name, value, inputs.left)
        for name, value in ends.items()
    }
    _refuse_reversed(offsets, ends)
    probe = Inputs(replace(inputs.left, columns=()), inputs.right)  # a bare name in an aggregate is a probe column
    return Window(
        offsets["preceding"],
        offsets["following"],
        closed in ("both", "left"),
        closed in ("both", "right"),
        prevailing,
        read_aggregates(_mapping(asked["agg"]), "left", probe),
    )


def _refuse_reversed(offsets: dict[str, Offset | None], given: dict[str, Any]) -> None:
    """Refuse a window that ends before it begins, for all rows."""
    sizes = [None if offset is None else size_of(offset) for offset in offsets.values()]
    if sizes[0] is not None and sizes[1] is not None and sizes[0] < -sizes[1]:
        raise UsageError.reversed_window(given["preceding"], given["following"])


def _condition(inputs: Inputs, on: Any, keys: Any, null_safe: Any, where: str | None) -> Condition:
    """Keys, the axis, and what `where` adds, as one condition."""
    left, right = _pair("on", on, inputs)
    axis = Comparison(left, Op.GE, right)
    extra = Condition("") if where is None else read_condition(where, inputs)
    equalities = _keys(keys, null_safe, inputs)
    texts = [*(as_residual(own).sql for own in equalities), as_residual(axis).sql]
    texts += [] if where is None else [f"({extra.sql})"]
    return replace(
        extra,
        sql=" AND ".join(texts),
        keys=(*equalities, *extra.keys),
        comparisons=(axis, *extra.comparisons),
    )


def _keys(keys: Any, null_safe: Any, inputs: Inputs) -> tuple[Equality, ...]:
    listed = [] if keys is None else _listed("keys", keys)
    pairs = [_pair("keys", key, inputs) for key in listed]
    names = [[key] if isinstance(key, str) else list(key) for key in listed]
    known = [name for own in names for name in own]
    safe = known if null_safe is True else [] if null_safe is False else _listed("null_safe", null_safe)
    for name in safe:
        if name not in known:
            raise UsageError.unknown_choice("null_safe", name, ("True", "False", *sorted(set(known))))
    return tuple(
        Equality(*pair, null_safe=any(name in safe for name in own)) for pair, own in zip(pairs, names, strict=True)
    )


def _listed(option: str, given: Any) -> list[Any]:
    """One name, or several."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Iterable):
        raise UsageError.no_names(option, given)
    return list(given)


def _pair(option: str, given: Any, inputs: Inputs) -> tuple[Expression, Expression]:
    """One name for both sides, or one for each."""
    both = (given, given) if isinstance(given, str) else tuple(given) if isinstance(given, (list, tuple)) else ()
    if len(both) != 2 or not all(isinstance(own, str) and own.strip() for own in both):  # noqa: PLR2004 -- two sides
        raise UsageError.no_pair(option, given)
    pair = _own(both[0], inputs.left, inputs.right), _own(both[1], inputs.right, inputs.left)
    compared = padded(exp.EQ(this=pair[0].node.copy(), expression=pair[1].node.copy()), inputs)
    return expression(compared.this), expression(compared.expression)


def _own(text: str, owner: Input, other: Input) -> Expression:
    """A column of one side by its name, or an expression of that side."""
    column = owner.find(text)
    if column is not None:
        return column_expression(owner.name, column)
    if text.isidentifier():
        raise UsageError.unknown_column(text, owner.name, owner.columns)
    node = parse(text, Inputs(owner, replace(other, columns=())))
    if not node.find(exp.Column):
        raise UsageError.unknown_column(text, owner.name, owner.columns)
    return expression(node)


def _tie_break(given: str | Sequence[str] | None, condition: Condition, right: Input) -> tuple[Expression, ...]:
    """The columns named, or all that are neither key nor time."""
    if given is not None:
        names = _listed("tie_break", given)
        found = [right.find(name) if isinstance(name, str) else None for name in names]
        for name, column in zip(names, found, strict=True):
            if column is None:
                raise UsageError.unknown_column(name, right.name, right.columns)
        return tuple(column_expression(right.name, column) for column in found if column is not None)
    used = {condition.comparisons[0].right, *(key.right for key in condition.keys)}
    every = (column_expression(right.name, name) for name in right.columns)
    return tuple(column for column in every if column not in used)


def _choice(option: str, value: object) -> None:
    read_choice(option, value, _CHOICES[option])


def _mapping(given: Any) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise UsageError.no_window(given)
    return given


def _options(given: Any) -> Mapping[str, Any]:
    """What one of several windows says."""
    unknown = next((name for name in _mapping(given) if name not in _WINDOW), None)
    if unknown is not None:
        raise UsageError.unknown_choice("option", unknown, _WINDOW)
    return _mapping(given)


def offset_columns(asked: WindowJoin) -> list[Expression]:
    """The base columns in which rows bring distances of their own."""
    ends = [end for window in asked.windows for end in (window.preceding, window.following)]
    return list(dict.fromkeys(end.column for end in ends if isinstance(end, PerRow)))
