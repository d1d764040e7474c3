"""A row that is asked for by itself gets the answer, or the refusal, that it gets in a batch."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail._core.columns.axis import LEAST, MOST
from dovetail.errors import UsageError

MOMENT = dt.datetime(2024, 1, 1, 0, 0, 0, 5)  # noqa: DTZ001 -- a column without a zone
VALUES: list[tuple[pa.DataType, Any]] = [
    (pa.uint32(), -5),
    (pa.uint32(), 2**31),
    (pa.uint64(), 2**63),
    (pa.int8(), 128),
    (pa.int8(), -128),
    (pa.timestamp("s"), MOMENT),
    (pa.timestamp("ms"), MOMENT),
    (pa.timestamp("us"), MOMENT),
    (pa.timestamp("ns"), MOMENT),
    (pa.timestamp("us", "UTC"), MOMENT.replace(tzinfo=dt.UTC)),
    (pa.timestamp("us", "UTC"), MOMENT),
    (pa.string(), "\ud800"),
    (pa.string(), "é"),
    (pa.float32(), 0.1),
    (pa.float64(), 1),
    (pa.bool_(), True),
    (pa.date32(), dt.date(2024, 1, 1)),
]


def _asked(engine: dv.online.WindowJoin, row: Any) -> Any:
    try:
        return engine.request(row)
    except UsageError as error:
        return str(error)


@pytest.mark.parametrize(("kind", "value"), VALUES)
@pytest.mark.parametrize("keys", [None, "x"])
def test_a_value_is_taken_as_in_a_batch(kind: pa.DataType, value: Any, keys: str | None) -> None:
    schema = pa.schema([("ts", pa.int64()), ("x", kind)])
    engine = dv.online.WindowJoin(base=schema, probe=schema, on="ts", keys=keys, preceding=10, agg={"n": "count(*)"})
    row = {"ts": 5, "x": value}
    in_batch = _asked(engine, [row])
    if isinstance(in_batch, list):
        engine.insert(row)
        in_batch = _asked(engine, [row])[0]
        assert in_batch["n"] == 1
    assert _asked(engine, row) == in_batch


@pytest.mark.parametrize("ts", [LEAST, LEAST + 4, 0, MOST - 4, MOST])
@pytest.mark.parametrize(
    "window", [{"preceding": -5, "following": 10}, {"preceding": 10, "following": -5}, {"preceding": 5, "following": 5}]
)
def test_a_window_at_the_end_of_the_axis_is_that_of_a_batch(ts: int, window: dict[str, Any]) -> None:
    schema = pa.schema([("ts", pa.int64())])
    engine = dv.online.WindowJoin(base=schema, probe=schema, on="ts", agg={"n": "count(*)"}, lateness=2**64, **window)
    probe = [{"ts": at} for at in (LEAST, LEAST + 3, -1, 0, 1, MOST - 3, MOST)]
    engine.insert(probe)
    expected = dv.window_join(
        pa.table({"ts": [ts]}), pa.Table.from_pylist(probe), on="ts", agg={"n": "count(*)"}, **window
    )
    assert [engine.request({"ts": ts})] == engine.request([{"ts": ts}]) == expected.to_pylist()
