"""What was acknowledged is there after the process has died; what is damaged is cut or refused, in one line."""

from __future__ import annotations

import logging
import os
import random
import resource
import signal
import subprocess
import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.errors import UsageError
from dovetail.testing import assert_same_rows
from tests.online.arrivals import answer, jittered, taken
from tests.test_house import ROOT

if TYPE_CHECKING:
    from pathlib import Path

BASE = pa.schema([("k", pa.string()), ("ts", pa.int64())])
PROBE = pa.schema([("k", pa.string()), ("ts", pa.int64()), ("v", pa.float64()), ("w", pa.string())])
AGG = {"n": "count(*)", "s": "sum(v)", "last": "last(w)", "most": "max(w)", "d": "count_distinct(w)", "sd": "stddev(v)"}
JOIN: dict[str, Any] = {"on": "ts", "keys": "k", "preceding": 40, "following": 5, "agg": AGG}
CHILD = """
import sys, pyarrow as pa
import dovetail as dv
schema = pa.schema([("ts", pa.int64())])
engine = dv.online.WindowJoin(
    base=schema, probe=schema, on="ts", preceding="unbounded", agg={"n": "count(*)"}, log=sys.argv[1], sync="always"
)
print("ready", flush=True)
for number in range(10**9):
    engine.insert({"ts": number})
    print(number, flush=True)
"""


def _tables(rows: int, seed: int) -> tuple[pa.Table, pa.Table]:
    dice = random.Random(seed)
    base = [{"k": dice.choice("abc"), "ts": i} for i in range(rows)]
    probe = [{"k": dice.choice("abc"), "ts": i, "v": dice.random(), "w": dice.choice("xyz")} for i in range(rows)]
    return pa.Table.from_pylist(base, BASE), pa.Table.from_pylist(probe, PROBE)


def _engine(**more: Any) -> dv.online.WindowJoin:
    return dv.online.WindowJoin(base=BASE, probe=PROBE, lateness=30, **(JOIN | more))


def _stream(seed: int) -> tuple[list[tuple[str, pa.Table]], pa.Table]:
    base, probe = _tables(150, seed)
    times = base["ts"].to_pylist(), probe["ts"].to_pylist()
    return jittered(base, probe, times, 30, seed), dv.window_join(base, probe, **JOIN)


@pytest.mark.parametrize("algorithm", ["scale", "key", "split"])
def test_a_restored_snapshot_goes_on_where_it_was_taken(algorithm: str, tmp_path: Path) -> None:
    stream, expected = _stream(1)
    engine = _engine(algorithm=algorithm, joiners=2)
    half = len(stream) // 2
    out = []
    for side, table in stream[:half]:
        out += taken(engine, side, table)
    engine.snapshot(tmp_path / "snap")
    engine.snapshot(tmp_path / "snap")
    again = dv.online.WindowJoin.restore(tmp_path / "snap")
    assert again.watermark == engine.watermark
    rest = answer(again, stream[half:])
    assert_same_rows(pa.concat_tables([*out, rest]), expected, tolerance=1e-12)


def test_a_log_restores_what_was_taken_and_owes_the_last_results(tmp_path: Path) -> None:
    stream, expected = _stream(2)
    log, snap = tmp_path / "log", tmp_path / "snap"
    engine = _engine(log=log, sync="never")
    seen: list[Any] = []
    for number, (side, table) in enumerate(stream):
        seen.append((taken(engine, side, table) or [None])[0])
        if number == len(stream) // 3:
            engine.snapshot(snap)
        if number % 60 == 59:
            last, seen[-1] = seen[-1], None
            engine = dv.online.WindowJoin.restore(snap if snap.exists() else None, log=log)
            if last is not None:
                assert_same_rows(engine.advance(), last)
                seen[-1] = last
    whole = pa.concat_tables([*(own for own in seen if own is not None), engine.close()])
    assert_same_rows(whole, expected, tolerance=1e-12)


def test_a_killed_process_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    dice = random.Random(7)
    for number in range(2):
        log = tmp_path / f"log{number}"
        command, told = [sys.executable, "-c", CHILD, str(log)], {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=told, text=True) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            for _ in range(dice.randrange(1, 200)):
                child.stdout.readline()
            child.send_signal(signal.SIGKILL)
            heard = [int(line) for line in child.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
        engine = dv.online.WindowJoin.restore(log=log)
        kept = engine.request({"ts": 10**9})["n"]
        assert kept >= (heard[-1] + 1 if heard else 1)
        engine.insert({"ts": 10**9})
        assert dv.online.WindowJoin.restore(log=log).request({"ts": 10**9})["n"] == kept + 1


def test_a_log_is_written_to_by_one_process_at_a_time(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command, told = [sys.executable, "-c", CHILD, str(log)], {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=told, text=True) as child:
        assert child.stdout is not None
        assert [child.stdout.readline() for _ in range(2)] == ["ready\n", "0\n"]
        with pytest.raises(UsageError, match=r"log' is written to by another process. Hint: end that one first"):
            dv.online.WindowJoin.restore(log=log)
        with pytest.raises(UsageError, match=r"log' is written to by another process"):
            _engine(log=log)
        child.send_signal(signal.SIGKILL)
    assert dv.online.WindowJoin.restore(log=log).request({"ts": 0})["n"] == 1


def test_of_two_engines_on_one_log_the_first_that_writes_goes_on(tmp_path: Path) -> None:
    log, row = _logged(tmp_path), {"k": "a", "ts": 4, "v": 1.0, "w": "x"}
    first, second = (dv.online.WindowJoin.restore(log=log) for _ in range(2))
    second.insert(row)
    with pytest.raises(UsageError, match=r"log' is not as this engine left it: another one has gone on with it. Hint"):
        first.insert(row)
    first.snapshot(tmp_path / "snap")
    asked = {"k": "a", "ts": 4}
    assert [own.request(asked)["n"] for own in (first, second)] == [5, 6]
    assert dv.online.WindowJoin.restore(log=log).request(asked)["n"] == 6
    assert dv.online.WindowJoin.restore(tmp_path / "snap", log=log).request(asked)["n"] == 6


def test_an_engine_does_not_write_to_a_log_that_another_one_has_begun_anew(tmp_path: Path) -> None:
    log, row = _logged(tmp_path), {"k": "a", "ts": 4, "v": 1.0, "w": "x"}
    first, second = (dv.online.WindowJoin.restore(log=log) for _ in range(2))
    second.snapshot(tmp_path / "snap")
    with pytest.raises(UsageError, match=r"log' is not as this engine left it"):
        first.insert(row)


def test_a_snapshot_after_the_end_leaves_the_log_to_others(tmp_path: Path) -> None:
    engine = _engine(log=tmp_path / "log")
    engine.close()
    before = (tmp_path / "log").read_bytes()
    engine.snapshot(tmp_path / "snap")
    assert (tmp_path / "log").read_bytes() == before


def test_a_snapshot_does_not_take_the_place_of_the_log(tmp_path: Path) -> None:
    engine = _engine(log=tmp_path / "log")
    before = (tmp_path / "log").read_bytes()
    with pytest.raises(UsageError, match=r"log' is the log of this engine; a snapshot is a file beside it. Hint"):
        engine.snapshot(str(tmp_path / "log"))
    assert (tmp_path / "log").read_bytes() == before


def test_a_call_that_is_interrupted_leaves_no_half_of_a_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, row, write = tmp_path / "log", {"k": "a", "ts": 1, "v": 1.0, "w": "x"}, os.write
    engine = _engine(log=log)

    def interrupted(file: int, content: memoryview) -> int:
        write(file, content[:50])
        raise KeyboardInterrupt

    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("dovetail._hosts.online.log.os.write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            engine.insert(row)
    engine.insert(row)
    assert dv.online.WindowJoin.restore(log=log).request({"k": "a", "ts": 1})["n"] == 1


def _logged(tmp_path: Path) -> Path:
    log = tmp_path / "log"
    engine = _engine(log=log)
    for ts in range(5):
        engine.insert({"k": "a", "ts": ts, "v": 1.0, "w": "x"})
    return log


@pytest.mark.parametrize("cut", [1, 7, 50])
def test_a_torn_tail_is_cut_with_a_message(cut: int, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = _logged(tmp_path)
    log.write_bytes(log.read_bytes()[:-cut])
    with caplog.at_level(logging.WARNING):
        engine = dv.online.WindowJoin.restore(log=log)
    assert "of a record that was not written to its end" in caplog.text
    assert engine.request({"k": "a", "ts": 4})["n"] == 4
    assert engine.metrics()["log_bytes_cut"] > 0
    caplog.clear()
    dv.online.WindowJoin.restore(log=log)
    assert caplog.text == ""


def test_a_tail_that_was_overwritten_is_cut_too(tmp_path: Path) -> None:
    log = _logged(tmp_path)
    content = log.read_bytes()
    log.write_bytes(content[:-3] + b"\1\2\3")
    assert dv.online.WindowJoin.restore(log=log).request({"k": "a", "ts": 4})["n"] == 4


def test_a_damaged_middle_is_refused_and_left_alone(tmp_path: Path) -> None:
    log = _logged(tmp_path)
    content = bytearray(log.read_bytes())
    content[content.index(b"DVTR") + 30] ^= 255
    log.write_bytes(content)
    with pytest.raises(UsageError, match=r"cannot be restored: record 1 is damaged, and others follow it. Hint"):
        dv.online.WindowJoin.restore(log=log)
    assert log.read_bytes() == content


def test_a_full_disk_is_one_line_and_the_engine_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "log"
    engine = _engine(log=log)
    row = {"k": "a", "ts": 1, "v": 1.0, "w": "x"}
    engine.insert(row)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size + 100, limits[1]))
    try:
        with pytest.raises(UsageError, match=r"cannot be written: file too large; the call had no effect. Hint"):
            engine.insert(row)
        with pytest.raises(UsageError, match=r"cannot be written"):
            engine.snapshot(tmp_path / "snap")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not (tmp_path / "snap").exists()
    assert sorted(tmp_path.iterdir()) == [log, tmp_path / "log.lock"]
    engine.insert(row)
    asked = {"k": "a", "ts": 1}
    assert engine.request(asked)["n"] == 2
    assert dv.online.WindowJoin.restore(log=log).request(asked)["n"] == 2


def test_files_of_others_are_refused_in_one_line(tmp_path: Path) -> None:
    log, snap, other = tmp_path / "log", tmp_path / "snap", tmp_path / "other"
    engine = _engine(log=log)
    engine.insert({"k": "a", "ts": 1, "v": 1.0, "w": "x"})
    _engine(closed="left").snapshot(other)
    engine.snapshot(snap)
    whole = snap.read_bytes()
    refused: list[tuple[bytes, str]] = [
        (b"", "it is no snapshot"),
        (whole[:-1], "it is damaged"),
        (whole[:200] + b"\0" + whole[201:], "it is damaged"),
        (whole[:8] + b"\2" + whole[9:], "it is of version 2, and this is version 3"),
    ]
    for content, message in refused:
        snap.write_bytes(content)
        with pytest.raises(UsageError, match=f"cannot be restored: {message}. Hint") as caught:
            dv.online.WindowJoin.restore(snap)
        assert "\n" not in str(caught.value)
    with pytest.raises(UsageError, match=r"belongs to another join than asked for. Hint"):
        dv.online.WindowJoin.restore(other, log=log)
    with pytest.raises(UsageError, match=r"it begins with record 2, the snapshot ends at 0. Hint|another join"):
        dv.online.WindowJoin.restore(log=log)
    with pytest.raises(UsageError, match=r"log .* already holds rows. Hint"):
        _engine(log=log)
    with pytest.raises(UsageError, match=r"cannot be restored: no such file or directory. Hint"):
        dv.online.WindowJoin.restore(tmp_path / "nowhere")
    log.write_bytes(b"something else")
    with pytest.raises(UsageError, match=r"it is no log of this version. Hint"):
        dv.online.WindowJoin.restore(log=log)


def test_rows_with_dictionaries_are_restored(tmp_path: Path) -> None:
    schema = pa.schema([("k", pa.dictionary(pa.int32(), pa.string())), ("ts", pa.int64())])
    engine = dv.online.WindowJoin(
        base=schema,
        probe=schema,
        on="ts",
        keys="k",
        preceding=40,
        agg={"n": "count(*)"},
        lateness=99,
        log=tmp_path / "log",
    )
    for ts, key in enumerate("abacadaba"):
        batch = pa.table({"k": pa.array([key]).dictionary_encode(), "ts": [ts]})
        engine.push(batch, batch)
    expected = engine.advance(50).to_pylist()
    assert [row["n"] for row in expected] == [1, 1, 2, 1, 3, 1, 4, 2, 5]
    assert dv.online.WindowJoin.restore(log=tmp_path / "log").advance().to_pylist() == expected


def test_latencies_are_of_one_clock_after_a_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("time.perf_counter_ns", lambda: 2**60)
        engine = _engine()
        engine.push({"k": "a", "ts": 1})
        engine.snapshot(tmp_path / "snap")
    again = dv.online.WindowJoin.restore(tmp_path / "snap")
    again.close()
    assert 0 < again.metrics()["latency"][0.5] < 1e6


def test_decimals_that_are_null_are_stored_and_restored(tmp_path: Path) -> None:
    probe = pa.schema([("ts", pa.int64()), ("d", pa.decimal128(10, 2))])
    log = tmp_path / "log"
    engine = dv.online.WindowJoin(
        base=pa.schema([("ts", pa.int64())]), probe=probe, on="ts", preceding=9, agg={"a": "avg(d)"}, log=log
    )
    engine.insert([{"ts": 1, "d": Decimal(3)}, {"ts": 2, "d": None}])
    assert engine.request({"ts": 5}) == {"ts": 5, "a": 3}
    assert dv.online.WindowJoin.restore(log=log).request({"ts": 5}) == {"ts": 5, "a": 3}


def test_a_snapshot_keeps_the_nanoseconds_of_a_window(tmp_path: Path) -> None:
    schema = pa.schema([("at", pa.timestamp("ns"))])
    window: dict[str, Any] = {"preceding": pd.Timedelta(500, "ns"), "agg": {"n": "count(*)"}, "lateness": "1 second"}
    engine = dv.online.WindowJoin(base=schema, probe=schema, on="at", **window)
    engine.insert(pa.table({"at": pa.array([0], pa.timestamp("ns"))}))
    engine.snapshot(tmp_path / "kept")
    again = dv.online.WindowJoin.restore(tmp_path / "kept")
    asked = pa.table({"at": pa.array([500, 501], pa.timestamp("ns"))})
    assert [own.request(asked)["n"].to_pylist() for own in (engine, again)] == [[1, 0], [1, 0]]
