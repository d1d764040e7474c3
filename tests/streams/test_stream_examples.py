"""Small joins over streams, worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail import stream
from dovetail.lab.report import write
from dovetail.lab.streams import figure_2, figure_3, in_memory

if TYPE_CHECKING:
    from collections.abc import Iterable

CALLS = pa.table({"who": ["ann", "bob"], "s": [1, 4], "e": [9, 6]})
FAULTS = pa.table({"where": ["x", "y"], "s": [3, 7], "e": [5, 8]})


def _found(how: str, **options: Any) -> list[tuple[Any, ...]]:
    found = dv.temporal_join(c=CALLS, f=FAULTS, on="TRUE", valid=("s", "e"), how=how, **options)
    shown = [name for name in ("who", "where", "valid_start", "valid_end") if name in found.column_names]
    return sorted((tuple(row.values()) for row in found.select(shown).to_pylist()), key=str)


PAIRS = [("ann", "x", 3, 5), ("ann", "y", 7, 8), ("bob", "x", 4, 5)]
ANN = [("ann", None, 1, 3), ("ann", None, 5, 7), ("ann", None, 8, 9)]


@pytest.mark.parametrize("algorithm", ["auto", "buffer-input", "buffer-output"])
@pytest.mark.parametrize(
    ("how", "rows"),
    [
        ("inner", PAIRS),
        ("left", [*PAIRS, *ANN, ("bob", None, 5, 6)]),
        ("right", PAIRS),
        ("full", [*PAIRS, *ANN, ("bob", None, 5, 6)]),
        ("anti", [("ann", 1, 3), ("ann", 5, 7), ("ann", 8, 9), ("bob", 5, 6)]),
        ("semi", [("ann", 3, 5), ("ann", 7, 8), ("bob", 4, 5)]),
    ],
)
def test_what_no_partner_covers_is_a_row_of_its_own(how: str, rows: list[tuple[Any, ...]], algorithm: str) -> None:
    assert _found(how, algorithm=algorithm) == sorted(rows, key=str)


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
def test_rows_without_a_time_are_valid_never(how: str) -> None:
    never = pa.table({"ts": pa.nulls(2)})
    assert dv.temporal_join(a=never, b=never, on="TRUE", ts="ts", window=dv.sliding(2), how=how).num_rows == 0


def _stamps(name: str, *starts: int) -> pa.RecordBatch:
    return pa.record_batch({name: pa.array(starts, pa.int64()), "ts": pa.array(starts, pa.int64())})


def _told(results: Iterable[pa.RecordBatch]) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for batch in results for row in batch.to_pylist()]


@pytest.mark.parametrize("algorithm", ["buffer-input", "buffer-output"])
def test_what_nobody_takes_of_a_call_comes_with_the_next(algorithm: str) -> None:
    schemas = {"a": _stamps("x").schema, "b": _stamps("y").schema}
    join = stream.temporal_operator(schemas, on="TRUE", ts="ts", window=dv.sliding(5), algorithm=algorithm)
    join.on_batch("a", _stamps("x", 1, 9))
    join.on_batch("b", _stamps("y", 2, 9))
    join.on_end("a")
    assert _told(join.on_end("b")) == [(1, 1, 2, 2, 2, 6), (9, 9, 9, 9, 9, 14)]


@pytest.mark.parametrize(
    ("lateness", "late"), [(3, [-(2**63)]), (2**63, [-(2**63)]), (2**64 - 4, [-(2**63)]), (2**64 - 3, []), (10**30, [])]
)
def test_rows_may_be_as_late_as_the_axis_is_long(lateness: int, late: list[int]) -> None:
    heard: list[int] = []
    join = stream.temporal_operator(
        {"a": _stamps("x").schema, "b": _stamps("y").schema},
        on="TRUE",
        ts="ts",
        window=dv.sliding(1),
        lateness=lateness,
        late=lambda _, batch: heard.extend(batch.column("ts").to_pylist()),
    )
    rows = [2**63 - 3, -(2**63), 2**63 - 6]
    for name, column in (("a", "x"), ("b", "y")):
        join.on_batch(name, _stamps(column, *rows))
    found = _told([*join.on_end("a"), *join.on_end("b")])
    assert heard == late * 2
    assert [row[0] for row in found] == sorted(own for own in rows if own not in late)


@pytest.mark.parametrize("algorithm", ["auto", "buffer-input", "buffer-output"])
@pytest.mark.parametrize("how", ["inner", "left"])
def test_rows_from_the_first_instant_on_meet_once(how: str, algorithm: str) -> None:
    always = pa.table({"ts": [-(2**63)]})
    found = dv.temporal_join(
        a=always, b=always, on="TRUE", ts="ts", window=dv.unbounded(), how=how, algorithm=algorithm
    )
    assert found.num_rows == 1


def test_results_come_once_all_inputs_have_passed_them() -> None:
    schemas = {"a": _stamps("x").schema, "b": _stamps("y").schema}
    for algorithm in ("buffer-input", "buffer-output"):
        join = stream.temporal_operator(schemas, on="TRUE", ts="ts", window=dv.sliding(5), algorithm=algorithm)
        assert list(join.on_batch("a", _stamps("x", 1, 4, 9))) == []
        found = [row for batch in join.on_batch("b", _stamps("y", 2, 7)) for row in batch.to_pylist()]
        assert [(row["x"], row["y"]) for row in found] == [(1, 2), (4, 2)]
        assert join.frontier == 7


def test_the_order_of_visits_follows_what_links_let_through() -> None:
    dice = np.random.default_rng(1)
    size = 400

    def rows(wide: int, narrow: int, at: int) -> pa.RecordBatch:
        keys = {"p": dice.integers(0, wide, size), "q": dice.integers(0, narrow, size)}
        return pa.record_batch({**keys, "ts": np.arange(at, at + size)})

    schema = rows(1, 1, 0).schema
    on = "a.p = b.p AND a.q = c.q"
    join = stream.temporal_operator(dict.fromkeys("abc", schema), on=on, ts="ts", window=dv.sliding(50))
    visited = []
    for number, (wide, narrow) in enumerate([(2, 50), (2, 50), (50, 2), (50, 2), (50, 2)]):
        for name in "abc":
            list(join.on_batch(name, rows(wide, narrow, number * size)))
        visited.append(join.join.next_visit({0})[0])  # type: ignore[union-attr]
    assert visited[1] == 2  # c lets fewer through at first
    assert visited[-1] == 1  # then b does


def test_the_labs_experiments_run_small(tmp_path: Any) -> None:
    for name, experiment in (("two", figure_2), ("three", figure_3), ("memory", in_memory)):
        outcome = experiment(500)
        write(name, outcome, tmp_path)
        assert (tmp_path / f"{name}.png").stat().st_size > 0
        same = [row for row in outcome.rows if "same" in row.claim]
        assert all(row.holds for row in same)
