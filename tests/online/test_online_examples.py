"""Small engines whose answers can be read off: waiting, requests, late rows, rows that leave, metrics."""

from __future__ import annotations

import datetime as dt
import random
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.testing import assert_same_rows
from tests.online.arrivals import answer, engine_of, jittered

if TYPE_CHECKING:
    from pathlib import Path

BASE = pa.schema([("k", pa.int64()), ("ts", pa.int64())])
PROBE = pa.schema([("k", pa.int64()), ("ts", pa.int64()), ("v", pa.float64()), ("w", pa.string())])
COUNT = {"n": "count(*)"}


def _engine(**options: Any) -> dv.online.WindowJoin:
    given: dict[str, Any] = {"on": "ts", "keys": "k", "preceding": 10, "agg": COUNT}
    return dv.online.WindowJoin(base=BASE, probe=PROBE, **(given | options))


def _probe(*times: int, k: int = 1) -> list[dict[str, Any]]:
    return [{"k": k, "ts": ts, "v": float(ts), "w": str(ts)} for ts in times]


def test_a_result_waits_for_the_watermark_and_no_longer() -> None:
    engine = _engine(lateness=3)
    engine.insert(_probe(8))
    assert engine.push({"k": 1, "ts": 10}) == []
    engine.insert(_probe(13))
    assert engine.advance().num_rows == 0  # the watermark is 10; a row of that time may still come
    engine.insert(_probe(10, 14))
    assert engine.push({"k": 2, "ts": 12}) == [{"k": 1, "ts": 10, "n": 2}]
    assert engine.close().to_pylist() == [{"k": 2, "ts": 12, "n": 0}]


def test_rows_that_come_together_do_not_make_each_other_late(tmp_path: Path) -> None:
    engine = _engine(lateness=1, log=tmp_path / "log")
    assert engine.push([{"k": 1, "ts": 3}, {"k": 1, "ts": 20}], _probe(1, 2, 30)) == [
        {"k": 1, "ts": 3, "n": 2},
        {"k": 1, "ts": 20, "n": 0},
    ]
    again = dv.online.WindowJoin.restore(log=tmp_path / "log")
    assert again.advance().num_rows == 2
    assert again.request({"k": 1, "ts": 30}) == {"k": 1, "ts": 30, "n": 1}


def test_a_request_answers_at_once_and_is_not_kept() -> None:
    engine = _engine(lateness=100)
    engine.insert(_probe(1, 2, 3))
    assert engine.request({"k": 1, "ts": 2}) == {"k": 1, "ts": 2, "n": 2}
    table = pa.Table.from_pylist([{"k": 1, "ts": 3}, {"k": 9, "ts": 3}], BASE)
    assert engine.request(table).column("n").to_pylist() == [3, 0]
    assert engine.close().num_rows == 0


def test_results_come_in_the_order_of_time_and_of_the_kind_of_the_rows() -> None:
    engine = _engine(lateness=3)
    frame = pd.DataFrame({"k": [2, 1], "ts": [7, 5]})
    assert engine.push(frame).empty
    assert engine.push([{"k": 1, "ts": 11}]) == [{"k": 1, "ts": 5, "n": 0}, {"k": 2, "ts": 7, "n": 0}]


def test_late_rows_are_counted_and_handed_over() -> None:
    seen: list[tuple[str, list[int]]] = []
    engine = _engine(lateness=2, on_late=lambda side, rows: seen.append((side, rows["ts"].to_pylist())))
    engine.insert(_probe(10))
    engine.insert(_probe(7, 8, 9))
    engine.push([{"k": 1, "ts": 7}, {"k": 1, "ts": 11}])
    assert seen == [("probe", [7]), ("base", [7])]
    told = engine.metrics()
    assert (told["late_probe_rows"], told["late_base_rows"]) == (1, 1)
    assert engine.close().to_pylist() == [{"k": 1, "ts": 11, "n": 3}]


@pytest.mark.parametrize("way", [{}, {"algorithm": "key"}, {"joiners": 2, "period": 100, "delta": 0.0}])
@pytest.mark.parametrize(
    "window",
    [
        {"preceding": 50},
        {"preceding": 20, "following": 30, "closed": "neither"},
        {"preceding": 15, "include_prevailing": True},
        {"preceding": "back", "following": "ahead", "keep": 60},
        {"preceding": -5, "following": 25},
    ],
)
def test_results_are_exact_while_old_rows_leave(window: dict[str, Any], way: dict[str, Any]) -> None:
    dice = random.Random(3)
    times = sorted(dice.randrange(400) for _ in range(600))
    own = {"back": pa.array([dice.randrange(60) for _ in range(150)]), "ahead": pa.array([dice.randrange(30)] * 150)}
    base = pa.table({"k": [dice.randrange(3) for _ in range(150)], "ts": times[::4], **own})
    probe = pa.table({"k": [dice.randrange(3) for _ in times], "ts": times, "v": [dice.random() for _ in times]})
    agg = {"n": "count(*)", "s": "sum(v)", "low": "min(v)", "last": "last(v)", "d": "count_distinct(v)"}
    asked = {"on": "ts", "keys": "k", "agg": agg, **window}
    engine = engine_of(base, probe, lateness=40, **asked, **way)
    stream = jittered(base, probe, (times[::4], times), 40, 5)
    got = answer(engine, stream)
    asked.pop("keep", None)
    assert_same_rows(got, dv.window_join(base, probe, **asked), tolerance=1e-12)
    assert engine.metrics()["rows_held"] < 450


def test_keys_of_any_type_and_number_are_told_apart() -> None:
    moment = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
    schema = pa.schema([("a", pa.string()), ("b", pa.int32()), ("t", pa.timestamp("us", "UTC"))])
    engine = dv.online.WindowJoin(
        base=schema, probe=schema, on="t", keys=["a", "b"], null_safe="b", preceding="1 hour", agg=COUNT, joiners=3
    )
    rows = [("x", 1), ("x", None), ("y", None), (None, None), ("x", None), ("x", 2**31 - 1)]
    engine.insert([{"a": a, "b": b, "t": moment} for a, b in rows])
    asked = [("x", 1), ("x", None), (None, None), ("z", 1)]
    found = [engine.request({"a": a, "b": b, "t": moment})["n"] for a, b in asked]
    assert found == [1, 2, 0, 0]


def test_strings_keep_their_order_when_there_is_no_room_between_labels() -> None:
    engine = _engine(preceding="unbounded", agg={"least": "min(w)", "most": "max(w)", "last": "last(w)"}, lateness=1000)
    words = ["a", "z", *(f"y{number:03}" for number in range(200, 100, -1))]
    for word in words:
        engine.insert({"k": 1, "ts": 5, "v": 0.0, "w": word})
        if word != "a":
            assert engine.request({"k": 1, "ts": 5}) == {"k": 1, "ts": 5, "least": "a", "most": "z", "last": "z"}


def test_lateness_is_found_from_the_delays_seen() -> None:
    dice = random.Random(0)
    engine = _engine(lateness="auto")
    times = sorted(range(0, 40_000, 2), key=lambda ts: ts + dice.uniform(0, 50))
    for start in range(0, len(times), 100):
        engine.insert(_probe(*times[start : start + 100]))
    told = engine.metrics()
    assert 30 <= told["lateness_ticks"] <= 100
    assert told["missed"] < 0.001
    assert engine.watermark == max(times) - int(told["lateness_ticks"])


def test_metrics_tell_what_was_done() -> None:
    engine = _engine(algorithm="key", joiners=2, lateness=5)
    engine.insert([*_probe(*range(20)), *_probe(*range(20), k=2)])
    engine.push([{"k": 1, "ts": 19}, {"k": 2, "ts": 19}])
    engine.advance(30)
    engine.request({"k": 1, "ts": 30})
    told = engine.metrics()
    assert (told["probe_rows"], told["base_rows"], told["results"], told["requests"]) == (40, 2, 2, 1)
    assert told["effectiveness"] == pytest.approx(11 / 20)
    assert 0 <= told["unbalancedness"] <= 1
    assert told["latency"][0.99] >= told["service"][0.5] > 0
    text = engine.prometheus()
    assert "# TYPE dovetail_online_results_total counter\ndovetail_online_results_total 2\n" in text
    assert 'dovetail_online_request_seconds{quantile="0.99"} ' in text


@pytest.mark.parametrize("algorithm", ["scale", "key", "split"])
def test_nothing_is_stored_and_nothing_asked_for(algorithm: str) -> None:
    base, probe = pa.schema([("k", pa.int64()), ("ts", pa.int64())]), pa.schema([("k", pa.int64()), ("ts", pa.int64())])
    engine = dv.online.WindowJoin(
        base=base,
        probe=probe,
        on="ts",
        keys="k",
        preceding=5,
        agg={"n": "count(*)"},
        algorithm=algorithm,
        index=False,
        joiners=2,
    )
    engine.insert(probe.empty_table())
    assert engine.request(base.empty_table()).num_rows == 0
    assert engine.request({"k": 1, "ts": 3}) == {"k": 1, "ts": 3, "n": 0}


def test_zeros_below_zero_keep_their_sign() -> None:
    engine = _engine(agg={"least": "min(v)", "most": "max(v)", "last": "last(v)", "kinds": "count_distinct(v)"})
    engine.insert([{"k": 1, "ts": ts, "v": -0.0, "w": ""} for ts in (1, 2)])
    assert str(engine.request({"k": 1, "ts": 3})) == (
        "{'k': 1, 'ts': 3, 'least': -0.0, 'most': -0.0, 'last': -0.0, 'kinds': 1}"
    )
