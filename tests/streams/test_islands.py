"""Semi and anti temporal joins ask when a row has any partner: of those the condition cannot tell apart, islands do."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail._core.emit.islands import islands
from dovetail._core.plan.validity import END, START
from dovetail.testing import assert_same_rows
from tests.amount import EXAMPLES, one_in
from tests.domains import DOMAINS
from tests.spark_answers import spark_frame
from tests.streams.drawn import temporal_cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.streams.drawn import TemporalCase

ALL_AT_ONCE = 100_000


@settings(max_examples=one_in(2))
@given(temporal_cases(hows=("semi", "anti")))
def test_tables_give_the_naive_rows(case: TemporalCase) -> None:
    assert_same_rows(dv.temporal_join(**case.tables, **case.options), case.naive())


@settings(max_examples=EXAMPLES)
@given(st.data(), st.sampled_from(sorted(DOMAINS)))
def test_islands_hold_the_same_instants_apart_from_each_other(data: st.DataObject, domain: str) -> None:
    of = DOMAINS[domain]
    drawn = st.tuples(st.sampled_from([None, *of.values]), st.booleans(), st.integers(0, 9), st.integers(1, 4))
    rows = data.draw(st.lists(drawn, max_size=20))
    table = pa.table(
        {
            "key": pa.array([key for key, _, _, _ in rows], of.arrow),
            "sign": pa.array([sign for _, sign, _, _ in rows], pa.bool_()),
            START: pa.array([start for _, _, start, _ in rows], pa.int64()),
            END: pa.array([start + length for _, _, start, length in rows], pa.int64()),
        }
    )
    found = islands(table, ["key", "sign"])
    assert found.schema == table.schema
    assert _instants(found) == _instants(table)
    ends = {(_value(own), own["sign"], own[END]) for own in found.to_pylist()}
    assert not any((_value(own), own["sign"], own[START]) in ends for own in found.to_pylist())
    assert sum(len(own) for own in _instants(found).values()) == sum(own[END] - own[START] for own in found.to_pylist())


def _instants(table: pa.Table) -> dict[Any, set[int]]:
    """When a row of some value is valid."""
    found: dict[Any, set[int]] = defaultdict(set)
    for own in table.to_pylist():
        found[_value(own), own["sign"]] |= set(range(own[START], own[END]))
    return found


def _value(row: dict[str, Any]) -> str:
    """A value by its text: NaN is itself, and -0.0 is not 0.0."""
    return repr(row["key"])


def test_values_without_numbers_leave_all_rows() -> None:
    structs = pa.array([{"a": 1}, {"a": 1}])
    table = pa.table({"key": structs, START: [0, 1], END: [5, 6]})
    assert islands(table, ["key"]) == table


def test_dictionaries_are_told_apart_by_their_values() -> None:
    """Two pieces with dictionaries of their own, one of unsigned indices without any value, and floats in one."""
    names = pa.chunked_array([pa.array(own).dictionary_encode() for own in (["x", "y", None], ["y", "x"])])
    rows = {"k": names, "v": pa.array([0.0, 0.0, 1.0, 0.0, -0.0]).dictionary_encode()}
    nothing = pa.DictionaryArray.from_arrays(pa.nulls(5, pa.uint8()), pa.array([], pa.string()))
    table = pa.table(rows | {"n": nothing, "s": [0, 0, 0, 4, 9], "e": [4, 4, 4, 8, 12]})
    hidden = table.rename_columns(["k", "v", "n", START, END])
    found = islands(hidden, ["k", "v", "n"])
    assert sorted(found.drop_columns(["k", "n"]).to_pylist(), key=str) == [
        {"v": -0.0, START: 9, END: 12},
        {"v": 0.0, START: 0, END: 4},
        {"v": 0.0, START: 0, END: 8},
        {"v": 1.0, START: 0, END: 4},
    ]
    call: dict[str, Any] = {"on": "a.k = b.k AND b.n IS NULL", "valid": ("s", "e"), "how": "semi"}
    assert dv.temporal_join(a=table.slice(0, 3), b=table, **call).num_rows == 2


@pytest.mark.parametrize("on", ["a.k = b.k", "TRUE", "a.i < b.i + 2 * b.k"])
def test_rows_all_valid_at_once(on: str) -> None:
    """Pair by pair, these would be ten thousand million."""
    anti = dv.temporal_join(a=_crowd(), b=_crowd(), on=on, valid=("s", "e"), how="anti")
    semi = dv.temporal_join(a=_crowd(), b=_crowd(), on=on, valid=("s", "e"), how="semi")
    _check(anti, semi)


@pytest.mark.parametrize("on", ["a.k = b.k", "TRUE"])
def test_dataframes_all_valid_at_once(spark: SparkSession, on: str) -> None:
    sides: Any = {name: spark_frame(spark, _crowd()).repartition(3) for name in "ab"}
    found = [dv.temporal_join(**sides, on=on, valid=("s", "e"), how=how).toArrow() for how in ("anti", "semi")]
    _check(*found)


def test_names_of_dataframes_may_hold_backticks(spark: SparkSession) -> None:
    table = pa.table({"k`k": ["x", "y"], "s": [0, 3], "e": [5, 4]})
    sides: Any = {
        name: spark_frame(spark, table.rename_columns(["k", "s", "e"])).toDF("k`k", "s", "e") for name in "ab"
    }
    call: dict[str, Any] = {"on": "upper(a.`k``k`) < b.`k``k`", "valid": ("s", "e"), "how": "semi"}
    assert dv.temporal_join(**sides, **call).toArrow().to_pylist() == [
        {"k`k": "x", "s": 0, "e": 5, "valid_start": 0, "valid_end": 5},
        {"k`k": "y", "s": 3, "e": 4, "valid_start": 3, "valid_end": 4},
    ]


def _crowd() -> pa.Table:
    """Ten keys; row i of a key is valid from its number to 200,000 and some."""
    at = np.arange(ALL_AT_ONCE)
    return pa.table({"i": np.zeros_like(at), "k": at % 10, "s": at, "e": 2 * ALL_AT_ONCE + at % 10})


def _check(anti: pa.Table, semi: pa.Table) -> None:
    """What is met and what is not make up every row's validity."""
    lengths = sum(int(np.sum(own["valid_end"].to_numpy() - own["valid_start"].to_numpy())) for own in (anti, semi))
    assert lengths == int(np.sum(_crowd()["e"].to_numpy() - _crowd()["s"].to_numpy()))
    assert semi.num_rows == ALL_AT_ONCE
