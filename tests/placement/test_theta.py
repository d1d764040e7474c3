"""The partitioned theta-joins count what the document counts, and join what any join joins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dovetail as dv
from dovetail._core.placement.family import place
from dovetail._core.placement.line import Line
from dovetail._core.plan.knobs import FAMILY, Knobs
from dovetail.errors import UsageError
from dovetail.testing import assert_same_rows
from tests.placement.naive_theta import HOLDS, products
from tests.strategies import Drawn, _case

if TYPE_CHECKING:
    from pathlib import Path

    from dovetail._core.placement.cell_pairs import CellPairs
    from tests.strategies import Case

R = pa.table({"a": [0, 1, 2, 3, 4, 5, 6, 7, 9]})
S = pa.table({"b": [0, 1, 3, 4, 6, 8, 9, 11, 12]})
EXAMPLE: list[tuple[dict[str, Any], int]] = [
    ({"algorithm": "range-based"}, 81),
    ({"algorithm": "one-bucket"}, 81),
    ({"algorithm": "cross-filter"}, 54),
    ({"algorithm": "fast-theta"}, 51),
    ({"algorithm": "prefap", "prefilter": False, "amalgamate": False}, 51),
    ({"algorithm": "prefap", "prefilter": False}, 35),
    ({"algorithm": "prefap", "amalgamate": False}, 30),
    ({"algorithm": "prefap"}, 30),
    ({"algorithm": "prefap", "window": 9}, 27),
]
NUMBERS = st.integers(-9, 9) | st.sampled_from([0.5, 1.25, -3.75, 7.0])
VARIANTS: list[dict[str, Any]] = [
    *({"algorithm": name} for name in FAMILY),
    {"algorithm": "prefap", "prefilter": False},
    {"algorithm": "prefap", "amalgamate": False},
    {"algorithm": "prefap", "cuts": "quantile"},
    {"algorithm": "fast-theta", "cuts": "quantile"},
]


@pytest.mark.parametrize(("call", "expected"), EXAMPLE, ids=[str(call) for call, _ in EXAMPLE])
def test_the_worked_example_to_the_digit(call: dict[str, Any], expected: int) -> None:
    for sides in ({"r": R, "s": S}, {"s": S, "r": R}):
        for on in ("r.a > s.b", "s.b < r.a"):
            plan = dv.explain(**sides, on=on, partitions=3, **{"window": 1000, **call})
            assert (plan.results, plan.exact, plan.products) == (27, True, expected)


@given(
    st.sampled_from(VARIANTS[:7]),
    st.sampled_from(list(HOLDS)),
    st.lists(NUMBERS, max_size=20),
    st.lists(NUMBERS, max_size=20),
    st.integers(1, 12),
    st.integers(20, 40),
)
def test_products_are_those_of_the_pseudocode(
    call: dict[str, Any], sign: str, left: list[float], right: list[float], p: int, w: int
) -> None:
    tables = [pa.table({"x": pa.array(values, pa.float64())}) for values in (left, right)]
    plan = dv.explain(*tables, on=f"l.x {sign} r.x", partitions=p, window=w, **call)
    assert plan.products == products(call["algorithm"], sign, left, right, p, w, **_steps(call))
    assert plan.results == sum(HOLDS[sign](a, b) for a in left for b in right)


def _steps(call: dict[str, Any]) -> dict[str, bool]:
    return {name: value for name, value in call.items() if name in ("prefilter", "amalgamate")}


@given(st.lists(NUMBERS, max_size=40), st.lists(NUMBERS, max_size=40), st.sampled_from(list(HOLDS)), st.integers(1, 9))
def test_windows_join_the_same_numbers_of_rows(left: list[float], right: list[float], sign: str, w: int) -> None:
    tables = [pa.table({"x": pa.array(values, pa.float64())}) for values in (left, right)]
    pairs = [(a, b) for i, a in enumerate(left) for j, b in enumerate(right) if i // w == j // w and HOLDS[sign](a, b)]
    for algorithm in ("auto", "prefap", "one-bucket"):
        assert_same_rows(dv.join(*tables, on=f"l.x {sign} r.x", window=w, algorithm=algorithm), pairs)
    parts = range(0, max(len(left), len(right)), w)
    plan = dv.explain(*tables, on=f"l.x {sign} r.x", window=w, partitions=3, algorithm="prefap")
    assert plan.products == sum(products("prefap", sign, left[i : i + w], right[i : i + w], 3, w) for i in parts)


@st.composite
def _one_inequality(draw: st.DrawFn) -> Case:
    """Every type, every join type, residuals and filters; no equality."""
    case = _case(Drawn(draw), "one_inequality", ["inner", "left", "right", "full", "semi", "anti"])
    return type(case)(case.kind, case.left, case.right, " AND ".join(_without_keys(case.on)), case.how)


def _without_keys(on: str) -> list[str]:
    return [part for part in on.split(" AND ") if not part.startswith(("l.k", "r.k", "l.v <=> r.w"))]


@given(_one_inequality(), st.sampled_from(VARIANTS), st.integers(1, 5))
def test_every_type_and_join_type_gives_the_naive_rows(case: Case, call: dict[str, Any], p: int) -> None:
    try:
        got = dv.join(case.left, case.right, on=case.on, how=case.how, partitions=p, **call)
    except UsageError as error:  # an OR among the residuals may have swallowed the comparison
        assume("takes one of" not in str(error))
        raise
    assert_same_rows(got, case.naive())


def _drawn(name: str, size: int) -> tuple[Line, Line]:
    dice = np.random.default_rng(3)
    left, right = {
        "uniform": (dice.uniform(20, 50, size), dice.uniform(10, 40, size)),
        "zipf": (dice.zipf(1.2, size).astype(float), dice.zipf(1.3, size).astype(float)),
        "few values": (dice.integers(0, 5, size).astype(float), dice.integers(0, 7, size).astype(float)),
        "apart": (dice.normal(0, 1, size), dice.normal(3, 0.1, size)),
    }[name]
    ours, theirs = (np.sort(np.minimum(values, 1e15)) for values in (left, right))
    return Line((ours * 1000).astype(np.int64), ours), Line((theirs * 1000).astype(np.int64), theirs)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("name", ["uniform", "zipf", "few values", "apart"])
def test_quantile_cuts_perform_little_more_than_the_results(name: str, *, strict: bool) -> None:
    low, high = _drawn(name, 3000)
    cells = place(low, high, Knobs("prefap", cuts="quantile"), strict=strict)
    assert cells.products <= 1.05 * cells.results + low.size + high.size
    assert max(cells.loads(8)) <= 1.15


@pytest.mark.parametrize("call", VARIANTS, ids=str)
def test_cell_pairs_add_up(call: dict[str, Any]) -> None:
    low, high = _drawn("zipf", 500)
    cells: CellPairs = place(low, high, Knobs(partitions=7, **call), strict=True)
    found = cells.pairs
    assert (found.products.sum(), found.results.sum(), found.low.size) == (cells.products, cells.results, cells.cells)
    assert (found.results <= found.products).all()


def test_the_matrix_shows_what_is_skipped(tmp_path: Path) -> None:
    plan = dv.explain(r=R, s=S, on="r.a > s.b", algorithm="prefap", partitions=3)
    assert plan.matrix is not None
    assert plan.matrix.performed.sum() == plan.products
    assert plan.matrix.matches.sum() == plan.results
    assert (plan.matrix.performed | ~plan.matrix.matches).all()
    plan.plot(tmp_path / "prefap.png")


def test_counts_may_be_numpys() -> None:
    found = [dv.explain(r=R, s=S, on="r.a > s.b", algorithm="prefap", partitions=p) for p in (3, np.int64(3))]
    assert found[0] == found[1]


def test_explain_says_what_was_asked_for() -> None:
    plan = dv.explain(r=R, s=S, on="r.a > s.b", algorithm="prefap", partitions=3, amalgamate=False, window=9)
    assert plan.reason == "asked for: p = 3, cut by width, boundaries not amalgamated, windows of 9 rows"
