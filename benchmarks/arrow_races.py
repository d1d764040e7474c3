"""Races inside one process, Arrow in and Arrow out, against DuckDB and Polars on two threads.

Each peer is asked in several ways, and its fastest counts. DuckDB: as written, the sides swapped, both sides sorted
first in the query, and with two of its settings; Polars: both of its engines, the sides swapped, sorted first. The
query, the conversion from Arrow (zero-copy in both) and that to Arrow are timed.
"""

from __future__ import annotations

import operator
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import duckdb
import numpy as np
import polars as pl
import pyarrow.compute as pc

import dovetail as dv
from benchmarks import ALLOCATOR, CORES, data
from benchmarks.figures import Outcome
from benchmarks.harness import OURS, Answer, Contender, WrongAnswerError, compete, times_faster, times_longer

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from duckdb import DuckDBPyConnection

    from benchmarks.data import Comparison, Problem
    from benchmarks.figures import Stand

INNER, OUTER = 2.0, 1.5
MILLION = 1_000_000
OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def races() -> dict[str, Callable[[Stand], Outcome]]:
    """Every race by its name."""
    found: dict[str, Callable[[Stand], Outcome]] = {
        "arrow-point": partial(_race, "arrow-point", data.point_in_interval, MILLION),
        "arrow-overlap": partial(_race, "arrow-overlap", data.overlap, MILLION),
        "arrow-two-inequalities": partial(_race, "arrow-two-inequalities", data.two_inequalities, MILLION),
        "arrow-one-inequality": partial(_race, "arrow-one-inequality", data.one_inequality, 10_000),
    }
    for name, make in (("arrow-point", data.point_in_interval), ("arrow-overlap", data.overlap)):
        for how in ("left", "full", "semi", "anti"):
            found[f"{name}-{how}"] = partial(_race, f"{name}-{how}", make, MILLION, how=how)
    found["arrow-fused"] = fused
    return found


def _race(name: str, make: Callable[[int], Problem], rows: int, stand: Stand, *, how: str = "inner") -> Outcome:
    """One join type of one problem against all peers that have it."""
    problem = make(stand.rows(rows)).asking(how)
    contenders = [_dovetail(problem), *_duckdb(problem), *_polars(problem)]
    timings = compete(name, contenders, repeat=stand.repeat)
    title = f"Arrow: {make.__name__.replace('_', ' ')}, {how}"
    claim = times_faster(title, timings, INNER if how == "inner" else OUTER)
    described = f"{problem.size}, {timings[0].rows:,} results, {len(problem.columns)} columns"
    return Outcome(name, title, described, [claim], timings)


def fused(stand: Stand) -> Outcome:
    """Count and sum per left row without the pairs, against the time of only sorting both key columns."""
    problem = data.one_inequality(stand.rows(MILLION))
    aggregates = {"n": "count(*)", "total": "sum(r.r_value)"}
    join = partial(dv.join, problem.left, problem.right, on=problem.on, agg=aggregates, per="l")
    keys = [problem.left["l_key"].to_numpy(), problem.right["r_key"].to_numpy()]
    contenders = [
        Contender(OURS, OURS, f"agg= and per=, {ALLOCATOR}", join, partial(_check_fused, problem)),
        Contender(
            "np.sort", "NumPy", "both key columns", lambda: [np.sort(one) for one in keys], lambda _: Answer(0, 0)
        ),
    ]
    ours, sort = compete("arrow-fused", contenders, repeat=stand.repeat, rivals=False)
    title = "Arrow: fused count and sum, one inequality"
    claim = times_longer(title, ours, sort, 3.0)
    described = f"{problem.size}, {ours.checksum:,} pairs counted, {ours.rows:,} rows out"
    return Outcome("arrow-fused", title, described, [claim], [ours, sort])


def _check_fused(problem: Problem, result: pa.Table) -> Answer:
    """Compare with prefix sums over the sorted right side."""
    order = np.argsort(problem.right["r_key"].to_numpy())
    sums = np.concatenate([[0.0], np.cumsum(problem.right["r_value"].to_numpy()[order])])
    result = result.sort_by("l_id")
    n = np.searchsorted(problem.right["r_key"].to_numpy()[order], result["l_key"].to_numpy())
    total = np.nan_to_num(result["total"].to_numpy())
    if not np.array_equal(result["n"].to_numpy(), n) or not np.allclose(total, sums[n]):
        raise WrongAnswerError(result.schema.names)
    return Answer(result.num_rows, int(n.sum()))


def _weigh(problem: Problem, result: pa.Table) -> Answer:
    sums = [pc.sum(result[name]).as_py() or 0 for name in problem.ids]
    return Answer(result.num_rows, sum(sums))


def _dovetail(problem: Problem) -> Contender:
    return Contender(OURS, OURS, ALLOCATOR, join_of(problem), partial(_weigh, problem))


def join_of(problem: Problem) -> Callable[[], pa.Table]:
    """Our answer to a problem, to be asked for any number of times."""
    columns = ", ".join(problem.columns)
    return partial(dv.join, problem.left, problem.right, on=problem.on, how=problem.how, select=columns)


def _duckdb(problem: Problem) -> list[Contender]:
    """DuckDB's relation interface, which was faster than `execute`, in all the ways that the question allows."""
    ways: dict[str, tuple[str, dict[str, bool]]] = {
        "as written": (_sql(problem), {}),
        "sorted first": (_sql(problem, ordered=True), {}),
        "order not kept": (_sql(problem), {"preserve_insertion_order": False}),
        "range joins preferred": (_sql(problem), {"prefer_range_joins": True}),
    }
    found = [_duckdb_way(problem, name, sql, settings) for name, (sql, settings) in ways.items()]
    if problem.how not in ("semi", "anti"):
        found.append(_duckdb_way(problem.flip(), "sides swapped", _sql(problem.flip()), {}))
    return found


def _duckdb_way(problem: Problem, way: str, sql: str, settings: dict[str, bool]) -> Contender:
    session = _connect(problem, settings)
    said = ", ".join(f"{key}={value}" for key, value in {"threads": CORES, **settings}.items())

    def run() -> pa.Table:
        return session.sql(sql).to_arrow_table()

    return Contender(f"DuckDB, {way}", "DuckDB", said.lower(), run, partial(_weigh, problem))


def _connect(problem: Problem, settings: dict[str, bool]) -> DuckDBPyConnection:
    session = duckdb.connect()
    session.execute(f"SET threads = {CORES}")
    for key, value in settings.items():
        session.execute(f"SET {key} = {value}")
    session.register("l_table", problem.left)
    session.register("r_table", problem.right)
    return session


def _sql(problem: Problem, *, ordered: bool = False) -> str:
    first = problem.comparisons[0]
    left, right = "l_table", "r_table"
    if ordered:
        left, right = f"(FROM {left} ORDER BY {first.left})", f"(FROM {right} ORDER BY {first.right})"
    columns = ", ".join(problem.columns)
    return f"SELECT {columns} FROM {left} l {problem.how} JOIN {right} r ON {problem.on}"  # noqa: S608 -- our own names


def _polars(problem: Problem) -> list[Contender]:
    """Polars joins on inequalities by `join_where`, which is inner only."""
    if problem.how != "inner":
        return []
    swapped = problem.flip()
    return [
        _polars_way(problem, "in-memory", "as written"),
        _polars_way(swapped, "in-memory", "sides swapped"),
        _polars_way(problem, "streaming", "as written"),
        _polars_way(swapped, "streaming", "sides swapped"),
        _polars_way(problem, "streaming", "sorted first", ordered=True),
    ]


def _polars_way(
    problem: Problem, engine: Literal["in-memory", "streaming"], way: str, *, ordered: bool = False
) -> Contender:
    def run() -> Any:
        left, right = _lazy(problem.left), _lazy(problem.right)
        if ordered:
            left, right = left.sort(problem.comparisons[0].left), right.sort(problem.comparisons[0].right)
        joined = left.join_where(right, *map(_predicate, problem.comparisons))
        return joined.select(problem.columns).collect(engine=engine).to_arrow()

    said = f"engine={engine}, POLARS_MAX_THREADS={CORES}"
    return Contender(f"Polars {engine}, {way}", "Polars", said, run, partial(_weigh, problem))


def _lazy(table: pa.Table) -> pl.LazyFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame.lazy()


def _predicate(own: Comparison) -> pl.Expr:
    expression: pl.Expr = OPERATORS[own.op](pl.col(own.left), pl.col(own.right))
    return expression
