"""Dovetail joins what equality cannot: inequalities, bands, points in intervals, overlaps, and rows near in time.

>>> import dovetail as dv
>>> import pyarrow as pa
>>> phones = pa.table({"phone": ["p1", "p2"], "price": [300, 900]})
>>> laptops = pa.table({"laptop": ["x", "y"], "price": [500, 1200]})
>>> dv.join(phones, laptops, on="l.price > r.price").to_pylist()
[{'phone': 'p2', 'price': 900, 'laptop': 'x', 'r_price': 500}]
"""

from __future__ import annotations

from datetime import timedelta
from inspect import signature
from typing import TYPE_CHECKING, Any

from dovetail import errors, online, stream
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dovetail._core.condition.window import Window
    from dovetail._core.plan.plan import Plan

__all__ = [
    "asof_join",
    "errors",
    "explain",
    "fixed",
    "join",
    "online",
    "sliding",
    "stream",
    "temporal_join",
    "unbounded",
    "window_join",
]
__version__ = "0.1.0"


def join(
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
    """Join two or more frames on any Spark SQL condition, without comparing every row with every row.

    The rows are those of `left.join(right, expr(on), how)` in Spark, as a multiset: NULL matches nothing (except by
    `<=>`), NaN equals itself and is the greatest number, -0.0 equals 0.0. The order of the rows is not defined.

    Parameters
    ----------
    *frames, **named
        Two frames: Spark DataFrames, streaming ones too, or any of pyarrow, pandas, Polars, DuckDB. Unnamed ones are
        called `l` and `r` in the condition; `join(p=pings, o=outages, ...)` names them `p` and `o`. Three and more, all
        named, are joined two at a time; the condition must connect them all. The index of pandas is left out.
    on
        A Spark SQL boolean. Equalities and `< <= > >= BETWEEN` between one side and the other drive the join; the sides
        may be any deterministic expressions of one input each. So do distances, `abs(l.a - r.a) <= 10` or
        `datediff(l.day, r.day) < 3`, sums, and what one side can waive, `l.at < r.end OR r.end IS NULL`. Everything
        else is tested pair by pair. Expressions of one input are computed for every row that its own filters leave: one
        that fails, as a division by zero does, fails the join even if the row has no partner by the rest of the
        condition.
    how
        `inner`, `left`, `right`, `full`, `semi` or `anti`, or one of Spark's other spellings. Three and more inputs
        are joined by `inner`.
    select
        A Spark SQL select list; only what it reads travels. Without it: all columns of the first input, then all of the
        other (`semi`, `anti`: of the first), a name that clashes prefixed with its input's name (`r_price`).
    agg, per
        Aggregates by name, such as ``{"n": "count(*)", "worst": "max(o.severity)"}``, for every row of the input `per`:
        one row each, its columns and then the aggregates, whether it has partners or not. `count`, `sum`, `avg`, `min`,
        `max`, `first`, `last`, `stddev`, `variance`, `count_distinct`, each also with `FILTER (WHERE ...)`. `first` and
        `last` go by the other side's value in the first comparison, ties by the aggregated value. Pairs are never made,
        unless a residual asks for it, or `count_distinct` over two inequalities. Of three and more inputs, `count`,
        `sum`, `avg`, `min` and `max` of any input but `per`, along conditions that form a chain or a star.
    algorithm
        `auto` chooses. On Spark also `broadcast`, `range` or `spark` (Spark's own join). For one inequality, on Spark
        or not, the partitioned theta-joins: `range-based`, `one-bucket`, `cross-filter`, `fast-theta`, `prefap`. For
        an equality, on Spark or not, `der` (the smaller side goes to every task; bits tell which of its rows are
        unmatched), `replicate` (likewise, but unmatched rows go back whole), `ring` (the smaller side goes from task to
        task) and `redistribute` (both sides go to where their key belongs). Outside Spark also `progressive`, which
        takes iterators of batches: see `dovetail.stream.join`.
    partitions
        On Spark, into how many cells to place the rows; chosen by size if left out. Of a partitioned theta-join, into
        how many cells to cut a side: 10, or 32 by quantile. Of a ring, how many tasks it has.
    window
        A number of rows: the first so many of one input are joined with the first so many of the other only, the next
        with the next, and so on.
    prefilter, amalgamate
        False leaves out that step of `prefap`.
    cuts
        How `prefap` and `fast-theta` cut: by `width`, or by `quantile`, which skew does not upset.
    order
        Of three and more inputs, `given` joins them in the order of the call; otherwise the plan chooses.

    Returns
    -------
    A frame of the library of the first one: a lazy DataFrame on Spark; of a RecordBatchReader, a reader whose rows are
    found as they are taken. With `per`, of the library of that input.

    Raises
    ------
    UsageError
        In one line, before any job starts, if the call cannot be carried out.
    UnsupportedError
        If an expression needs Spark and the frames are not Spark's.

    Notes
    -----
    On Spark, a plan may read a frame more than once: to learn its size, to bring it to the driver, for rows without a
    partner. One that is computed otherwise each time, by `current_timestamp()`, a `limit` without an order or a
    function of yours that is not deterministic, must be kept first: `frame.localCheckpoint()`.

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

    Three inputs, and the partitioned theta-join of a paper:

    >>> limits = pa.table({"most": [8, 100]})
    >>> dv.join(
    ...     p=pings, o=outages, m=limits, on="p.at > o.start AND p.at < m.most", agg={"n": "count(*)"}, per="p"
    ... ).to_pylist()
    [{'id': 1, 'at': 5, 'n': 2}, {'id': 2, 'at': 12, 'n': 2}, {'id': 3, 'at': 40, 'n': 2}]
    >>> dv.explain(p=pings, o=outages, on="p.at > o.start", algorithm="prefap").products
    5

    A ring of three workers, around which the smaller side goes twice:

    >>> cells, calls = pa.table({"cell": ["A", "C"]}), pa.table({"cell": ["A", "A", "B"], "at": [1, 2, 3]})
    >>> dv.join(c=cells, k=calls, on="c.cell = k.cell", how="semi", algorithm="ring", partitions=3).to_pylist()
    [{'cell': 'A'}]
    >>> dv.explain(c=cells, k=calls, on="c.cell = k.cell", algorithm="ring", partitions=3).rows_moved
    4
    """
    from dovetail._hosts.door import run  # noqa: PLC0415 -- importing dovetail must stay light

    return run(
        _sides(join, frames, named),
        on=on,
        how=how,
        select=select,
        agg=agg,
        per=per,
        algorithm=algorithm,
        partitions=partitions,
        window=window,
        prefilter=prefilter,
        amalgamate=amalgamate,
        cuts=cuts,
        order=order,
    )


def asof_join(
    *frames: Any,
    on: str | tuple[str, str],
    keys: str | Sequence[str | tuple[str, str]] | None = None,
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
    **named: Any,
) -> Any:
    """Join every row of the first frame with the row of the second that is nearest in time.

    The partner is one row as it stands, never a mix of rows, and does not depend on the order or the placement of the
    rows. NULL times match nothing, nor do NULL keys unless they are null-safe.

    Parameters
    ----------
    *frames, **named
        Two frames, as for `join`.
    on
        The time column, of one name in both frames, or a pair of names; or Spark SQL expressions of one frame each.
        Numbers, dates and timestamps, with and without a zone but not mixed; where only the order counts, also strings.
    keys
        Columns that must be equal, each one name or a pair of names. Without keys, all rows belong together.
    direction
        `backward`: the last row at or before; `forward`: the first at or after; `nearest`: the closer of the two.
    strict
        True: a row of the same time is no partner.
    tolerance
        How far away a partner may be, itself included: a duration ("5 seconds", "5s"), a number, a column of the first
        frame with a distance for each row.
    how
        `left`, `inner`, `right`, `full`, `semi` or `anti`; `right` and `full` keep the unmatched rows of the second
        frame.
    ties, tie_break
        Among rows of one time, the `last` (or `first`) by the columns `tie_break`, ascending and NULL first; by all
        columns that are neither key nor time (nested ones excepted), if left out. Or `all` of them, or an `error`.
    nearest_tie
        Which of two rows at one distance `nearest` takes: `backward` or `forward`.
    where
        A Spark SQL condition that candidates must pass before the nearest is picked.
    null_safe
        True, or the names of the keys in which NULL equals NULL.
    partitions
        On Spark, into how many cells to place the rows; chosen by size if left out.

    Returns
    -------
    A frame of the same library: the columns of the first frame, then those of the second, a name that clashes prefixed
    (`r_ts`). `semi` and `anti`: the columns of the first.

    Raises
    ------
    UsageError
        In one line, before any job starts, if the call cannot be carried out; while the rows are joined, if
        `ties="error"` meets some (on Spark it comes from a task, within Spark's own exception).

    Examples
    --------
    >>> import dovetail as dv
    >>> import pyarrow as pa
    >>> trades = pa.table({"sym": ["A", "A", "B"], "ts": [3, 9, 5], "qty": [10, 20, 30]})
    >>> quotes = pa.table({"sym": ["A", "A", "B"], "at": [1, 8, 7], "bid": [100, 101, 50]})
    >>> dv.asof_join(trades, quotes, on=("ts", "at"), keys="sym").select(["qty", "bid"]).to_pylist()
    [{'qty': 10, 'bid': 100}, {'qty': 20, 'bid': 101}, {'qty': 30, 'bid': None}]
    >>> dv.asof_join(trades, quotes, on=("ts", "at"), keys="sym", tolerance=1, how="semi").to_pylist()
    [{'sym': 'A', 'ts': 9, 'qty': 20}]
    """
    from dovetail._hosts.door import run_asof  # noqa: PLC0415 -- importing dovetail must stay light

    return run_asof(
        _sides(asof_join, frames, named),
        on=on,
        keys=keys,
        direction=direction,
        strict=strict,
        tolerance=tolerance,
        how=how,
        ties=ties,
        tie_break=tie_break,
        nearest_tie=nearest_tie,
        where=where,
        null_safe=null_safe,
        partitions=partitions,
    )


def window_join(
    *frames: Any,
    on: str | tuple[str, str],
    keys: str | Sequence[str | tuple[str, str]] | None = None,
    preceding: object = None,
    following: object = None,
    agg: Mapping[str, str] | None = None,
    closed: str | None = None,
    include_prevailing: bool | None = None,
    windows: Sequence[Mapping[str, Any]] | None = None,
    null_safe: bool | str | Sequence[str] = False,
    partitions: int | None = None,
    algorithm: str = "auto",
    **named: Any,
) -> Any:
    """Fold, for every row of the first frame (the base), the rows of the second (the probe) around its time.

    Every base row gives one row, whether its window holds any probe row or not. Sums of floats do not drift, however
    many windows there are: each is added up from its own rows, in twice the precision.

    Parameters
    ----------
    *frames, **named
        Two frames, as for `join`: the base, then the probe.
    on, keys, null_safe, partitions
        As for `asof_join`; the axis must have distances.
    preceding, following
        How far the window reaches back and forward from the base row's time: a duration ("10 minutes"), a number, the
        name of a base column, or "unbounded". `following` is 0 if left out; either may be negative. Ends beyond the
        axis saturate. Where a base column is NULL, or its window ends before it begins, the window is empty.
    agg
        Aggregates by name: `count`, `sum`, `avg`, `min`, `max`, `first`, `last`, `stddev`, `variance` and
        `count_distinct` of a Spark SQL expression of probe columns, each also with `FILTER (WHERE ...)`. `first` and
        `last` go by time, ties by the value, NULL first. Over an empty window a count is 0, all others NULL.
    closed
        Which ends belong to the window: `both` (if left out), `left`, `right` or `neither`.
    include_prevailing
        Whether the rows of the greatest time at or before the window's start belong to it, too.
    windows
        Several windows at once, each a dict of the options above from `preceding` on; what a window leaves out, the
        call says for all. The rows are sorted once for all of them.
    algorithm
        `auto` sorts both frames once. `scale`, `key` and `split` run the engine of `dovetail.online` over the tables,
        whose rows are put in the order of time first, with `partitions` joiners; not on Spark.

    Returns
    -------
    A frame of the same library: the columns of the base, then the aggregates.

    Raises
    ------
    UsageError
        In one line, before any job starts, if the call cannot be carried out.

    Examples
    --------
    >>> import dovetail as dv
    >>> import pyarrow as pa
    >>> clicks = pa.table({"user": ["u", "v"], "ts": [10, 20]})
    >>> orders = pa.table({"user": ["u", "u", "u"], "ts": [4, 9, 18], "amount": [1.5, 2.0, 4.0]})
    >>> dv.window_join(
    ...     clicks, orders, on="ts", keys="user", preceding=10, agg={"n": "count(*)", "spend": "sum(amount)"}
    ... ).to_pylist()
    [{'user': 'u', 'ts': 10, 'n': 2, 'spend': 3.5}, {'user': 'v', 'ts': 20, 'n': 0, 'spend': None}]
    """
    from dovetail._hosts.door import run_window  # noqa: PLC0415 -- importing dovetail must stay light

    return run_window(
        _sides(window_join, frames, named),
        on=on,
        keys=keys,
        windows=windows,
        null_safe=null_safe,
        partitions=partitions,
        algorithm=algorithm,
        preceding=preceding,
        following=following,
        agg=agg,
        closed=closed,
        include_prevailing=include_prevailing,
    )


def temporal_join(
    *frames: Any,
    on: str,
    ts: str | Mapping[str, str] | None = None,
    window: Window | Mapping[str, Window] | None = None,
    valid: tuple[str, str] | Mapping[str, tuple[str, str]] | None = None,
    how: str = "inner",
    algorithm: str = "auto",
    **named: Any,
) -> Any:
    """Join rows while they are valid: at every instant, the rows are those of a join of what is valid then.

    A row is valid in a half-open interval `[start, end)`; a result where all its rows are, which the columns
    `valid_start` and `valid_end` tell. A start that is NULL or NaN is no time at all: the row is never valid, nor is
    one whose end is its start. An end that is NULL or NaN, or beyond the axis, is no end, and `valid_end` is then NULL.

    Parameters
    ----------
    *frames, **named
        Two frames or more, as for `join`. Iterators of batches are joined by `dovetail.stream`.
    on
        A Spark SQL boolean, as for `join`; `"TRUE"` joins all that is valid at one time.
    ts, window
        The column of each row's time, and how long the row is valid from then on: `dv.sliding(length)`,
        `dv.fixed(length)` or `dv.unbounded()`. A dict says either for every input by name.
    valid
        Instead, the two columns in which a row's interval of validity stands; or a dict of them.
    how
        `inner`; of two inputs also `left`, `right`, `full`, `anti` and `semi`: the stretches of a row's validity in
        which no partner is valid (`semi`: in which one is) are rows of their own.
    algorithm
        `auto` joins tables in one sweep. `buffer-input`, `buffer-output` and `tpmj` run the operators of
        `dovetail.stream` over the tables, whose rows are put in the order of time first; not on Spark.

    Returns
    -------
    A frame of the same library: the inputs' columns, a name that clashes prefixed, then `valid_start` and `valid_end`
    in the common type of all instants: BIGINT, DOUBLE, DECIMAL(18, s), DATE or a timestamp.

    Raises
    ------
    UsageError
        In one line, if the call cannot be carried out, or a row ends before it starts.

    Examples
    --------
    >>> import dovetail as dv
    >>> import pyarrow as pa
    >>> one = pa.table({"x": [42, 3], "start": [10, 11], "end": [15, 14]})
    >>> other = pa.table({"y": [42, 3], "start": [4, 17], "end": [12, 22]})
    >>> found = dv.temporal_join(a=one, b=other, on="a.x = b.y", valid=("start", "end"))
    >>> found.select(["x", "valid_start", "valid_end"]).to_pylist()
    [{'x': 42, 'valid_start': 10, 'valid_end': 12}]
    >>> dv.temporal_join(a=one, b=other, on="a.x = b.y", valid=("start", "end"), how="anti").to_pylist()
    [{'x': 42, 'start': 10, 'end': 15, 'valid_start': 12, 'valid_end': 15}, {'x': 3, 'start': 11, 'end': 14, 'valid_start': 11, 'valid_end': 14}]

    Through a window over one time column:

    >>> bids = pa.table({"sym": ["A", "A"], "ts": [1, 9], "bid": [10, 12]})
    >>> asks = pa.table({"sym": ["A", "B"], "ts": [4, 5], "ask": [10, 9]})
    >>> found = dv.temporal_join(a=bids, b=asks, on="a.sym = b.sym AND a.bid >= b.ask", ts="ts", window=dv.sliding(6))
    >>> found.select(["bid", "ask", "valid_start", "valid_end"]).to_pylist()
    [{'bid': 10, 'ask': 10, 'valid_start': 4, 'valid_end': 7}, {'bid': 12, 'ask': 10, 'valid_start': 9, 'valid_end': 10}]
    """  # noqa: E501 -- a row of a result does not fit a line
    from dovetail._hosts.door import run_temporal  # noqa: PLC0415 -- importing dovetail must stay light

    sides = _sides(temporal_join, frames, named)
    return run_temporal(sides, on=on, ts=ts, window=window, valid=valid, how=how, algorithm=algorithm)


def sliding(length: object) -> Window:
    """Let a row of time t be valid in `[t, t + length)`.

    Parameters
    ----------
    length
        A duration ("10 seconds") or a timedelta; on an axis of numbers, a number.

    Examples
    --------
    >>> import dovetail as dv
    >>> dv.sliding("10 seconds").kind
    'sliding'
    """
    from dovetail._core.condition.window import read_window  # noqa: PLC0415 -- as above

    return read_window("sliding", length)


def fixed(length: object) -> Window:
    """Let a row of time t be valid until the next multiple of `length` above t, counted from 0 or from 1970.

    Parameters
    ----------
    length
        As for `sliding`.

    Examples
    --------
    >>> import dovetail as dv
    >>> import pyarrow as pa
    >>> one, other = pa.table({"ts": [3, 11]}), pa.table({"at": [9]})
    >>> dv.temporal_join(one, other, on="TRUE", ts={"l": "ts", "r": "at"}, window=dv.fixed(10)).to_pylist()
    [{'ts': 3, 'at': 9, 'valid_start': 9, 'valid_end': 10}]
    """
    from dovetail._core.condition.window import read_window  # noqa: PLC0415 -- as above

    return read_window("fixed", length)


def unbounded() -> Window:
    """Let a row be valid from its time on, without end.

    Examples
    --------
    >>> import dovetail as dv
    >>> import pyarrow as pa
    >>> table = pa.table({"ts": [3]})
    >>> dv.temporal_join(a=table, b=table, on="TRUE", ts="ts", window=dv.unbounded()).to_pylist()
    [{'ts': 3, 'b_ts': 3, 'valid_start': 3, 'valid_end': None}]
    """
    from dovetail._core.condition.window import Window  # noqa: PLC0415 -- as above

    return Window("unbounded")


def explain(*frames: Any, on: str | tuple[str, str], **call: Any) -> Plan:
    """Tell how a join would answer the same call, and why; the join itself does not run.

    Takes the arguments of `join`, `asof_join`, `window_join` or `temporal_join`, and explains the first of these that
    takes them all: `keys` or `direction` make it an as-of join, `preceding` a window join, `valid` or `ts` a temporal
    one. On Spark it reads each input for its statistics, as the join would; for an as-of or window join once more, to
    count what every cell gets. Of streams it reads nothing, and tells how long their rows stay.

    Returns
    -------
    A `Plan`: prints as a tree, shows as a table in a notebook, and `plan.plot("matrix.png")` draws the join matrix.

    Raises
    ------
    UsageError
        As the join itself would.

    Examples
    --------
    >>> import dovetail as dv
    >>> import pyarrow as pa
    >>> points, spans = pa.table({"at": [1, 5, 9]}), pa.table({"start": [0, 4], "end": [2, 6]})
    >>> plan = dv.explain(points, spans, on="l.at BETWEEN r.start AND r.end")
    >>> plan.kind, plan.results
    ('point in interval', 2)
    >>> print(dv.explain(points, spans, on=("at", "start"), direction="forward"))
    left join, as-of, by sweep on arrow
    ├─ condition: l.at near r.start
    ├─ why: both sides fit this process: sorted once by key and time, met in one walk
    ├─ matching pairs: 1
    └─ picks: r.start the first at or after l.at; of one time, the last
    """
    from dovetail._hosts import door  # noqa: PLC0415 -- importing dovetail must stay light

    explained: dict[Callable[..., Any], Callable[..., Plan]] = {
        join: door.describe,
        asof_join: door.describe_asof,
        window_join: door.describe_window,
        temporal_join: door.describe_temporal,
    }
    options = {own: set(signature(own).parameters) for own in explained}
    given = {name for name in call if any(name in known for known in options.values())}
    fitting = [own for own, known in options.items() if given <= known and (own is not join or isinstance(on, str))]
    if not fitting:
        raise UsageError.mixed_options(sorted(given), [own.__name__ for own in explained])
    named = {name: own for name, own in call.items() if name not in given}
    sides = _sides(fitting[0], frames, named)
    return explained[fitting[0]](sides, on=on, **_filled(fitting[0], {n: call[n] for n in given}))


def _filled(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """All options of a join but `on`: as given, or as it sets them."""
    return {name: given.get(name, default) for name, default in _options(function).items() if name != "on"}


def _options(function: Callable[..., Any]) -> dict[str, Any]:
    """The options of a join, and what each is if left out."""
    return {name: own.default for name, own in signature(function).parameters.items() if own.kind is own.KEYWORD_ONLY}


def _sides(function: Callable[..., Any], frames: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """The inputs of a join by name; an option that it does not have comes among them, and is refused."""
    for name, value in named.items():
        if _is_no_frame(value):
            raise UsageError.unknown_option(name, value, function.__name__, _options(function))
    number, takes_more = len(frames) + len(named), function in (join, temporal_join)
    if number < 2 or (number > 2 and (frames or not takes_more)):  # noqa: PLR2004 -- two sides
        raise UsageError.number_of_inputs(number, function.__name__, takes_more=takes_more)
    names = [*("l", "r")[: len(frames)], *named]
    if "" in names:
        raise UsageError.nameless_input()
    if len({name.lower() for name in names}) < number:
        raise UsageError.alike_inputs(names)
    return dict(zip(names, (*frames, *named.values()), strict=True))


def _is_no_frame(value: object) -> bool:
    """Whether a value is what options are made of: a text, a number, a length of time, a dict, or some of them."""
    parts = value if isinstance(value, (list, tuple)) and value else [value]
    return all(part is None or isinstance(part, (str, int, float, timedelta, dict)) for part in parts)
