"""Runs on disk: nothing half written is ever read, a full disk loses nothing, memory is bounded, results come early."""

from __future__ import annotations

import resource
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import dovetail as dv
from dovetail import stream
from dovetail._core.sweep.runs.files import RunDirectory
from dovetail._core.sweep.runs.merge import Source, slabs
from dovetail._core.sweep.runs.strategy import Strategy
from dovetail._hosts.arrow.streams import sorted_results
from dovetail.errors import UsageError
from dovetail.testing import assert_same_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCHEMA = pa.schema([("x", pa.int64())])


def _batch(*values: int) -> pa.RecordBatch:
    return pa.record_batch({"x": pa.array(values, pa.int64())})


def _pairs(rows: int, seed: int) -> pa.Table:
    dice = np.random.default_rng(seed)
    return pa.table({"k": dice.integers(0, rows // 4, rows), "x": dice.integers(0, 1000, rows), "id": np.arange(rows)})


def _counted(table: pa.Table, size: int, seen: list[int]) -> Iterator[pa.RecordBatch]:
    for batch in table.to_batches(max_chunksize=size):
        seen[0] += batch.nbytes
        yield batch


def test_runs_stand_in_a_folder_of_their_own_until_they_are_removed(tmp_path: Path) -> None:
    (tmp_path / "run-notes.txt").write_text("mine")
    directory, other = (RunDirectory.within(tmp_path) for _ in range(2))
    run, theirs = (own.write(SCHEMA, _batch(1, 2, 3), chunk=2) for own in (directory, other))
    assert run.path != theirs.path
    assert [batch.num_rows for batch in directory.read(run)] == [2, 1]
    directory.remove([run])
    assert not run.path.exists()
    other.clear()
    del directory, other
    assert [path.name for path in tmp_path.iterdir()] == ["run-notes.txt"]


KILLED = """
import os, sys
from pathlib import Path
import pyarrow as pa
from dovetail._core.sweep.runs import files
directory = files.RunDirectory.within(Path(sys.argv[1]))
batch = pa.record_batch({"x": list(range(1000))})
directory.write(batch.schema, batch, 10)
with directory.writer(batch.schema, 10) as writer:
    for _ in range(50):
        writer.write(batch)
    os.kill(os.getpid(), 9)
"""


def test_what_a_killed_process_left_is_removed_by_the_next_and_what_is_in_use_is_not(tmp_path: Path) -> None:
    running = RunDirectory.within(tmp_path)
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert ended.returncode == -9
    assert len(list(tmp_path.glob("*/run-*"))) == 2
    new = RunDirectory.within(tmp_path)
    assert set(tmp_path.iterdir()) == {running.path, new.path}


def test_a_full_disk_is_reported_and_loses_no_row(tmp_path: Path) -> None:
    table = _pairs(400, 1)
    schemas = {"a": table.schema, "b": table.schema}
    options: dict[str, Any] = {"on": "a.k = b.k", "ts": "id", "window": dv.sliding(50), "algorithm": "tpmj"}
    operator = stream.temporal_operator(schemas, **options, memory=8192, directory=tmp_path)
    found: list[pa.RecordBatch] = []
    told: list[str] = []
    for batch in table.to_batches(max_chunksize=20):
        for name in ("a", "b"):
            try:
                with _longest_file(100 if len(told) < 3 else None):
                    found += operator.on_batch(name, batch)
            except UsageError as error:
                told.append(str(error))
    for name in ("a", "b"):
        found += operator.on_end(name)
    assert len(told) == 3
    assert all("File too large; the rows of it are still in memory or in older runs" in own for own in told)
    want = dv.temporal_join(a=table, b=table, on="a.k = b.k", ts="id", window=dv.sliding(50))
    assert_same_rows(pa.Table.from_batches(found), want)


@contextmanager
def _longest_file(size: int | None) -> Iterator[None]:
    """Have the system refuse to write files longer than this: as a full disk would, at any write."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft if size is None else size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("strategy", ["max-fan-in", "greedy", "adaptive"])
@pytest.mark.parametrize(
    "on", ["a.k = b.k", "a.k = b.k AND a.x < b.x", "a.x >= b.x - 1 AND a.x <= b.x + 1 AND a.k < 9"]
)
def test_many_runs_give_the_rows_of_one_join(strategy: str, on: str, tmp_path: Path) -> None:
    a, b = _pairs(3000, 1), _pairs(2500, 2)
    options: dict[str, Any] = {"memory": 1 << 16, "fan_in": 3, "strategy": strategy, "directory": tmp_path}
    inputs = {"a": a.to_batches(max_chunksize=100), "b": b.to_batches(max_chunksize=70)}
    assert_same_rows(stream.join(**inputs, on=on, **options).read_all(), dv.join(a=a, b=b, on=on))
    assert list(tmp_path.iterdir()) == []


def test_tables_in_one_piece_may_be_larger_than_memory() -> None:
    a, b = _pairs(20_000, 1), _pairs(20_000, 2)
    own: dict[str, Any] = {"a": a, "b": b, "on": "a.k = b.k AND a.x = b.x", "memory": 1 << 18}
    want = dv.join(a=a, b=b, on=own["on"])
    assert_same_rows(stream.join(**own).read_all(), want)
    found = stream.temporal_join(**own, ts="id", window=dv.sliding(1 << 20), algorithm="tpmj").read_all()
    assert_same_rows(found.drop_columns(["valid_start", "valid_end"]), want)


@pytest.mark.parametrize("algorithm", ["progressive", "tpmj"])
def test_nothing_is_left_on_disk_of_a_join_whose_input_fails_even_while_the_error_is_held(
    algorithm: str, tmp_path: Path
) -> None:
    def failing() -> Iterator[pa.RecordBatch]:
        yield from _pairs(2000, 1).to_batches(max_chunksize=100)
        raise RuntimeError

    options: dict[str, Any] = {"on": "a.k = b.k", "memory": 1 << 16, "directory": tmp_path}
    inputs = {"a": failing(), "b": _pairs(3000, 2).to_batches(max_chunksize=100)}
    if algorithm == "tpmj":
        reader = stream.temporal_join(**inputs, **options, ts="id", window=dv.sliding(50), algorithm="tpmj")
    else:
        reader = stream.join(**inputs, **options)
    with pytest.raises(RuntimeError) as held:
        reader.read_all()
    assert list(tmp_path.iterdir()) == []
    assert isinstance(held.value, RuntimeError)


def test_the_first_result_comes_before_the_inputs_end() -> None:
    a, b, seen = _pairs(20_000, 1), _pairs(20_000, 2), [0]
    memory = 1 << 18
    reader = stream.join(
        a=_counted(a, 256, seen), b=_counted(b, 256, seen), on="a.k = b.k", memory=memory, strategy="max-fan-in"
    )
    assert next(iter(reader)).num_rows > 0
    assert seen[0] <= memory


def test_results_that_outgrow_memory_are_sorted_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorted_results, "LEAST", 0)
    size = 300
    table = pa.table({"k": [1] * size, "ts": np.arange(size)})
    options: dict[str, Any] = {"on": "a.k = b.k", "ts": "ts", "window": dv.sliding(100)}
    feeds = {name: table.to_batches(max_chunksize=50) for name in ("a", "b")}
    found = stream.temporal_join(**feeds, **options, algorithm="tpmj", memory=1 << 13, directory=tmp_path).read_all()
    ends = list(zip(found["valid_start"].to_pylist(), found["valid_end"].to_pylist(), strict=True))
    assert ends == sorted(ends)
    assert_same_rows(found, dv.temporal_join(a=table, b=table, **options))


def test_an_adaptive_join_catches_up_once_the_load_is_low(tmp_path: Path) -> None:
    table = _pairs(700, 1)
    options: dict[str, Any] = {"on": "a.k = b.k", "ts": "id", "window": dv.sliding(200), "algorithm": "tpmj"}
    schemas = {"a": table.schema, "b": table.schema}
    operator = stream.temporal_operator(schemas, **options, memory=1 << 16, directory=tmp_path, strategy="adaptive")
    operator.busy = True  # type: ignore[union-attr]
    *before, last = table.to_batches(max_chunksize=100)
    assert not [found for batch in before for name in ("a", "b") for found in operator.on_batch(name, batch)]
    operator.busy = False  # type: ignore[union-attr]
    assert sum(found.num_rows for found in operator.on_batch("a", last)) > 0


def test_rows_of_one_key_are_never_torn_apart() -> None:
    sources = [
        Source(iter([_batch(1, 5), _batch(5, 5), _batch(5, 9)]), "x"),
        Source(iter([_batch(), _batch(5), _batch(7)]), "x"),
        Source(iter([]), "x"),
    ]
    found = [
        (sorted(v for part in parts if part is not None for v in part.column("x").to_pylist()), before)
        for parts, before in slabs(sources)
    ]
    assert [value for values, _ in found for value in values] == [1, 5, 5, 5, 5, 5, 7, 9]
    assert sum(5 in values for values, _ in found) == 1


@pytest.mark.parametrize(
    ("name", "busy", "sizes", "chosen"),
    [
        ("max-fan-in", False, [10, 10], []),
        ("max-fan-in", False, [10, 90, 11, 12], [0, 2, 3]),
        ("greedy", True, [10, 20], [0, 1]),
        ("greedy", True, [10, 90], []),
        ("greedy", False, [10, 90, 20, 5], [0, 2, 3]),
        ("adaptive", True, [10, 20], []),
        ("adaptive", False, [10, 20], [0, 1]),
        ("greedy", False, [10], []),
    ],
)
def test_a_strategy_chooses_runs(name: str, busy: bool, sizes: list[int], chosen: list[int]) -> None:  # noqa: FBT001 -- a row of a table
    assert Strategy(name, 3).choose(sizes, busy=busy) == chosen
