"""Spark SQL text to a syntax tree whose every column belongs to an input."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError, TokenError

from dovetail._core.condition.dialect import AsWritten
from dovetail._core.condition.padding import padded
from dovetail._core.condition.values import Expression
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dovetail._core.condition.inputs import Inputs, Names
    from dovetail._core.condition.values import Side

_RANDOM = frozenset(
    {"INPUT_FILE_NAME", "MONOTONICALLY_INCREASING_ID", "RAND", "RANDN", "RANDOM", "RANDSTR", "SHUFFLE"}
    | {"SPARK_PARTITION_ID", "UNIFORM", "UUID"}
)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_PREDICATES = (*_COMPARISONS, exp.Between, exp.Escape, exp.ILike, exp.In, exp.Like, exp.RegexpLike)
_AGGREGATES = frozenset({"BOOL_AND", "BOOL_OR", "COLLECT_LIST", "COLLECT_SET", "EVERY", "MAX_BY", "MIN_BY", "MODE"})


def parse(text: str, inputs: Names) -> exp.Expr:
    """Parse one boolean or value expression and resolve its columns."""
    node = _parse_one(text, inputs.dialect)
    refuse_many_rows(node, "condition", text)
    _refuse_what_may_change(node, text)
    return resolve(node, inputs)


def parse_list(text: str, dialect: type[AsWritten] = AsWritten) -> list[exp.Expr]:
    """Parse a select list into its items, columns not yet resolved."""
    if not isinstance(text, str):
        raise UsageError.cannot_read("select", text, "it is no text")
    try:
        select = sqlglot.parse_one(f"SELECT {text}", read=dialect)
    except SqlglotError as error:
        raise UsageError.cannot_read("select", text, _reason(error)) from None
    except RecursionError:
        raise UsageError.too_deep("select", text) from None
    if not isinstance(select, exp.Select) or _has_more_than_items(select):
        raise UsageError.cannot_read("select", text, "it must be a list of expressions and nothing else")
    for item in select.expressions:
        refuse_many_rows(item, "select", text)
        _refuse_stars_within(item, text)
    return list(select.expressions)


def _refuse_stars_within(item: exp.Expr, text: str) -> None:
    """Refuse a star that does not stand by itself, as `*` or `input.*`."""
    for star in item.find_all(exp.Star):
        whole = star.parent if isinstance(star.parent, exp.Column) else star
        if whole is not item or (isinstance(whole, exp.Column) and len(whole.parts) > 2):  # noqa: PLR2004 -- input.*
            raise UsageError.cannot_read("select", text, "a star stands for the columns of inputs, and by itself")


def _has_more_than_items(select: exp.Select) -> bool:
    """Whether a parsed select has a clause of any kind beside its items."""
    return any(value for name, value in select.args.items() if name != "expressions")


def resolve(node: exp.Expr, inputs: Names) -> exp.Expr:
    """Qualify every column with the input that has it."""
    holder = exp.Paren(this=node.copy())
    for column in list(holder.find_all(exp.Column)):
        if not _inside_lambda(column):
            column.replace(inputs.resolve(column))
    return padded(cast("exp.Expr", holder.this), inputs)


def expression(node: exp.Expr) -> Expression:
    """Freeze a resolved node with its Spark SQL text."""
    return Expression(node.sql(dialect=AsWritten), node)


def column_expression(owner: str, name: str) -> Expression:
    """A column of an input."""
    node = exp.column(exp.to_identifier(name, quoted=True), exp.to_identifier(owner, quoted=True))
    return expression(cast("exp.Expr", node))


def wrapped(node: exp.Expr) -> exp.Expr:
    """A node as the operand of another: in parentheses, unless it is one word or a call."""
    alone = isinstance(node, (exp.Column, exp.Literal, exp.Paren, exp.Func)) and not isinstance(node, exp.Binary)
    return node.copy() if alone else exp.Paren(this=node.copy())


def quoted(name: str) -> str:
    """A name as Spark SQL reads it, whatever is in it."""
    return exp.to_identifier(name, quoted=True).sql(dialect=AsWritten)


def told(sql: object) -> str:
    """An expression or condition as a person would write it, names without quotes."""
    return str(sql).replace("`", "")


def sides(node: exp.Expr, inputs: Inputs) -> frozenset[Side]:
    """Which inputs a resolved node speaks of."""
    return frozenset(inputs.side(column.table) for column in node.find_all(exp.Column) if column.table)


def owners(node: exp.Expr) -> frozenset[str]:
    """The names of the inputs that a resolved node speaks of."""
    return frozenset(column.table for column in node.find_all(exp.Column) if column.table)


def columns_of(node: exp.Expr, name: str) -> set[str]:
    """The columns of one input that a resolved node reads."""
    return {column.name for column in node.find_all(exp.Column) if column.table == name}


def _parse_one(text: str, dialect: type[AsWritten]) -> exp.Expr:
    if not isinstance(text, str) or not text.strip():
        raise UsageError.no_condition(text)
    try:
        found = dialect().parse_into(exp.Condition, text)
    except SqlglotError as error:
        raise UsageError.cannot_read("condition", text, _reason(error)) from None
    except RecursionError:
        raise UsageError.too_deep("condition", text) from None
    node = found[0] if len(found) == 1 else None
    if isinstance(node, (exp.Query, exp.Command)) or not isinstance(node, exp.Expr):
        raise UsageError.no_boolean(text)
    return node


def _reason(error: SqlglotError) -> str:
    """The first line of a parser's complaint, without its terminal colours and the names of its classes."""
    details = getattr(error, "errors", None)
    if details:
        what = details[0]["description"].rstrip(".")
        return f"{'a part is missing' if '<class' in what else what} near {details[0]['highlight']!r}"
    return "a quote or a comment has no end" if isinstance(error, TokenError) else str(error).splitlines()[0]


def refuse_many_rows(node: exp.Expr, what: str, text: str) -> None:
    """Refuse what is not said of single rows: subqueries, aggregates and windows. And what readers differ on."""
    for part in node.walk():
        if isinstance(part, (exp.Query, exp.Subquery)):
            raise UsageError.subquery(what, text)
        within = part.parent.parent if isinstance(part.parent, exp.Not) else part.parent
        if isinstance(part, _PREDICATES) and isinstance(within, _COMPARISONS):
            raise UsageError.chained_comparison(within.sql(dialect=AsWritten))
        if isinstance(part, (exp.AggFunc, exp.Window)) or set(_function_names(part)) & _AGGREGATES:
            raise UsageError.of_many_rows(part.sql(dialect=AsWritten), what, text)


def _refuse_what_may_change(node: exp.Expr, text: str) -> None:
    """Refuse functions that do not always answer the same."""
    for part in node.walk():
        if set(_function_names(part)) & _RANDOM:
            raise UsageError.not_deterministic(part.sql(dialect=AsWritten), text)


def _function_names(node: exp.Expr) -> Iterator[str]:
    """All names under which a function may be known."""
    if isinstance(node, exp.Anonymous):
        yield node.name.upper()
    elif isinstance(node, exp.Func):
        yield from (name.upper() for name in node.sql_names())


def _inside_lambda(column: exp.Column) -> bool:
    """Whether a name is the argument of a higher-order function, not a column."""
    scope = column.find_ancestor(exp.Lambda)
    while scope is not None:
        if column.parts[0].name.lower() in {argument.name.lower() for argument in scope.expressions}:
            return True
        scope = scope.find_ancestor(exp.Lambda)
    return False
