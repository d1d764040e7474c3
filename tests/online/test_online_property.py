"""Whatever the order of arrival, the algorithm and the number of joiners: the rows are those of `dv.window_join`."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.errors import UsageError
from dovetail.testing import assert_same_rows
from tests.amount import one_in
from tests.online.arrivals import answer, engine_of, shuffled
from tests.temporal.drawn import window_cases

if TYPE_CHECKING:
    from tests.temporal.drawn import WindowCase

WAYS: list[dict[str, Any]] = [
    {"algorithm": "scale"},
    {"algorithm": "scale", "joiners": 3, "period": 4, "delta": 0.0},
    {"algorithm": "scale", "incremental": False},
    {"algorithm": "scale", "index": False, "joiners": 2},
    {"algorithm": "key", "joiners": 2},
    {"algorithm": "split", "joiners": 3},
]


def _timed(table: pa.Table) -> pa.Table:
    """The rows that have a time, as the engine takes no others, and one that some lateness can wait for."""
    timed = table.filter(pc.is_valid(table["x"]))
    if not pa.types.is_floating(timed.schema.field("x").type):
        return timed
    times = timed["x"].cast(pa.float64())
    endless = pc.or_(pc.is_nan(times), pc.equal(times, float("inf")))
    return timed.filter(pc.or_(endless, pc.less(pc.abs(times), 1e300)))


def _is_wide(table: pa.Table) -> bool:
    """Whether some decimal time has more digits than fit a word."""
    if not pa.types.is_decimal(table.schema.field("x").type):
        return False
    return any(abs(value) >= Decimal(2**63).scaleb(-10) for value in table["x"].to_pylist())


def _lateness(table: pa.Table) -> Any:
    """More than any two times lie apart."""
    kind = table.schema.field("x").type
    if pa.types.is_temporal(kind):
        return "600000 weeks"
    return 1e301 if pa.types.is_floating(kind) else 10**30


@settings(max_examples=one_in(3))
@given(window_cases(), st.sampled_from(WAYS), st.integers(0, 1000))
def test_any_order_of_arrival_gives_the_rows_of_the_window_join(
    case: WindowCase, way: dict[str, Any], seed: int
) -> None:
    base, probe = _timed(case.left), _timed(case.right)
    engine = engine_of(base, probe, windows=case.windows, lateness=_lateness(base), **way, **case.options)
    if _is_wide(base) or _is_wide(probe):
        with pytest.raises(UsageError, match="beyond 64 bits of ticks"):
            answer(engine, [("probe", probe), ("base", base)])
        return
    got = answer(engine, shuffled(base, probe, seed))
    expected = dv.window_join(base, probe, windows=case.windows, **case.options)
    assert got.schema == expected.schema
    assert_same_rows(got, expected, tolerance=1e-12)


@settings(max_examples=one_in(5))
@given(window_cases(), st.sampled_from(WAYS))
def test_a_request_on_all_rows_gives_the_rows_of_the_window_join(case: WindowCase, way: dict[str, Any]) -> None:
    base, probe = _timed(case.left), _timed(case.right)
    if _is_wide(base) or _is_wide(probe):
        return
    engine = engine_of(base, probe, windows=case.windows, lateness=_lateness(base), **way, **case.options)
    engine.insert(probe)
    expected = dv.window_join(base, probe, windows=case.windows, **case.options)
    assert_same_rows(engine.request(base), expected, tolerance=1e-12)
    one_by_one = [engine.request(row) for row in base.to_pylist()]
    assert_same_rows(pa.Table.from_pylist(one_by_one, expected.schema), expected, tolerance=1e-12)
