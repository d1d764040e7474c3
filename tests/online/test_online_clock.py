"""The watermark rises by what the data say, and stays a number that a log can hold."""

from __future__ import annotations

import json
from typing import cast

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail._hosts.online.clock import Clock


def test_times_are_python_numbers_whatever_the_kernel_returns() -> None:
    clock, greatest = Clock(5, is_float=False), cast("int", np.int64(9))  # as without the compiler
    clock.see(np.array([7, 9]), greatest)
    assert json.dumps([clock.greatest, clock.watermark, clock.key]) == "[9, 4, 4]"


def test_a_clock_is_led_no_longer_than_asked_for() -> None:
    clock = Clock(None, is_float=False)
    with clock.led(500):
        clock.see(np.arange(2000), 1999)
    assert clock.watermark == 500
    with pytest.raises(KeyError), clock.led(600):
        raise KeyError
    clock.see(np.array([2000]), 2000)
    assert clock.watermark == 2000


def test_a_late_row_without_a_finite_time_has_no_delay() -> None:
    schema = pa.schema([("ts", pa.float64())])
    engine = dv.online.WindowJoin(
        base=schema, probe=schema, on="ts", preceding=10, agg={"n": "count(*)"}, lateness="auto"
    )
    engine.insert(pa.table({"ts": np.arange(2000.0)}))
    engine.insert([{"ts": float("-inf")}, {"ts": 2000.0}])
    told = engine.metrics()
    assert (told["late_probe_rows"], told["watermark"], told["lateness_ticks"]) == (1, 2000.0, 0.0)


def test_what_is_known_of_delays_is_restored_whole() -> None:
    clock, again = Clock(None, is_float=False), Clock(None, is_float=False)
    clock.see(np.arange(9_000)[::-1].copy(), 8_999)
    again.delays_seen = json.loads(json.dumps(clock.delays_seen))
    again.greatest = clock.greatest
    for own in (clock, again):
        own.see(np.arange(9_000, 12_000), 11_999)
    assert clock.delays_seen == again.delays_seen
