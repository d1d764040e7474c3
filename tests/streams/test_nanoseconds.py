"""Times finer than Spark's: told apart by tables, streams and the online engine alike."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail import stream

KIND = pa.timestamp("ns")


def _table(**columns: list[int]) -> pa.Table:
    return pa.table({name: pa.array(values, KIND) for name, values in columns.items()})


ONE, MANY = _table(ts=[1500]), _table(ts=[1400, 1501, 1900])


@pytest.mark.parametrize(("on", "rows"), [("a.ts = b.ts", 0), ("a.ts < b.ts", 2), ("a.ts >= b.ts", 1)])
def test_streams_and_tables_compare_them(on: str, rows: int) -> None:
    assert dv.join(a=ONE, b=MANY, on=on).num_rows == rows
    assert stream.join(a=ONE, b=MANY, on=on).read_all().num_rows == rows


def test_windows_end_between_microseconds() -> None:
    options: dict[str, Any] = {"on": "ts", "preceding": "1 microsecond", "agg": {"n": "count(*)", "last": "max(ts)"}}
    want = dv.window_join(ONE, MANY, **options)
    assert want["n"].to_pylist() == [1]
    engine = dv.online.WindowJoin(base=ONE.schema, probe=MANY.schema, **options, lateness="1 second")
    engine.insert(MANY)
    engine.push(ONE)
    assert engine.close().equals(want)


@pytest.mark.parametrize("algorithm", ["auto", "buffer-input", "buffer-output", "tpmj"])
def test_validity_ends_between_microseconds(algorithm: str) -> None:
    one, other = _table(k=[7], s=[1], e=[100]), _table(k=[7], s=[50], e=[60])
    found = dv.temporal_join(a=one, b=other, on="a.k = b.k", valid=("s", "e"), algorithm=algorithm)
    assert [found[name].cast(pa.int64()).to_pylist() for name in ("valid_start", "valid_end")] == [[50], [60]]


def test_what_is_computed_of_them_keeps_their_digits() -> None:
    found = dv.join(a=ONE, b=MANY, on="a.ts < b.ts", select="greatest(a.ts, b.ts) AS later")
    assert found["later"].cast(pa.int64()).to_pylist() == [1501, 1900]
    folded = dv.join(a=ONE, b=MANY, on="a.ts < b.ts", agg={"last": "max(b.ts)"}, per="a")
    assert folded["last"].cast(pa.int64()).to_pylist() == [1900]


def test_whole_microseconds_beside_a_far_end_are_compared() -> None:
    rows = _table(ts=[1000])
    until = pa.table({"end": pa.array([253_402_300_799_000_000], pa.timestamp("us"))})
    assert dv.join(rows, until, on="l.ts < r.end").num_rows == 1
