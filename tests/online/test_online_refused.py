"""What is refused is in no log: the engine, and one restored from its files, go on as if it had not been asked for."""

from __future__ import annotations

import resource
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

BASE = pa.schema([("k", pa.string()), ("ts", pa.int64()), ("far", pa.int64())])
PROBE = pa.schema([("k", pa.string()), ("ts", pa.int64()), ("v", pa.int64()), ("w", pa.string())])
AGG = {"n": "count(*)", "s": "sum(10 / v)", "most": "max(w)", "d": "count_distinct(w)"}
GIVEN: dict[str, Any] = {"base": BASE, "probe": PROBE, "on": "ts", "keys": "k", "preceding": "far", "keep": 10}
ROW = {"k": "a", "ts": 20, "v": 5, "w": "m"}
ASKED = {"k": "a", "ts": 20, "far": 10}
ANSWER = ASKED | {"n": 1, "s": 2.0, "most": "m", "d": 1}


def _no_text() -> pa.RecordBatch:
    """A row whose key is a byte that no text holds."""
    offsets, content = pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff")
    key = pa.Array.from_buffers(pa.string(), 1, [None, offsets, content])
    return pa.RecordBatch.from_arrays([key, pa.array([20]), pa.array([5]), pa.array(["z"])], schema=PROBE)


REFUSED: list[tuple[str, tuple[Any, ...], str]] = [
    ("push", (ASKED | {"far": 11},), r"reaches back further than keep=10\. Hint"),
    ("push", (ASKED | {"far": 11}, ROW | {"w": "z"}), r"reaches back further than keep=10\. Hint"),
    ("insert", ([ROW | {"w": "z"}, ROW | {"v": 0}],), r"divi"),
    ("push", (ASKED, [ROW | {"w": "z"}, ROW | {"v": 0}]), r"divi"),
    ("insert", (_no_text(),), r"rows of 'probe' are refused, none is taken: 'k': .*UTF8"),
]


@pytest.mark.parametrize(("what", "given", "message"), REFUSED)
def test_a_refused_call_leaves_the_engine_and_its_log_as_they_were(
    what: str, given: tuple[Any, ...], message: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    engine = dv.online.WindowJoin(**GIVEN, agg=AGG, log=log)
    engine.insert(ROW)
    before, told = log.read_bytes(), engine.metrics()
    with pytest.raises(UsageError, match=message) as caught:
        getattr(engine, what)(*given)
    assert "\n" not in str(caught.value)
    assert log.read_bytes() == before
    again = dv.online.WindowJoin.restore(log=shutil.copy(log, tmp_path / "copy"))
    for own in (engine, again):
        now = own.metrics()
        assert all(now[name] == told[name] for name in ("rows_held", "rows_waiting", "keys", "probe_rows", "base_rows"))
        assert own.request(ASKED) == ANSWER
        assert own.push(ASKED) == []
        assert own.close().to_pylist() == [ANSWER]


def test_late_rows_of_a_call_that_cannot_be_logged_are_neither_counted_nor_told(tmp_path: Path) -> None:
    log, seen = tmp_path / "log", []
    engine = dv.online.WindowJoin(**GIVEN, agg=AGG, log=log, on_late=lambda side, rows: seen.append((side, len(rows))))
    engine.insert(ROW)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size + 100, limits[1]))
    try:
        with pytest.raises(UsageError, match=r"cannot be written: file too large; the call had no effect. Hint"):
            engine.insert([ROW | {"ts": 5}, ROW])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert seen == []
    assert engine.metrics()["late_probe_rows"] == 0
    engine.insert([ROW | {"ts": 5}, ROW])
    assert seen == [("probe", 1)]
    assert engine.metrics()["late_probe_rows"] == 1


def test_a_late_row_is_late_whatever_its_values_are() -> None:
    engine = dv.online.WindowJoin(**GIVEN, agg=AGG)
    engine.insert(ROW)
    engine.insert([ROW | {"ts": 5, "v": 0}, ROW])
    assert engine.metrics()["late_probe_rows"] == 1
    assert engine.request(ASKED)["n"] == 2


def test_late_rows_are_counted_again_and_those_of_the_last_call_told_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    engine = dv.online.WindowJoin(**GIVEN, agg=AGG, log=log)
    engine.insert(ROW)
    engine.insert([ROW | {"ts": 3}, ROW])
    engine.push([ASKED | {"ts": 4}, ASKED], [ROW | {"ts": 5}, ROW | {"ts": 6}])
    seen: list[tuple[str, list[int]]] = []
    again = dv.online.WindowJoin.restore(
        log=log, on_late=lambda side, rows: seen.append((side, rows["ts"].to_pylist()))
    )
    assert seen == [("base", [4]), ("probe", [5, 6])]
    told = again.metrics()
    assert (told["late_base_rows"], told["late_probe_rows"]) == (1, 3)
    assert (told["base_rows"], told["probe_rows"]) == (1, 2)
