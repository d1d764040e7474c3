"""Joins of three and more inputs: chains, stars and cycles, against another engine."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.errors import UnsupportedError, UsageError
from dovetail.testing import assert_same_rows
from tests.amount import one_in
from tests.spark_answers import quick, spark_frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

R = pa.table({"a": [1, 5, 9], "n": [1, 2, 3]})
S = pa.table({"b": [2, 6, 6, None], "n": [10, 20, 30, 40]})
T = pa.table({"c": [3, 6, 8], "n": [7, 8, 9]})
CHAIN = "r.a < s.b AND s.b <= t.c"
VALUES = st.integers(0, 6) | st.none()
DUCKDB = duckdb.connect(config={"threads": 1, "autoload_known_extensions": False})
FEW = settings(max_examples=one_in(5))
SIGNS = ["<", "<=", ">", ">=", "="]
SHAPES = {
    3: [[(0, 1), (1, 2)], [(0, 1), (0, 2)], [(0, 2), (1, 2)], [(0, 1), (1, 2), (0, 2)]],
    4: [[(0, 1), (1, 2), (2, 3)], [(1, 0), (1, 2), (1, 3)], [(0, 1), (1, 2), (2, 3), (3, 0)]],
}


@dataclass(frozen=True)
class ManyCase:
    tables: dict[str, pa.Table]
    on: str
    tree: bool

    def pairs(self) -> list[tuple[Any, ...]]:
        """DuckDB's answer."""
        for name, table in self.tables.items():
            DUCKDB.register(name, table)
        shown = ", ".join(f"{name}.*" for name in self.tables)
        return DUCKDB.sql(f"SELECT {shown} FROM {', '.join(self.tables)} WHERE {self.on}").fetchall()  # noqa: S608


@st.composite
def many_cases(draw: st.DrawFn) -> ManyCase:
    names = ["r", "s", "t", "u"][: draw(st.sampled_from([3, 3, 4]))]
    tables = {}
    for name in names:
        rows = draw(st.lists(st.tuples(VALUES, VALUES), max_size=7))
        columns = {"x": [x for x, _ in rows], "y": [y for _, y in rows], "id": list(range(len(rows)))}
        tables[name] = pa.table({own: pa.array(values, pa.int64()) for own, values in columns.items()})
    edges = draw(st.sampled_from(SHAPES[len(names)]))
    column = st.sampled_from("xy")
    parts = [f"{names[a]}.{draw(column)} {draw(st.sampled_from(SIGNS))} {names[b]}.{draw(column)}" for a, b in edges]
    more = ["r.y > 1", "s.x IS NOT NULL", "(r.x <> s.y OR r.x = 3)", f"r.x + s.x < {names[-1]}.y + 5"]
    parts += draw(st.lists(st.sampled_from(more), max_size=1))
    pairs = {frozenset(edge) for edge in edges} | ({frozenset((0, 1))} if "OR" in parts[-1] else set())
    tree = len(pairs) == len(names) - 1 and "+" not in parts[-1]
    return ManyCase(tables, " AND ".join(parts), tree)


def _answer(case: ManyCase, join: Callable[..., Any], **call: Any) -> Any:
    """The joined rows; None if the condition is a circle that can never hold, which DuckDB must confirm."""
    try:
        return join(**case.tables, on=case.on, **call)
    except UsageError as error:
        if "can never hold" in str(error) and case.pairs() == []:
            return None
        raise


@FEW
@given(many_cases(), st.sampled_from(["auto", "given"]))
def test_rows_are_another_engines(case: ManyCase, order: str) -> None:
    got = _answer(case, dv.join, order=order)
    if got is not None:
        assert_same_rows(got, case.pairs())


AGG = {
    "n": "count(*)",
    "k": "count(s.x)",
    "total": "sum(s.x)",
    "least": "min(r.y)",
    "most": "max(s.y)",
    "mean": "avg(r.x)",
}


@FEW
@given(many_cases())
def test_aggregates_are_those_of_the_rows(case: ManyCase) -> None:
    per = list(case.tables)[-1]
    if case.tree:
        got = _answer(case, dv.join, agg=AGG, per=per)
        if got is not None:
            assert_same_rows(got, _folded(case, per))
    else:
        with pytest.raises((UnsupportedError, UsageError), match=r"agg over three|can never hold"):
            dv.join(**case.tables, on=case.on, agg=AGG, per=per)


def _folded(case: ManyCase, per: str) -> list[tuple[Any, ...]]:
    """The aggregates by hand, from DuckDB's rows."""
    names = list(case.tables)
    at = {f"{name}.{column}": 3 * i + j for i, name in enumerate(names) for j, column in enumerate(["x", "y", "id"])}
    rows = case.pairs()
    found = []
    for own in case.tables[per].to_pylist():
        mine = [row for row in rows if row[at[f"{per}.id"]] == own["id"]]
        s_x, r_y, s_y, r_x = (
            [row[at[name]] for row in mine if row[at[name]] is not None] for name in ("s.x", "r.y", "s.y", "r.x")
        )
        mean = sum(r_x) / len(r_x) if r_x else None
        found.append(
            (
                *(*own.values(), len(mine), len(s_x), sum(s_x) if s_x else None),
                *(min(r_y, default=None), max(s_y, default=None), mean),
            )
        )
    return found


@settings(max_examples=5)
@given(case=many_cases())
def test_spark_gives_the_same_rows(spark: SparkSession, case: ManyCase) -> None:
    with quick(spark):
        frames = {name: spark_frame(spark, table) for name, table in case.tables.items()}
        got = _answer(ManyCase(frames, case.on, case.tree), dv.join) if case.pairs() else None
        if got is not None:
            assert_same_rows(got.toArrow(), case.pairs())


def test_the_document_s_cascade_and_the_order_of_our_own() -> None:
    for call in ({}, {"order": "given"}, {"order": "given", "algorithm": "prefap", "partitions": 3}):
        got = dv.join(r=R, s=S, t=T, on=CHAIN, select="r.a, s.b, t.c", **call)
        want = [(1, 2, 3), (1, 2, 6), (1, 2, 8), *[(a, 6, c) for a in (1, 5) for c in (6, 8)] * 2]
        assert_same_rows(got, want)


def test_nanoseconds_count_in_what_is_shown_and_folded() -> None:
    at = pa.array([1, 2, 3], pa.timestamp("ns"))
    inputs = dict.fromkeys("abc", pa.table({"at": at}))
    on = "a.at < b.at AND b.at < c.at"
    shown = dv.join(**inputs, on=on, select="greatest(a.at, c.at) AS last, b.at")
    assert shown.schema.types == [at.type, at.type]
    assert [own.to_numpy().astype(int).tolist() for own in shown.columns] == [[3], [2]]
    folded = dv.join(**inputs, on=on, agg={"last": "max(c.at)"}, per="a")
    assert folded["last"].cast(pa.int64()).to_pylist() == [3, None, None]


def test_names_that_clash_get_their_input_before_them() -> None:
    assert dv.join(r=R, s=S, t=T, on=CHAIN).column_names == ["a", "n", "b", "s_n", "c", "t_n"]


def test_a_count_per_row_makes_no_pair() -> None:
    got = dv.join(r=R, s=S, t=T, on=CHAIN, agg={"combinations": "count(*)", "last": "max(t.n)"}, per="s")
    assert got.to_pylist() == [
        {"b": 2, "n": 10, "combinations": 3, "last": 9},
        {"b": 6, "n": 20, "combinations": 4, "last": 9},
        {"b": 6, "n": 30, "combinations": 4, "last": 9},
        {"b": None, "n": 40, "combinations": 0, "last": None},
    ]


def test_spark_folds_and_explains(spark: SparkSession) -> None:
    frames: dict[str, Any] = {name: spark_frame(spark, table) for name, table in {"r": R, "s": S, "t": T}.items()}
    agg = {"combinations": "count(*)", "last": "max(t.n)"}
    with quick(spark):
        got = dv.join(**frames, on=CHAIN, agg=agg, per="s").toArrow()
        plan = dv.explain(**frames, on=CHAIN)
        windows = dv.join(**frames, on=CHAIN, window=2).toArrow()
    assert_same_rows(got, dv.join(r=R, s=S, t=T, on=CHAIN, agg=agg, per="s"))
    assert_same_rows(windows, dv.join(r=R, s=S, t=T, on=CHAIN, window=2))
    assert (plan.host, plan.kind, plan.algorithm) == ("spark", "3 inputs in a chain", "cascade")


def test_explain_tells_the_order_and_counts_the_results_of_a_tree() -> None:
    rare = pa.table({"d": [100]})
    plan = dv.explain(r=R, s=S, t=T, u=rare, on=f"{CHAIN} AND t.c > u.d")
    assert "two at a time, the fewest rows first, judged by samples: t, u, s, r" in plan.reason
    assert (plan.results, plan.exact) == (0, True)
    star = dv.explain(s=S, r=R, t=T, u=rare, on="s.b > r.a AND s.b > t.c AND s.b < u.d")
    assert star.kind == "4 inputs in a star"
    cycle = dv.explain(r=R, s=S, t=T, on=f"{CHAIN} AND r.n < t.n")
    assert (cycle.kind, cycle.exact) == ("3 inputs in a cycle", False)
    assert dv.join(r=R, s=S, t=T, on=CHAIN).num_rows == dv.explain(r=R, s=S, t=T, on=CHAIN).results


@pytest.mark.parametrize("number", [4, 5])
def test_explain_tells_how_many_results_there_are_beyond_64_bits(number: int) -> None:
    names, rows = "abcde"[:number], 80_000
    inputs = {name: pa.table({"at": pa.repeat(0, rows)}) for name in names}
    plan = dv.explain(**inputs, on=" AND ".join(f"{one}.at <= {other}.at" for one, other in pairwise(names)))
    assert (plan.results, plan.exact) == (rows**number, number == 4)


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"on": "r.a < s.b"}, r"nothing in the condition connects 'r', 's' with 't'; that would pair all their rows. Hint"),
    ({"on": "r.a < 3 AND s.b > 1 AND t.c = 1"}, r"connects 'r' with 's', 't'"),
    (
        {"on": "r.a < s.b AND s.b <= t.c AND t.c < r.a"},
        r"the condition can never hold: r.a < s.b <= t.c < r.a goes round in a circle. Hint",
    ),
    ({"on": "r.a = s.b AND s.b = t.c AND t.c > r.a"}, r"can never hold: r.a < t.c = s.b = r.a"),
    ({"on": CHAIN, "how": "left"}, r"how 'left' takes two inputs; three and more are joined by 'inner'. Hint"),
    ({"on": CHAIN, "order": "best"}, r"order 'best' is not known; it is one of 'auto', 'given'"),
    ({"on": CHAIN, "agg": {"n": "count(*)"}}, r"agg is given without per"),
    (
        {"on": CHAIN, "agg": {"m": "sum(s.b)"}, "per": "s"},
        r"'sum\(s.b\) AS m' reads the side .*the rows of 'r', 't'. Hint",
    ),
    ({"on": CHAIN, "agg": {"m": "count(*)"}, "per": "x"}, r"input 'x' not found"),
    ({"on": "r.n < s.n AND s.b < c AND n > 1"}, r"column 'n' is ambiguous; 'r', 's', 't'"),
    ({"on": CHAIN, "window": -1}, r"window is -1"),
    ({"on": "r.a < s.b AND r.n = s.n AND s.b < t.c", "algorithm": "prefap"}, r"the condition has 1 and 1"),
]


@pytest.mark.parametrize(("call", "message"), MISTAKES, ids=[str(call) for call, _ in MISTAKES])
@pytest.mark.parametrize("function", [dv.join, dv.explain])
def test_mistakes_are_told_in_one_line(function: Callable[..., Any], call: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        function(r=R, s=S, t=T, **call)
    assert "\n" not in str(caught.value)


def test_what_cannot_be_folded_is_named() -> None:
    with pytest.raises(UnsupportedError, match=r"'first\(r.a\) AS m'; it folds count, sum, avg, min and max"):
        dv.join(r=R, s=S, t=T, on=CHAIN, agg={"m": "first(r.a)"}, per="s")
