"""Until when the rows of a stream matter, as it is read from the call."""

from __future__ import annotations

from typing import Any

import pytest

import dovetail as dv
from dovetail._core.condition.inputs import Input
from dovetail._hosts.stream.meet import Meet
from dovetail._hosts.stream.reach import reach_of, rules_of
from dovetail._hosts.stream.step import Rule
from dovetail._hosts.stream.until import ALWAYS, Bound, Until

LEFT, RIGHT = (f"unix_micros(CAST(`{own}`.`ts` AS TIMESTAMP_LTZ))" for own in "lr")
WAITS = Rule(waits=True)
LAST = Rule(waits=True, prevailing=True)
_BAND = "r.ts BETWEEN l.ts - INTERVAL 6 SECONDS AND l.ts + INTERVAL 2 SECONDS"
_N = {"n": "count(*)"}
_MOVED_RIGHT = "unix_micros(CAST(`r`.`ts` + INTERVAL '3' SECONDS AS TIMESTAMP_LTZ)) + 0L"


def _reach(what: str, call: dict[str, Any]) -> tuple[tuple[Rule, ...], str, str]:
    columns = ("id", "k", "ts", "end", "v")
    meet = Meet(what, (Input("l", columns), Input("r", columns)), call)
    left, right = reach_of(meet.asked, ("ts", "ts")).untils
    return rules_of(meet.asked), left.sql, right.sql


@pytest.mark.parametrize(
    ("what", "call", "rules", "left", "right"),
    [
        ("join", {"on": "l.k = r.k"}, (Rule(),), ALWAYS, ALWAYS),
        ("join", {"on": "r.ts <= l.ts"}, (Rule(),), f"{LEFT} + 0L", ALWAYS),
        (
            "join",
            {"on": "r.ts - INTERVAL 3 SECONDS < l.ts AND l.ts < r.end", "how": "full"},
            (WAITS, Rule(driving=1, waits=True)),
            f"{LEFT} + 3000000L",
            "unix_micros(CAST(`r`.`end` AS TIMESTAMP_LTZ)) + 0L",
        ),
        (
            "join",
            {"on": "r.ts + INTERVAL -'5' SECONDS <= l.ts", "how": "left"},
            (WAITS,),
            f"{LEFT} + 5000000L",
            ALWAYS,
        ),
        ("join", {"on": "r.ts - INTERVAL '-5' SECONDS <= l.ts"}, (Rule(),), f"{LEFT} + -5000000L", ALWAYS),
        ("join", {"on": "r.ts + INTERVAL 1 MONTH <= l.ts"}, (Rule(),), ALWAYS, ALWAYS),
        ("join", {"on": "INTERVAL 1 MONTH + r.ts <= l.ts"}, (Rule(),), ALWAYS, ALWAYS),
        ("join", {"on": "r.ts - INTERVAL '1-2' YEAR TO MONTH <= l.ts"}, (Rule(),), ALWAYS, ALWAYS),
        ("join", {"on": "r.ts + (r.end - r.ts) <= l.ts"}, (Rule(),), ALWAYS, ALWAYS),
        ("join", {"on": "l.ts = r.ts", "how": "left"}, (WAITS,), f"{LEFT} + 0L", f"{RIGHT} + 0L"),
        ("join", {"on": "r.ts + INTERVAL 3 SECONDS = l.ts"}, (Rule(),), f"{LEFT} + -3000000L", _MOVED_RIGHT),
        ("join", {"on": "l.ts <=> r.ts"}, (Rule(),), ALWAYS, ALWAYS),
        (
            "join",
            {"on": "l.v > 3 AND l.ts <= r.ts AND r.ts <= l.ts", "how": "left"},
            (WAITS,),
            f"CASE WHEN (`l`.`v` > 3) THEN {LEFT} + 0L END",
            f"{RIGHT} + 0L",
        ),
        ("asof", {"on": "ts", "keys": "k"}, (LAST,), f"{LEFT} + 0L", f"{RIGHT} + 0L"),
        ("asof", {"on": "ts", "where": "l.v > r.v"}, (WAITS,), f"{LEFT} + 0L", ALWAYS),
        (
            "asof",
            {"on": "ts", "where": "r.v > 3"},
            (LAST,),
            f"{LEFT} + 0L",
            f"CASE WHEN (`r`.`v` > 3) THEN {RIGHT} + 0L END",
        ),
        ("asof", {"on": "ts", "tolerance": "2 seconds"}, (WAITS,), f"{LEFT} + 0L", f"{RIGHT} + 2000000L"),
        (
            "asof",
            {"on": "ts", "direction": "forward", "tolerance": "2 seconds"},
            (WAITS,),
            f"{LEFT} + 2000000L",
            f"{RIGHT} + 0L",
        ),
        (
            "window",
            {"on": "ts", "agg": _N, "preceding": "5 seconds", "following": "1 second"},
            (WAITS,),
            f"{LEFT} + 1000000L",
            f"{RIGHT} + 5000000L",
        ),
        ("window", {"on": "ts", "agg": _N, "preceding": "unbounded"}, (WAITS,), f"{LEFT} + 0L", ALWAYS),
        (
            "window",
            {"on": "ts", "agg": _N, "preceding": "2 seconds", "include_prevailing": True},
            (LAST,),
            f"{LEFT} + 0L",
            f"{RIGHT} + 2000000L",
        ),
        (
            "temporal",
            {"on": "l.k = r.k", "ts": "ts", "window": dv.sliding("4 seconds"), "how": "left"},
            (WAITS,),
            f"{LEFT} + 4000000L",
            f"{RIGHT} + 4000000L",
        ),
        (
            "temporal",
            {"on": "l.v <> 0 AND 6 / l.v = r.v", "ts": "ts", "window": dv.sliding("4 seconds")},
            (Rule(),),
            f"CASE WHEN (`l`.`v` <> 0) THEN {LEFT} + 4000000L END",
            f"{RIGHT} + 4000000L",
        ),
        (
            "temporal",
            {"on": "l.k = r.k", "ts": "ts", "window": dv.sliding("106751990 days")},
            (Rule(),),
            f"{LEFT} + {1 << 62}L",
            f"{RIGHT} + {1 << 62}L",
        ),
    ],
)
def test_rows_matter_until_the_last_possible_partner(
    what: str, call: dict[str, Any], rules: tuple[Rule, ...], left: str, right: str
) -> None:
    assert _reach(what, call) == (rules, left, right)


@pytest.mark.parametrize(
    ("moved", "micros"),
    [
        ("INTERVAL 5 SECONDS + r.ts", -5_000_000),
        ("INTERVAL -'5' SECONDS + (r.ts)", 5_000_000),
        ("-INTERVAL 5 SECONDS + r.ts", 5_000_000),
        ("r.ts - (-INTERVAL 5 SECONDS)", -5_000_000),
        ("r.ts + INTERVAL 1 DAY 2 HOURS", -93_600_000_000),
        ("r.ts - INTERVAL 1 DAY 2 HOURS", 93_600_000_000),
        ("INTERVAL 1 DAY 2 HOURS + r.ts", -93_600_000_000),
        ("INTERVAL 1 HOUR + (r.ts - INTERVAL 1 MINUTE) - INTERVAL '1 second 500 milliseconds'", -3_538_500_000),
        ("r.ts + INTERVAL '1 02:00:00' DAY TO SECOND", -93_600_000_000),
        ("r.ts - INTERVAL '-1 02:00:00.5' DAY TO SECOND", -93_600_500_000),
        ("r.ts + INTERVAL '-02:30' HOUR TO MINUTE", 9_000_000_000),
        ("2 * INTERVAL '10' SECONDS + r.ts", -20_000_000),
    ],
)
def test_a_length_of_time_bounds_partners_however_it_is_written(moved: str, micros: int) -> None:
    assert _reach("join", {"on": f"{moved} < l.ts", "how": "left"})[1] == f"{LEFT} + {micros}L"


@pytest.mark.parametrize(
    ("distance", "left", "right"),
    [
        ("r.ts - l.ts <= INTERVAL 5 SECONDS", 5_000_000, None),
        ("INTERVAL 5 SECONDS > (r.ts - l.ts)", 5_000_000, None),
        ("r.ts - l.ts >= -INTERVAL 5 SECONDS", None, 5_000_000),
        ("l.ts - r.ts >= INTERVAL 5 SECONDS", -5_000_000, None),
        ("l.ts - r.ts < INTERVAL 5 SECONDS", None, 5_000_000),
        ("abs(l.ts - r.ts) <= INTERVAL 5 SECONDS", 5_000_000, 5_000_000),
        ("r.ts - l.ts = INTERVAL 5 SECONDS", 5_000_000, -5_000_000),
        ("(r.ts - INTERVAL 1 SECOND) - l.ts <= INTERVAL 5 SECONDS", 6_000_000, None),
        ("r.ts - l.ts <= INTERVAL 1 MONTH", None, None),
        ("r.ts - l.ts <= make_dt_interval(0, 0, 0, l.v)", None, None),
        ("r.end - l.ts <= INTERVAL 5 SECONDS", None, None),
    ],
)
def test_a_distance_of_event_times_bounds_partners(distance: str, left: int | None, right: int | None) -> None:
    meet = Meet("join", (Input("l", ("ts", "v")), Input("r", ("ts", "end"))), {"on": distance})
    found = reach_of(meet.asked, ("ts", "ts")).untils
    assert [[own.length for own in until.bounds] for until in found] == [
        [] if own is None else [own] for own in (left, right)
    ]


@pytest.mark.parametrize(
    ("until", "words"),
    [
        (Until(), "for good"),
        (Until((Bound("`l`.`ts`"),)), "until the watermark has passed l.ts"),
        (Until((Bound("`l`.`ts`", 90_000_000),)), "until the watermark has passed l.ts + 90 seconds"),
        (Until((Bound("`l`.`ts`", -7_200_000_000),)), "until the watermark has passed l.ts - 2 hours"),
        (Until((Bound("`l`.`ts`", 1_500),)), "until the watermark has passed l.ts + 0.0015 seconds"),
        (
            Until((Bound("`l`.`a`"), Bound("`l`.`b`", 60_000_000))),
            "until the watermark has passed l.a or l.b + 1 minute",
        ),
    ],
)
def test_how_long_rows_matter_is_said_in_words(until: Until, words: str) -> None:
    assert str(until) == words
