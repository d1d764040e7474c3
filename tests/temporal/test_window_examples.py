"""What a window join means, by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa

import dovetail as dv

CLICKS = pa.table({"user": ["u", "u", "v"], "ts": [10, 20, 20]})
ORDERS = pa.table({"user": ["u", "u", "u", "v"], "ts": [4, 10, 18, 99], "amount": [1.5, 2.0, 4.0, 8.0]})


def _counts(**options: Any) -> list[int]:
    found = dv.window_join(CLICKS, ORDERS, on="ts", keys="user", agg={"n": "count(*)"}, **options)
    return list(found["n"].to_pylist())


def test_a_window_is_closed_on_both_sides_unless_told_otherwise() -> None:
    assert _counts(preceding=6) == [2, 1, 0]
    assert [_counts(preceding=6, closed=closed)[0] for closed in ("left", "right", "neither")] == [1, 1, 0]


def test_a_window_may_reach_forward_or_end_before_its_row() -> None:
    assert _counts(preceding=0, following=8) == [2, 0, 0]
    assert _counts(preceding=16, following=-1) == [1, 3, 0]
    assert _counts(preceding="unbounded", following="unbounded") == [3, 3, 1]


def test_the_prevailing_row_is_the_last_at_or_before_the_start() -> None:
    assert _counts(preceding=5, include_prevailing=True) == [2, 2, 0]
    assert _counts(preceding=6, include_prevailing=True) == [2, 2, 0]
    assert _counts(preceding=6, include_prevailing=True, closed="right") == [2, 2, 0]
    assert _counts(preceding=0, following=0, include_prevailing=True) == [1, 1, 0]


def test_an_empty_window_counts_nothing_and_has_no_values() -> None:
    everything = {
        name: f"{name}(amount)"
        for name in ("count", "sum", "avg", "min", "max", "first", "last", "stddev", "variance", "count_distinct")
    }
    found = dv.window_join(CLICKS.slice(2), ORDERS, on="ts", keys="user", preceding=1, agg=everything).to_pylist()
    want = dict.fromkeys(everything, None) | {"count": 0, "count_distinct": 0}
    assert found == [{"user": "v", "ts": 20, **want}]


def test_rows_may_bring_bounds_of_their_own() -> None:
    base = CLICKS.append_column("far", pa.array([6, None, 100]))
    found = dv.window_join(base, ORDERS, on="ts", keys="user", preceding="far", agg={"n": "count(*)"})
    assert found["n"].to_pylist() == [2, 0, 0]


def test_several_windows_share_a_call() -> None:
    windows = [
        {"preceding": 5, "agg": {"n5": "count(*)", "sum5": "sum(amount)"}},
        {"preceding": 10, "agg": {"n10": "count(*)", "big": "count(*) FILTER (WHERE amount > 1.5)"}},
    ]
    found = dv.window_join(CLICKS, ORDERS, on="ts", keys="user", windows=windows).drop_columns(["user", "ts"])
    assert found.to_pylist() == [
        {"n5": 1, "sum5": 2.0, "n10": 2, "big": 1},
        {"n5": 1, "sum5": 4.0, "n10": 2, "big": 2},
        {"n5": 0, "sum5": None, "n10": 0, "big": 0},
    ]


def test_sums_of_floats_do_not_drift_however_many_windows_have_passed() -> None:
    size = 20_000
    random = np.random.default_rng(5)
    values = random.normal(size=size) * 10.0 ** random.integers(-8, 12, size)
    values[::97] = 1e16
    probe = pa.table({"t": np.arange(size), "x": values})
    base = pa.table({"t": np.arange(0, size, 7)})
    found = dv.window_join(base, probe, on="t", preceding=40, following=40, agg={"s": "sum(x)", "m": "avg(x)"})
    for at, total, mean in zip(*(column.to_pylist() for column in found.columns), strict=True):
        window = values[max(0, at - 40) : at + 41]
        assert math.isclose(total, math.fsum(window), rel_tol=1e-12)
        assert math.isclose(mean, math.fsum(window) / window.size, rel_tol=1e-12)


def test_what_is_large_in_one_window_leaves_no_trace_in_the_next() -> None:
    probe = pa.table({"t": [1, 2, 3, 4], "x": [1e300, 0.1, 0.2, math.inf]})
    base = pa.table({"t": [2, 3, 4]})
    found = dv.window_join(base, probe, on="t", preceding=1, agg={"s": "sum(x)", "v": "variance(x)"})
    assert found["s"].to_pylist()[1] == 0.1 + 0.2
    assert math.isclose(found["v"].to_pylist()[1], 0.005)
    assert found["s"].to_pylist()[2] == math.inf


def test_the_spread_of_close_values_far_from_zero_is_kept() -> None:
    x = 1e9 + np.arange(1000) * 1e-3
    found = dv.window_join(
        pa.table({"t": [500]}), pa.table({"t": np.arange(1000), "x": x}), on="t", preceding=9, agg={"v": "variance(x)"}
    )
    assert math.isclose(found["v"].to_pylist()[0], np.var(x[491:501] - 1e9, ddof=1), rel_tol=1e-9)
