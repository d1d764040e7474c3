"""Dovetail joins what equality cannot: inequalities, bands, points in intervals, intervals over intervals.

>>> import dovetail as dv
>>> import pyarrow as pa
>>> phones = pa.table({"phone": ["p1", "p2"], "price": [300, 900]})
>>> laptops = pa.table({"laptop": ["x", "y"], "price": [500, 1200]})
>>> dv.join(phones, laptops, on="l.price > r.price").to_pylist()
[{'phone': 'p2', 'price': 900, 'laptop': 'x', 'r_price': 500}]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dovetail import errors
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dovetail._core.plan.plan import Plan

__all__ = ["errors", "explain", "join"]
__version__ = "0.1.0"


def join(  # noqa: PLR0913 -- every choice of a join has a name
    *frames: Any,
    on: str,
    how: str = "inner",
    select: str | None = None,
    agg: Mapping[str, str] | None = None,
    per: str | None = None,
    algorithm: str = "auto",
    partitions: int | None = None,
    window: int | None = None,
    prefilter: bool | None = None,
    amalgamate: bool | None = None,
    cuts: str | None = None,
    order: str | None = None,
    **named: Any,
) -> Any:
    """Join two frames on any Spark SQL condition, without comparing every row with every row.

    The rows are those of `left.join(right, expr(on), how)` in Spark, as a multiset: NULL matches nothing (except by
    `<=>`), NaN equals itself and is the greatest number, -0.0 equals 0.0. The order of the rows is not defined.

    Parameters
    ----------
    *frames, **named
        Two frames: Spark DataFrames, or any of pyarrow, pandas, Polars, DuckDB. Unnamed ones are called `l` and `r` in
        the condition; `join(p=pings, o=outages, ...)` names them `p` and `o`.
    on
        A Spark SQL boolean. Equalities and `< <= > >= BETWEEN` between one side and the other drive the join; the sides
        may be any deterministic expressions of one input each. Everything else is tested pair by pair.
    how
        `inner`, `left`, `right`, `full`, `semi` or `anti`, or one of Spark's other spellings.
    select
        A Spark SQL select list; only what it reads travels. Without it: all columns of the first input, then all of the
        other (`semi`, `anti`: of the first), a name that clashes prefixed with its input's name (`r_price`).
    agg, per
        Aggregates by name, such as ``{"n": "count(*)", "worst": "max(o.severity)"}``, for every row of the input `per`:
        one row each, its columns and then the aggregates, whether it has partners or not. `count`, `sum`, `avg`, `min`,
        `max`, `first`, `last`. `first` and `last` go by the other side's value in the first comparison, ties by the
        aggregated value. Pairs are never made, unless a residual asks for it.
    algorithm
        `auto` chooses; on Spark also `broadcast`, `range` or `spark` (Spark's own join). For one inequality, on either
        host, the partitioned theta-joins: `range-based`, `one-bucket`, `cross-filter`, `fast-theta`, `prefap`.
    partitions
        On Spark, into how many cells to place the rows; chosen by size if left out. Of a partitioned theta-join, into
        how many cells to cut a side: 10, or 32 by quantile.
    window
        Join the i-th so many rows of one input only with the i-th so many of the other.
    prefilter, amalgamate
        False leaves out that step of `prefap`.
    cuts
        How `prefap` and `fast-theta` cut: by `width`, or by `quantile`, which skew does not upset.

    Returns
    -------
    A frame of the same library: a lazy DataFrame on Spark; of a RecordBatchReader, a reader whose rows are found as
    they are taken.

    Raises
    ------
    UsageError
        In one line, before any job starts, if the call cannot be carried out.
    UnsupportedError
        If an expression needs Spark and the frames are not Spark's.

    Examples
    --------
    >>> import dovetail as dv
    >>> import pyarrow as pa
    >>> pings = pa.table({"id": [1, 2, 3], "at": [5, 12, 40]})
    >>> outages = pa.table({"start": [0, 10], "end": [10, 20], "cause": ["storm", "digger"]})
    >>> dv.join(
    ...     p=pings, o=outages, on="p.at >= o.start AND p.at < o.end", how="left", select="p.id, o.cause"
    ... ).sort_by("id").to_pylist()
    [{'id': 1, 'cause': 'storm'}, {'id': 2, 'cause': 'digger'}, {'id': 3, 'cause': None}]
    >>> dv.join(p=pings, o=outages, on="p.at > o.start", agg={"n": "count(*)"}, per="p").to_pylist()
    [{'id': 1, 'at': 5, 'n': 1}, {'id': 2, 'at': 12, 'n': 2}, {'id': 3, 'at': 40, 'n': 2}]
    """
    from dovetail._hosts.door import run  # noqa: PLC0415 -- importing dovetail must stay light

    sides = _sides(frames, named)
    choices = {"how": how, "select": select, "agg": agg, "per": per, "algorithm": algorithm, "partitions": partitions}
    choices |= {"window": window, "prefilter": prefilter, "amalgamate": amalgamate, "cuts": cuts, "order": order}
    return run(sides, on=on, **choices)


def explain(  # noqa: PLR0913 -- the choices of `join`
    *frames: Any,
    on: str,
    how: str = "inner",
    select: str | None = None,
    agg: Mapping[str, str] | None = None,
    per: str | None = None,
    algorithm: str = "auto",
    partitions: int | None = None,
    window: int | None = None,
    prefilter: bool | None = None,
    amalgamate: bool | None = None,
    cuts: str | None = None,
    order: str | None = None,
    **named: Any,
) -> Plan:
    """Tell how `join` would answer the same call, and why; the join itself does not run.

    Takes the arguments of `join`. On Spark it reads each input once for its statistics, as the join would.

    Returns
    -------
    A `Plan`: prints as a tree, shows as a table in a notebook, and `plan.plot("matrix.png")` draws the join matrix.

    Examples
    --------
    >>> import dovetail as dv
    >>> import pyarrow as pa
    >>> points, spans = pa.table({"at": [1, 5, 9]}), pa.table({"start": [0, 4], "end": [2, 6]})
    >>> plan = dv.explain(points, spans, on="l.at BETWEEN r.start AND r.end")
    >>> plan.kind, plan.results
    ('point in interval', 2)
    """
    from dovetail._hosts.door import describe  # noqa: PLC0415 -- importing dovetail must stay light

    sides = _sides(frames, named)
    choices = {"how": how, "select": select, "agg": agg, "per": per, "algorithm": algorithm, "partitions": partitions}
    choices |= {"window": window, "prefilter": prefilter, "amalgamate": amalgamate, "cuts": cuts, "order": order}
    return describe(sides, on=on, **choices)


def _sides(frames: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """The inputs by name."""
    sides = {**dict(zip(("l", "r"), frames, strict=False)), **named}
    number = len(frames) + len(named)
    if number < 2 or len(sides) != number or (frames and number > 2):  # noqa: PLR2004 -- a join has two sides at least
        raise UsageError.number_of_inputs(number)
    return sides
