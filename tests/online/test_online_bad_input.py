"""Every mistake is one clear line with a hint, and the engine goes on as if it had not been made."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.errors import UsageError

BASE = pa.schema([("k", pa.int64()), ("ts", pa.int64()), ("far", pa.int64())])
PROBE = pa.schema([("k", pa.int64()), ("ts", pa.int64()), ("v", pa.float64())])
GIVEN: dict[str, Any] = {
    "base": BASE,
    "probe": PROBE,
    "on": "ts",
    "keys": "k",
    "preceding": 10,
    "agg": {"n": "count(*)"},
}
CALLS: list[tuple[dict[str, Any], str]] = [
    ({"base": {"k": int}}, r"base is a dict; the engine needs its schema. Hint"),
    ({"on": "tss"}, r"column 'tss' not found in 'l'.*did you mean 'ts'"),
    ({"agg": {"s": "sum(vv)"}}, r"column 'vv' not found"),
    ({"preceding": "1 hour"}, r"preceding is a duration, but the axis is BIGINT"),
    ({"lateness": "10 seconds"}, r"lateness is a duration, but the axis is BIGINT"),
    ({"lateness": -1}, r"lateness is -1; it is one distance for all rows, not negative. Hint"),
    ({"lateness": "far"}, r"lateness is 'far'; it is one distance for all rows"),
    ({"keep": -1}, r"keep is -1; it is one distance"),
    ({"algorithm": "keys"}, r"algorithm 'keys' is not known; it is one of 'key', 'split', 'scale'. Hint"),
    ({"sync": "sometimes"}, r"sync 'sometimes' is not known"),
    ({"joiners": 0}, r"joiners is 0; it is a whole number of at least 1"),
    ({"joiners": 2**40}, r"joiners is 1099511627776; an engine has 1 to 1,024 joiners. Hint"),
    ({"log": 5}, r"log is 5; it is a path. Hint"),
    ({"log": "a\0b"}, r"log is 'a.x00b'; it is a path. Hint"),
    ({"period": True}, r"period is True; it is a whole number"),
    ({"delta": 2}, r"delta is 2; it lies between 0 and 1"),
    ({"delta": "x"}, r"delta is 'x'; it lies between 0 and 1"),
    ({"decay": True}, r"decay is True; it lies between 0 and 1"),
    ({"on_late": 5}, r"on_late is 5; it is called with a side and its rows. Hint"),
    ({"index": 1}, r"index is 1; it is True or False. Hint"),
]
ROWS: list[tuple[str, Any, str]] = [
    (
        "insert",
        {"k": 1, "ts": None, "v": 1.0},
        r"1 of the rows of 'probe' have no 'ts', none is taken; every row needs a time. Hint",
    ),
    (
        "insert",
        [{"k": 1, "ts": 5, "v": 1.0}, {"k": 1, "ts": None, "v": 1.0}],
        r"1 of the rows of 'probe' have no 'ts', none is taken",
    ),
    ("push", {"k": 1, "ts": None, "far": None}, r"1 of the rows of 'base' have no 'ts'"),
    ("request", {"k": 1}, r"column 'ts' not found in 'base'"),
    ("insert", {"k": 1, "ts": "noon", "v": 1.0}, r"rows of 'probe' are refused, none is taken: .*Hint"),
    ("insert", pa.table({"k": [1], "v": [1.0]}), r"column 'ts' not found in 'probe'"),
    (
        "insert",
        {"k": 1, "ts": 5.5, "v": 1.0},
        r"rows of 'probe' are refused.*'ts': 5.5 is more than a value of type int64",
    ),
    ("request", {"k": 1, "ts": 25.5, "far": None}, r"rows of 'base' are refused.*'ts': 25.5 is more than"),
    ("insert", {"K": 1, "ts": 5, "v": 1.0}, r"column 'k' not found in 'probe'.*Hint: did you mean 'K'"),
    ("request", {"kk": 1, "ts": 25, "far": None}, r"column 'k' not found in 'base'"),
    ("insert", pa.table({"k": [1], "ts": ["x"], "v": [1.0]}), r"rows of 'probe' are refused, none is taken"),
    ("push", 5, r"input 'base' is an int; a join takes"),
    ("advance", 3, r"watermark 3 lies before 20, where it is already; it only rises. Hint"),
    ("advance", "soon", r"watermark is 'soon', a str; it is a time of type int64, .*Hint"),
    ("advance", 30.5, r"watermark is '30.5', a float; it is a time of type int64, .*Hint"),
    ("advance", pa.table({"ts": [30]}), r"watermark is 'pyarrow.Table.*, a Table; it is a time .*Hint"),
    (
        "request",
        {"k": 1, "ts": 5, "far": None},
        r"a window reaches behind what is kept, the watermark being 20; .*Hint",
    ),
]


@pytest.mark.parametrize(("call", "message"), CALLS)
def test_a_call_that_cannot_be_carried_out_is_refused(call: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        dv.online.WindowJoin(**(GIVEN | call))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("what", "given", "message"), ROWS)
def test_rows_that_cannot_be_taken_leave_the_engine_as_it_was(what: str, given: Any, message: str) -> None:
    engine = dv.online.WindowJoin(**GIVEN)
    engine.insert([{"k": 1, "ts": 15, "v": 1.0}, {"k": 1, "ts": 20, "v": 1.0}])
    engine.push({"k": 1, "ts": 20, "far": None})
    with pytest.raises(UsageError, match=message) as caught:
        getattr(engine, what)(given)
    assert "\n" not in str(caught.value)
    assert engine.advance(21).to_pylist() == [{"k": 1, "ts": 20, "far": None, "n": 2}]


def test_a_window_beyond_what_is_kept_is_refused() -> None:
    engine = dv.online.WindowJoin(**(GIVEN | {"preceding": "far", "keep": 10}))
    engine.insert({"k": 1, "ts": 15, "v": 1.0})
    with pytest.raises(UsageError, match=r"a row's window reaches back further than keep=10\. Hint"):
        engine.push({"k": 1, "ts": 20, "far": 11})
    engine.push({"k": 1, "ts": 20, "far": 10})
    assert engine.close()["n"].to_pylist() == [1]


def test_a_closed_engine_takes_no_more() -> None:
    engine = dv.online.WindowJoin(**GIVEN)
    engine.close()
    for call in (lambda: engine.insert({"k": 1, "ts": 1}), engine.close, engine.advance):
        with pytest.raises(UsageError, match=r"the engine is closed; it takes no more rows. Hint"):
            call()


def test_nothing_to_restore_is_one_line() -> None:
    with pytest.raises(UsageError, match=r"^nothing to restore: neither .* Hint: WindowJoin.restore\([^\n]*$"):
        dv.online.WindowJoin.restore()


@pytest.mark.parametrize(
    ("kind", "row", "watermark", "message"),
    [
        (pa.float64(), 5.0, float("nan"), r"watermark is 'nan', a float; .*Hint"),
        (pa.decimal128(38, 0), Decimal(5), Decimal(10) ** 30, r"watermark is '1.*', a Decimal; .* 64 bits .*Hint"),
    ],
)
def test_a_watermark_that_no_time_reaches_is_refused(kind: pa.DataType, row: Any, watermark: Any, message: str) -> None:
    only = pa.schema([("ts", kind)])
    engine = dv.online.WindowJoin(base=only, probe=only, on="ts", preceding=10, agg={"n": "count(*)"})
    with pytest.raises(UsageError, match=message):
        engine.advance(watermark)
    assert engine.watermark is None
    engine.insert({"ts": row})
    assert engine.request({"ts": row})["n"] == 1
