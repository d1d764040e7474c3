"""Which columns a result has, and what they are called."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.errors import UsageError

LEFT = pa.table({"id": [1, 2], "price": [5, 9]})
RIGHT = pa.table({"id": [7], "price": [6], "shop": ["x"]})


@pytest.mark.parametrize(
    ("choices", "names"),
    [
        ({}, ["id", "price", "r_id", "r_price", "shop"]),
        ({"how": "left_outer"}, ["id", "price", "r_id", "r_price", "shop"]),
        ({"how": "leftsemi"}, ["id", "price"]),
        ({"how": "anti"}, ["id", "price"]),
        ({"select": "l.id, r.id AS other, r.shop"}, ["id", "other", "shop"]),
        ({"select": "l.*, shop"}, ["id", "price", "shop"]),
        ({"select": "*"}, ["id", "price", "r_id", "r_price", "shop"]),
        ({"select": "l.price - r.price AS gap"}, ["gap"]),
        ({"agg": {"n": "count(*)"}, "per": "r"}, ["id", "price", "shop", "n"]),
        ({"agg": {"n": "count(*)"}, "per": "l", "select": "l.price"}, ["price", "n"]),
    ],
)
def test_output_columns(choices: dict[str, Any], names: list[str]) -> None:
    assert dv.join(LEFT, RIGHT, on="l.price > r.price", **choices).column_names == names


def test_a_name_of_ones_own_is_the_prefix() -> None:
    assert dv.join(a=LEFT, b=RIGHT, on="a.price > b.price").column_names[2] == "b_id"


def test_an_expression_shows_null_where_there_is_no_partner() -> None:
    got = dv.join(LEFT, RIGHT, on="l.price > r.price", how="left", select="l.id, coalesce(r.shop, 'none') AS shop")
    assert sorted(map(tuple, (row.values() for row in got.to_pylist()))) == [(1, "none"), (2, "x")]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"select": "l.id, r.id"}, r"two columns named 'id'"),
        ({"select": "l.id, r.shop", "how": "semi"}, r"select 'r.shop' reads 'r', of which this join keeps no row"),
        ({"select": "l.id FROM t"}, r"select 'l.id FROM t' cannot be read: it must be a list of expressions"),
        ({"select": "l.zap"}, r"column 'zap' not found in 'l'; it has 'id', 'price'"),
        ({"agg": {"id": "count(*)"}, "per": "l"}, r"two columns named 'id'"),
    ],
)
def test_output_that_cannot_be_is_refused(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        dv.join(LEFT, RIGHT, on="l.price > r.price", **choices)


def test_a_prefixed_name_that_clashes_is_refused() -> None:
    left = pa.table({"id": [1], "r_id": [2]})
    with pytest.raises(UsageError, match=r"two columns named 'r_id'.*Hint: use select with AS"):
        dv.join(left, RIGHT, on="l.id < r.id")
