"""What a checkpoint belongs to, in words: the same however a join is spelled, others for every other join."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail._core.condition.inputs import Input
from dovetail._hosts.stream.definition import check_definition, columns_told, definition_of
from dovetail._hosts.stream.meet import Meet
from dovetail._hosts.stream.runs import AT, UNTIL
from dovetail._hosts.stream.step import KEY
from dovetail.errors import UsageError

Call = dict[str, Any]

_COLUMNS = ("id", "k", "ts", "end", "v")
_BAND = "l.k = r.k AND r.ts BETWEEN l.ts - INTERVAL 6 SECONDS AND l.ts"
_JOIN = {"on": _BAND, "how": "left"}
_FOLD = {"on": _BAND, "agg": {"n": "count(*)"}, "per": "l"}
_ASOF = {"on": "ts", "keys": "k", "tolerance": "2 seconds"}
_WINDOW = {"on": "ts", "keys": "k", "agg": {"n": "count(*)"}, "preceding": "5 seconds"}
_TEMPORAL = {"on": "l.k = r.k", "ts": "ts", "window": dv.sliding("4 seconds")}
_VALID = {"on": "l.k = r.k", "valid": ("ts", "end")}


def _definition(what: str, call: Call, columns: str = "id int64, ts; event time ts", cells: int = 16) -> str:
    meet = Meet(what, (Input("l", _COLUMNS), Input("r", _COLUMNS)), call)
    return definition_of(meet.asked, dict.fromkeys("lr", columns), cells)


def test_a_definition_is_told_in_words_that_never_change() -> None:
    """They stand in the checkpoints of queries that go on with the next version."""
    call = _JOIN | {"on": f"{_BAND} AND (l.v > 3 OR r.v IS NULL)", "select": "l.id, r.id + 1 AS next"}
    assert json.loads(_definition("join", call)) == {
        "kind": "join",
        "on": "((`l`.`ts` - INTERVAL '6' SECONDS) <= `r`.`ts`) AND (`l`.`k` = `r`.`k`)"
        " AND (`l`.`ts` >= `r`.`ts`) AND (`l`.`v` > 3 OR `r`.`v` IS NULL)",
        "how": "left",
        "select": "`l`.`id` AS id, `r`.`id` + 1 AS next",
        "agg": "none",
        "per": "none",
        "columns of l": "id int64, ts; event time ts",
        "columns of r": "id int64, ts; event time ts",
        "partitions": "16",
    }


def test_by_time_and_by_validity_it_is_told_how_far_rows_reach() -> None:
    asof, window, temporal, valid = (
        json.loads(_definition(what, call))
        for what, call in (("asof", _ASOF), ("window", _WINDOW), ("temporal", _TEMPORAL), ("temporal", _VALID))
    )
    assert (asof["direction"], asof["strict"], asof["tolerance"]) == ("backward", "no", "2000000000 ns")
    assert (asof["ties"], asof["tie_break"]) == ("last", "`r`.`id`, `r`.`end`, `r`.`v`")
    assert window["windows"] == "5000000000 ns preceding, 0 ns following, closed to closed: count(*) AS n"
    assert temporal["validity of r"] == "from ts, sliding 4000000000 ns"
    assert valid["validity of l"] == "from ts to end"


def test_the_columns_that_are_remembered_are_told_with_the_keys() -> None:
    schema = pa.schema([(AT, pa.int64()), (UNTIL, pa.int64()), (f"{KEY}0", pa.int32()), ("s", pa.string())])
    assert columns_told(schema, "ts") == "key 0 int32, s string; event time ts"


@pytest.mark.parametrize(
    ("what", "one", "other"),
    [
        ("join", _JOIN, _JOIN | {"how": "leftouter"}),
        ("join", _JOIN, _JOIN | {"on": _BAND.replace("l.k = r.k", "R.K=L.K").replace(" AND", "\n  and")}),
        (
            "join",
            _JOIN,
            _JOIN | {"on": "l.ts >= r.ts AND NOT (r.ts < (l.ts - INTERVAL '6' SECONDS)) AND l.k = r.k AND r.k = l.k"},
        ),
        ("join", _JOIN, _JOIN | {"select": "*"}),
        ("join", _JOIN | {"select": "l.id, r.v"}, _JOIN | {"select": "l.ID AS id,r.v  v"}),
        ("asof", _ASOF, _ASOF | {"tolerance": "2000 milliseconds", "keys": [("k", "K")], "on": ("ts", "r.ts")}),
        ("asof", _ASOF, _ASOF | {"tie_break": ["id", "end", "v"]}),
        ("window", _WINDOW, _WINDOW | {"following": "0 seconds", "closed": "both"}),
        ("temporal", _TEMPORAL, _TEMPORAL | {"ts": {"l": "ts", "r": "TS"}, "on": "r.k = l.k"}),
    ],
)
def test_a_join_may_be_spelled_otherwise(what: str, one: Call, other: Call) -> None:
    check_definition(_definition(what, one), _definition(what, other))


@pytest.mark.parametrize(
    ("what", "one", "other", "message"),
    [
        ("join", _JOIN, {"on": _BAND}, "was made with how 'left', the join now has 'inner'; .*a new checkpoint"),
        ("join", _JOIN, _JOIN | {"on": _BAND.replace("6", "7")}, r"made with on .*'6.*the join now has .*'7"),
        ("join", _JOIN, _JOIN | {"on": f"{_BAND} AND r.v > 3"}, r"the join now has .* AND \(r.v > 3\)"),
        (
            "join",
            _JOIN | {"on": f"{_BAND} AND (l.v > 3 OR r.v > 3) AND l.id = 1"},
            _JOIN | {"on": f"{_BAND} AND (l.v > 3 OR r.v > 3 AND l.id = 1)"},
            "made with on",
        ),
        ("join", _JOIN, _JOIN | {"select": "l.id"}, "select 'l.id AS id, .*', the join now has 'l.id AS id';"),
        ("join", _FOLD, _FOLD | {"agg": {"n": "count(r.v)"}}, r"agg 'count\(\*\) AS n', .* 'count\(r.v\) AS n'"),
        ("asof", _ASOF, _ASOF | {"tolerance": "1 second"}, "tolerance '2000000000 ns'"),
        ("asof", _ASOF, _ASOF | {"tolerance": None}, "the join now has 'unbounded'"),
        ("asof", _ASOF, _ASOF | {"keys": None}, "made with on"),
        ("asof", _ASOF, _ASOF | {"null_safe": True}, "made with on .* NOT DISTINCT "),
        ("asof", _ASOF, _ASOF | {"strict": True}, "strict 'no', the join now has 'yes'"),
        ("asof", _ASOF, _ASOF | {"direction": "forward"}, "direction"),
        ("asof", _ASOF, _ASOF | {"ties": "all"}, "ties"),
        ("asof", _ASOF, _ASOF | {"tie_break": ["v"]}, "tie_break"),
        ("asof", _ASOF, _ASOF | {"nearest_tie": "forward"}, "nearest_tie"),
        ("asof", _ASOF, _ASOF | {"how": "inner"}, "how"),
        ("window", _WINDOW, _WINDOW | {"preceding": "6 seconds"}, "windows '5000000000 ns preceding, 0 ns following"),
        ("window", _WINDOW, _WINDOW | {"closed": "left"}, "windows .*closed to open"),
        ("window", _WINDOW, _WINDOW | {"include_prevailing": True}, "windows .*, with the prevailing row"),
        ("temporal", _TEMPORAL, _TEMPORAL | {"window": dv.fixed("4 seconds")}, "validity of l .*fixed"),
        ("temporal", _TEMPORAL, _VALID, "validity of l 'from ts, sliding 4000000000 ns', .* 'from ts to end'"),
        ("temporal", _TEMPORAL, _TEMPORAL | {"how": "anti"}, "how"),
    ],
)
def test_another_join_is_refused_in_one_line(what: str, one: Call, other: Call, message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        check_definition(_definition(what, one), _definition(what, other))
    assert "\n" not in str(raised.value)


def test_a_join_of_another_kind_of_other_cells_or_of_other_columns_is_refused() -> None:
    known = _definition("join", _JOIN)
    with pytest.raises(UsageError, match="made with kind 'join', the join now has 'temporal join'"):
        check_definition(known, _definition("temporal", _TEMPORAL))
    with pytest.raises(UsageError, match="made with partitions '16', the join now has '3'"):
        check_definition(known, _definition("join", _JOIN, cells=3))
    with pytest.raises(UsageError, match=r"columns of l '.*event time ts', the join now has 'id int64'"):
        check_definition(known, _definition("join", _JOIN | {"select": "l.id"}, "id int64"))
