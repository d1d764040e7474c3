"""What each part of a condition is taken for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dovetail._core.condition.inputs import Input, Inputs
from dovetail._core.condition.residual import as_residual
from dovetail._core.condition.split import read_condition
from dovetail.errors import UsageError

if TYPE_CHECKING:
    from dovetail._core.condition.values import Condition

INPUTS = Inputs(Input("l", ("a", "b", "s", "Ts")), Input("r", ("x", "y", "a")))


def read(text: str) -> Condition:
    return read_condition(text, INPUTS)


def shown(parts: tuple[object, ...]) -> list[str]:
    return [str(part).replace("`", "") for part in parts]


@pytest.mark.parametrize(
    ("text", "comparisons"),
    [
        ("l.a < r.x", ["l.a < r.x"]),
        ("r.x > l.a", ["l.a < r.x"]),
        ("r.x >= l.a + 1", ["l.a + 1 <= r.x"]),
        ("l.b BETWEEN r.x AND r.y", ["l.b >= r.x", "l.b <= r.y"]),
        ("r.x BETWEEN l.a AND l.b", ["l.a <= r.x", "l.b >= r.x"]),
        ("NOT (l.a >= r.x)", ["l.a < r.x"]),
        ("NOT (l.a < r.x OR l.b > r.y)", ["l.a >= r.x", "l.b <= r.y"]),
        ("NOT NOT l.a < r.x", ["l.a < r.x"]),
        ("((l.a) < (r.x))", ["l.a < r.x"]),
        ("l.a < r.x AND l.a < r.x", ["l.a < r.x"]),
        ("l.s.f < r.x", ["l.s.f < r.x"]),
        ("TS < R.X", ["l.Ts < r.x"]),
    ],
)
def test_comparisons_are_read_from_either_side(text: str, comparisons: list[str]) -> None:
    found = read(text)
    assert shown(found.comparisons) == comparisons
    assert not found.residuals


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("l.a = r.a", ["l.a = r.a"]),
        ("r.x <=> l.a", ["l.a <=> r.x"]),
        ("l.a IS NOT DISTINCT FROM r.a", ["l.a <=> r.a"]),
        ("l.a = r.a OR (l.a IS NULL AND r.a IS NULL)", ["l.a <=> r.a"]),
        ("(r.a IS NULL AND l.a IS NULL) OR r.a = l.a", ["l.a <=> r.a"]),
        ("(l.a, l.b) = (r.x, r.y)", ["l.a <=> r.x", "l.b <=> r.y"]),
    ],
)
def test_equalities_are_keys(text: str, keys: list[str]) -> None:
    assert shown(read(text).keys) == keys


@pytest.mark.parametrize(
    "text",
    [
        "l.a <> r.x",
        "l.a + r.x > 3",
        "l.a < r.x OR l.b < r.y",
        "NOT (l.a < r.x AND l.b < r.y)",
        "NOT l.a BETWEEN r.x AND r.y",
        "l.a IN (r.x, r.y)",
        "l.a IS DISTINCT FROM r.a",
        "l.s LIKE r.x",
        "exists(l.s, v -> v > r.x)",
    ],
)
def test_the_rest_is_tested_pair_by_pair(text: str) -> None:
    found = read(text)
    assert len(found.residuals) == 1
    assert not found.comparisons
    assert not found.keys


def test_what_all_branches_demand_serves_the_join() -> None:
    found = read("(l.a < r.x AND l.b < r.y) OR (l.a < r.x AND l.b = 4)")
    assert shown(found.comparisons) == ["l.a < r.x"]
    assert shown(found.residuals) == ["l.b < r.y OR l.b = 4"]


def test_a_branch_that_demands_nothing_more_frees_the_others() -> None:
    found = read("(l.a < r.x AND l.b < r.y) OR l.a < r.x")
    assert shown(found.comparisons) == ["l.a < r.x"]
    assert not found.residuals


def test_parts_of_one_side_are_filters_and_constants_belong_to_the_left() -> None:
    found = read("l.a < r.x AND l.b > 2 AND r.y IS NULL AND 1 = 1")
    assert shown(found.left_filters) == ["l.b > 2", "1 = 1"]
    assert shown(found.right_filters) == ["r.y IS NULL"]


def test_flipping_twice_changes_nothing() -> None:
    found = read("l.a < r.x AND l.a = r.a AND l.b > 2 AND l.a <> r.y")
    assert found.flip().flip() == found
    assert shown(found.flip().comparisons) == ["r.x > l.a"]


def test_a_doubled_quote_is_one_quote() -> None:
    assert shown(read("l.s = 'it''s' AND l.a < r.x").left_filters) == ["l.s = 'it\\'s'"]


def test_an_interval_of_two_units_is_taken_away_whole() -> None:
    found = read("l.Ts - INTERVAL 1 DAY 2 HOURS < r.x")
    assert shown(found.comparisons) == ["l.Ts - (INTERVAL '1' DAY + INTERVAL '2' HOURS) < r.x"]


@pytest.mark.parametrize("name", ["cache", "comment", "desc", "set", "update", "use"])
def test_a_column_may_be_called_like_a_statement(name: str) -> None:
    found = read_condition(f"{name} < x", Inputs(Input("l", (name,)), Input("r", ("x",))))
    assert shown(found.comparisons) == [f"l.{name} < r.x"]


@pytest.mark.parametrize("text", ["l.a = r.x IN (TRUE)", "l.a < r.x NOT LIKE 'a'", "l.a = r.x BETWEEN 1 AND 2"])
def test_a_predicate_beside_a_comparison_needs_parentheses(text: str) -> None:
    with pytest.raises(UsageError, match=r"compares a comparison; .*Hint: set parentheses"):
        read(text)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("(l.a > 1) = (r.x > 1)", "(l.a > 1) = (r.x > 1)"),
        ("(NOT l.b) = r.y", "(NOT l.b) = r.y"),
        ("(l.a BETWEEN 1 AND 2) = r.y", "(l.a BETWEEN 1 AND 2) = r.y"),
        ("(l.a IN (1, 2)) < (r.y IS NULL)", "(l.a IN (1, 2)) < (r.y IS NULL)"),
        ("(l.a > 1 AND l.b) = r.y", "(l.a > 1 AND l.b) = r.y"),
        ("(l.s RLIKE 'x') = r.y", "(l.s RLIKE 'x') = r.y"),
        ("(l.a OR l.b) = r.y", "(l.a OR l.b) = r.y"),
        ("ABS(l.a) + 1 < r.y", "(ABS(l.a) + 1) < r.y"),
    ],
)
def test_a_part_written_again_means_the_same(text: str, written: str) -> None:
    found = read(text)
    (part,) = [as_residual(key) for key in found.keys] + [as_residual(own) for own in found.comparisons]
    assert shown((part,)) == [written]
    again = read(part.sql)
    assert (again.keys, again.comparisons) == (found.keys, found.comparisons)
