"""Conditions of thousands of parts are joined; those that nest too deep are refused in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail._core.condition.inputs import Input, Inputs
from dovetail._core.condition.split import MOST_DRIVING, read_condition
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

MANY = range(10, 1510)
"""More parts than calls may nest."""
TABLE = pa.table({"a": [1, 2], "b": [1, 2]})
PAIRS = [(1, 1), (1, 2), (2, 2)]


@pytest.mark.parametrize(
    "text",
    [
        "l.a <= r.a AND " + " AND ".join(f"l.a <> {i}" for i in MANY),
        "l.a <= r.a AND " + " AND ".join(f"l.a <> r.b + {i}" for i in MANY),
        "l.a <= r.a AND " + " AND ".join(f"l.a < r.b + {i}" for i in MANY),
        "l.a <= r.a AND (" + " OR ".join(f"l.a < r.b + {i}" for i in MANY) + ")",
        "l.a <= r.a AND (" + " OR ".join(f"l.a < {i}" for i in MANY) + ")",
        "l.a <= r.a AND NOT (" + " OR ".join(f"l.a = r.b + {i}" for i in MANY) + ")",
        " OR ".join(f"(l.a <= r.a AND l.b < {i})" for i in MANY),
    ],
    ids=lambda text: f"{text[:40]}...",
)
def test_chains_of_any_length_are_joined(text: str) -> None:
    found = dv.join(TABLE, TABLE, on=text, select="l.a AS l, r.a AS r")
    assert sorted(tuple(row.values()) for row in found.to_pylist()) == PAIRS


def test_comparisons_beyond_those_that_may_drive_are_tested_pair_by_pair() -> None:
    inputs = Inputs(Input("l", ("a",)), Input("r", ("b",)))
    number = MOST_DRIVING + 3
    found = read_condition(" AND ".join(f"l.a + {i} < r.b" for i in range(number)), inputs)
    assert len(found.comparisons) == MOST_DRIVING
    assert [own.sql for own in found.residuals] == [f"(`l`.`a` + {i}) < `r`.`b`" for i in range(MOST_DRIVING, number)]


def test_the_order_of_parts_in_a_chain_is_kept() -> None:
    inputs = Inputs(Input("l", ("a",)), Input("r", ("b",)))
    found = read_condition(
        "l.a <> r.b AND (l.a <> r.b + 1 AND NOT (l.a = r.b + 2 OR l.a = r.b + 3)) AND l.a = 4", inputs
    )
    assert [own.sql for own in found.residuals] == [
        "`l`.`a` <> `r`.`b`",
        *(f"`l`.`a` <> `r`.`b` + {i}" for i in (1, 2, 3)),
    ]
    assert [own.sql for own in found.left_filters] == ["`l`.`a` = 4"]


DEEP: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (dv.join, {"on": "(" * 900 + "l.a = r.a" + ")" * 900}, "condition '((((.*"),
    (dv.join, {"on": "l.a = r.a" + " AND (l.b < 3" * 900 + ")" * 900}, "condition 'l.a = r.a AND .*"),
    (dv.join, {"on": "l.a = r.a" + " + 1" * 900}, "expression 'r.a \\+ 1.*"),
    (dv.join, {"on": "l.a = r.a", "select": "abs(" * 900 + "l.a" + ")" * 900}, "select 'abs\\(.*"),
    (
        dv.join,
        {"on": "l.a = r.a", "agg": {"n": "sum(" + "(" * 900 + "r.a" + "))" * 450}, "per": "l"},
        "aggregate 'sum.*",
    ),
    (dv.asof_join, {"on": "a", "where": "(" * 900 + "l.b = r.b" + ")" * 900}, "condition '((((.*"),
]


@pytest.mark.parametrize(("function", "call", "what"), DEEP, ids=[what for _, _, what in DEEP])
def test_what_nests_too_deep_is_refused_in_one_short_line(
    function: Callable[..., Any], call: dict[str, Any], what: str
) -> None:
    what = what.replace("((((", r"\(\(\(\(")
    with pytest.raises(UsageError, match=rf"{what}\.\.\.' nests too deep. Hint: take parentheses away") as caught:
        function(TABLE, TABLE, **call)
    assert len(str(caught.value)) < 200
