"""Whatever the order of arrival, the algorithm and the number of joiners: the rows are those of `dv.window_join`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.errors import UsageError
from dovetail.testing import assert_same_rows
from tests.online.arrivals import ENDLESS, answer, engine_of, jittered, shuffled
from tests.temporal.drawn import TIMES, window_cases

if TYPE_CHECKING:
    import pyarrow as pa

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
    """The rows that have a time: the engine takes no others."""
    return table.filter(pc.is_valid(table["x"]))


@given(window_cases(), st.sampled_from(WAYS), st.integers(0, 1000))
def test_any_order_of_arrival_gives_the_rows_of_the_window_join(
    case: WindowCase, way: dict[str, Any], seed: int
) -> None:
    base, probe = _timed(case.left), _timed(case.right)
    lateness = ENDLESS["time" if str(base.schema.field("x").type).startswith(("date", "time")) else "number"]
    engine = engine_of(base, probe, windows=case.windows, lateness=lateness, **way, **case.options)
    try:
        got = answer(engine, shuffled(base, probe, seed))
    except UsageError as error:
        assert "beyond 64 bits" in str(error)
        return
    expected = dv.window_join(base, probe, windows=case.windows, **case.options)
    assert got.schema == expected.schema
    assert_same_rows(got, expected, tolerance=1e-12)
