"""Joins by time inside one process, Arrow in and Arrow out, against DuckDB and Polars on two threads.

As-of: DuckDB's ASOF JOIN and Polars' `join_asof` with the sort that it asks for. Windows: DuckDB has no such join, so
it is asked in two ways, as a range join that is grouped and as a framed window over the union of both tables.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import duckdb
import polars as pl
import pyarrow.compute as pc

import dovetail as dv
from benchmarks import CORES
from benchmarks.figures import Outcome
from benchmarks.harness import OURS, Answer, Contender, compete, times_faster, times_longer
from benchmarks.temporal_data import KEYS, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pyarrow as pa

    from benchmarks.figures import Stand
    from benchmarks.temporal_data import Timed

MILLION = 1_000_000
IN_WINDOW = 1_000
SUMS = {"n": "count(*)", "total": "sum(r_value)", "mean": "avg(r_value)"}
ENDS = {"least": "min(r_value)", "most": "max(r_value)", "early": "first(r_value)", "late": "last(r_value)"}


def races() -> dict[str, Callable[[Stand], Outcome]]:
    """Every race by its name."""
    return {
        "arrow-asof-keys": partial(asof, "arrow-asof-keys", KEYS),
        "arrow-asof-one-key": partial(asof, "arrow-asof-one-key", 1),
        "arrow-window-sums": partial(windows, "arrow-window-sums", SUMS),
        "arrow-window-ends": partial(windows, "arrow-window-ends", ENDS),
        "growth-arrow-window": growth,
    }


def asof(name: str, keys: int, stand: Stand) -> Outcome:
    """The last right row at or before each left one."""
    rows = stand.rows(10 * MILLION)
    problem = timed(rows, rows, keys=keys)
    contenders = [asof_contender(problem), _duckdb(problem, "ASOF JOIN", _asof_sql(problem), _weigh_asof)]
    engines: tuple[Literal["in-memory", "streaming"], ...] = ("in-memory", "streaming")
    contenders += [_polars(problem, engine) for engine in engines]
    timings = compete(name, contenders, repeat=stand.repeat)
    title = f"Arrow: as-of, {'one key' if keys == 1 else f'{keys:,} keys'}, unsorted"
    claim = times_faster(title, timings, 1.5)
    return Outcome(name, title, f"{problem.size}, {timings[0].rows:,} rows out", [claim], timings)


def windows(name: str, agg: Mapping[str, str], stand: Stand) -> Outcome:
    """Aggregates of about a thousand right rows for each left one; which way suits DuckDB, a tenth of the rows tell."""
    tenth = timed(stand.rows(MILLION // 10), stand.rows(MILLION))
    tried = compete(name, _window_rivals(tenth, agg), stage="ways", repeat=1)
    best = min(range(len(tried)), key=lambda i: tried[i].median)
    problem = timed(stand.rows(MILLION), stand.rows(10 * MILLION))
    contenders = [window_contender(OURS, problem, agg, IN_WINDOW), _window_rivals(problem, agg)[best]]
    timings = compete(name, contenders, repeat=stand.repeat)
    title = f"Arrow: window join, {', '.join(agg)}"
    claim = times_faster(title, timings, 3.0)
    return Outcome(name, title, f"{problem.size}, about {IN_WINDOW:,} rows a window", [claim], [*tried, *timings])


def _window_rivals(problem: Timed, agg: Mapping[str, str]) -> list[Contender]:
    return [
        _duckdb(problem, "range join, grouped", _grouped(problem, agg), _weigh_window),
        _duckdb(problem, "framed window over the union", _framed(problem, agg), _weigh_window),
    ]


def growth(stand: Stand) -> Outcome:
    """The same join with windows a hundred times longer."""
    problem = timed(stand.rows(MILLION), stand.rows(10 * MILLION), keys=10)
    both = {**SUMS, **ENDS}
    contenders = [window_contender(f"{times}x", problem, both, times * IN_WINDOW) for times in (1, 100)]
    short, long = compete("growth-arrow-window", contenders, repeat=stand.repeat, rivals=False)
    title = "Growth: windows 100 times longer"
    claim = times_longer(title, long, short, 1.3)
    return Outcome("growth-arrow-window", title, f"{problem.size}, all aggregates", [claim], [short, long])


def asof_contender(problem: Timed) -> Contender:
    """Our as-of join."""
    keys = None if problem.keys == 1 else [("l_key", "r_key")]
    run = partial(dv.asof_join, problem.left, problem.right, on=("l_ts", "r_ts"), keys=keys)
    return Contender(OURS, OURS, "no settings", run, _weigh_asof)


def window_contender(name: str, problem: Timed, agg: Mapping[str, str], rows: int) -> Contender:
    """Our window join, over windows of about so many rows."""
    join = partial(dv.window_join, problem.left, problem.right, on=("l_ts", "r_ts"), keys=[("l_key", "r_key")])
    return Contender(name, OURS, "no settings", partial(join, preceding=problem.window(rows), agg=agg), _weigh_window)


def _weigh_asof(result: pa.Table) -> Answer:
    """Which rows met."""
    met = pc.sum(pc.multiply(pc.add(result["l_id"], 1), pc.add(pc.fill_null(result["r_id"], -1), 1)))
    return Answer(result.num_rows, met.as_py() or 0)


def _weigh_window(result: pa.Table) -> Answer:
    """The sums of the aggregates, in whole numbers."""
    names = [name for name in (*SUMS, *ENDS) if name in result.column_names and name != "mean"]
    return Answer(result.num_rows, sum(int(pc.sum(result[name]).as_py() or 0) for name in names))


def _duckdb(problem: Timed, way: str, sql: str, weigh: Callable[[Any], Answer]) -> Contender:
    session = duckdb.connect()
    session.execute(f"SET threads = {CORES}")
    session.register("l_table", problem.left)
    session.register("r_table", problem.right)

    def run() -> pa.Table:
        return session.sql(sql).to_arrow_table()

    return Contender(f"DuckDB, {way}", "DuckDB", f"threads={CORES}", run, weigh)


def _asof_sql(problem: Timed) -> str:
    return f"SELECT * FROM l_table ASOF LEFT JOIN r_table ON {problem.on}l_ts >= r_ts"  # noqa: S608 -- our own names


def _grouped(problem: Timed, agg: Mapping[str, str]) -> str:
    far = problem.window(IN_WINDOW)
    shown = ", ".join(f"{_over_pairs(text)} AS {name}" for name, text in agg.items())
    on = f"{problem.on}r_ts BETWEEN l_ts - {far} AND l_ts"
    return f"SELECT l_id, {shown} FROM l_table LEFT JOIN r_table ON {on} GROUP BY l_id"  # noqa: S608 -- our own names


def _over_pairs(text: str) -> str:
    """An aggregate over joined rows, of which one without partner counts as none, and time gives the order."""
    ends = {"first(r_value)": "arg_min(r_value, r_ts)", "last(r_value)": "arg_max(r_value, r_ts)"}
    return ends.get(text, text.replace("count(*)", "count(r_id)"))


def _framed(problem: Timed, agg: Mapping[str, str]) -> str:
    far = problem.window(IN_WINDOW)
    shown = ", ".join(f"{_over_frame(text)} OVER near AS {name}" for name, text in agg.items())
    rows = (
        "SELECT l_id, l_key AS k, l_ts AS ts, NULL AS r_id, NULL AS r_value FROM l_table UNION ALL BY NAME "
        "SELECT NULL AS l_id, r_key AS k, r_ts AS ts, r_id, r_value FROM r_table"
    )
    frame = f"PARTITION BY k ORDER BY ts RANGE BETWEEN {far} PRECEDING AND CURRENT ROW"
    return f"SELECT * FROM (SELECT l_id, {shown} FROM ({rows}) WINDOW near AS ({frame})) WHERE l_id IS NOT NULL"  # noqa: S608


def _over_frame(text: str) -> str:
    ends = {"first(r_value)": "first_value(r_value IGNORE NULLS)", "last(r_value)": "last_value(r_value IGNORE NULLS)"}
    return ends.get(text, text.replace("count(*)", "count(r_id)"))


def _polars(problem: Timed, engine: Literal["in-memory", "streaming"]) -> Contender:
    by: dict[str, Any] = {} if problem.keys == 1 else {"by_left": "l_key", "by_right": "r_key"}

    def run() -> Any:
        left, right = (pl.from_arrow(own).lazy() for own in (problem.left, problem.right))  # type: ignore[union-attr]
        joined = left.sort("l_ts").join_asof(
            right.sort("r_ts"), left_on="l_ts", right_on="r_ts", coalesce=False, check_sortedness=False, **by
        )
        return joined.collect(engine=engine).to_arrow()

    return Contender(f"Polars {engine}, sorted first", "Polars", f"POLARS_MAX_THREADS={CORES}", run, _weigh_asof)
