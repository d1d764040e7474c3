"""Evaluate an expression of a join condition on Arrow columns, as Spark 4 does with ANSI mode on in the time zone UTC.

One table maps each node of the parsed expression to a function; what is not in the table is unsupported by name, before
any row is read. The functions live by theme: `literals`, `compare`, `branches`, `arithmetic`, `intervals`, `maths`,
`strings`, `patterns`, `times`, `steps` and `epochs`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from sqlglot import exp

from dovetail._core.columns import (
    arithmetic,
    branches,
    compare,
    epochs,
    literals,
    maths,
    patterns,
    steps,
    strings,
    times,
)
from dovetail._core.columns.scope import Scope, text_of, unsupported
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dovetail._core.columns.scope import Handler

_HANDLERS: dict[type[exp.Expr], Handler] = {
    **literals.HANDLERS,
    **compare.HANDLERS,
    **branches.HANDLERS,
    **arithmetic.HANDLERS,
    **maths.HANDLERS,
    **strings.HANDLERS,
    **patterns.HANDLERS,
    **times.HANDLERS,
    **steps.HANDLERS,
    **epochs.HANDLERS,
}
_NAMED: dict[str, Handler] = {
    **literals.NAMED,
    **branches.NAMED,
    **arithmetic.NAMED,
    **maths.NAMED,
    **strings.NAMED,
    **patterns.NAMED,
    **times.NAMED,
    **epochs.NAMED,
}
_ARGUMENTS = {**dict.fromkeys(("date_part", "datepart", "pmod", "regexp"), (2,)), "btrim": (1, 2)}
"""How many arguments a named function takes, if not one: of the others, the parser knows."""


def evaluate(node: exp.Expr, column: Callable[[exp.Column], pa.Array], rows: int) -> pa.Array:
    """Return the value of an expression on every row.

    Parameters
    ----------
    node
        An expression as the parser gives it, in the dialect `AsWritten`.
    column
        Looks up a column node: a canonical array of `rows` values. A reference of three parts comes as it was parsed.
    rows
        The number of rows. With none, the result still has the right type, and what is unsupported is still refused.

    Returns
    -------
    pa.Array
        `rows` values of a canonical type; an untyped NULL is an array of type null.

    Raises
    ------
    UnsupportedError
        The expression uses something that Spark can do and this host cannot.
    UsageError
        Spark refuses the expression, too: for its types, or for a value (overflow, division by zero, malformed text).

    Examples
    --------
    >>> import pyarrow as pa, sqlglot
    >>> node = sqlglot.parse_one("CASE WHEN b <> 0 THEN a / b END", read="spark")
    >>> columns = {"a": pa.array([1, 1]), "b": pa.array([2, 0])}
    >>> evaluate(node, lambda reference: columns[reference.name], 2).to_pylist()
    [0.5, None]
    """
    try:
        return _value(node, Scope(column, rows, _value))
    except RecursionError:
        raise UsageError.too_deep("expression", text_of(node)) from None


def _value(node: exp.Expr, scope: Scope) -> pa.Array:
    if scope.rows > 1 and not isinstance(node, (exp.Column, exp.Literal)) and node.find(exp.Column) is None:
        return _of_one_row(node, scope)
    return _of_all_rows(node, scope)


def _of_one_row(node: exp.Expr, scope: Scope) -> pa.Array:
    """Evaluate what no column has a say in, such as a TIMESTAMP in words: once, for all rows."""
    value = _of_all_rows(node, replace(scope, rows=1, picked=None))
    return value.take(pa.array(np.zeros(scope.rows, dtype=np.int64)))


def _of_all_rows(node: exp.Expr, scope: Scope) -> pa.Array:
    handler = _named(node) if isinstance(node, exp.Anonymous) else _HANDLERS.get(type(node))
    if handler is None:
        raise unsupported(node, _name(node))
    return handler(node, scope)


def _named(node: exp.Anonymous) -> Handler | None:
    """The handler of a function that the parser knows by name only."""
    name, given = node.name.lower(), len(node.expressions)
    handler = _NAMED.get(name)
    if handler is not None and given not in _ARGUMENTS.get(name, (1,)):
        raise unsupported(node, f"function {name} with {given} arguments")
    return handler


def _name(node: exp.Expr) -> str:
    """Name a construct for a message: a function as it is called, anything else by its kind."""
    if isinstance(node, exp.Anonymous):
        return f"function {node.name}"
    return f"function {node.sql_name().lower()}" if isinstance(node, exp.Func) else type(node).__name__.lower()
