"""Results are owed until the caller has them: whatever fails between, they come with a later call."""

from __future__ import annotations

import random
import shutil
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail._hosts.online import rows as online_rows
from dovetail.errors import UsageError
from dovetail.testing import assert_same_rows
from tests.online.arrivals import engine_of, jittered, taken

if TYPE_CHECKING:
    from collections.abc import Callable

BASE = pa.schema([("k", pa.int64()), ("ts", pa.int64())])
PROBE = pa.schema([("k", pa.int64()), ("ts", pa.int64()), ("v", pa.int64())])
GIVEN: dict[str, Any] = {"base": BASE, "probe": PROBE, "on": "ts", "keys": "k", "preceding": 10}
COUNT = {"n": "count(*)"}
TWO = [{"k": 1, "ts": 1}, {"k": 1, "ts": 20}]
FIRST, SECOND = {"k": 1, "ts": 1, "n": 1}, {"k": 1, "ts": 20, "n": 0}


def _pushed(log: Path) -> dv.online.WindowJoin:
    """An engine that has handed out its first result, and holds a row that is not due."""
    engine = dv.online.WindowJoin(**GIVEN, agg=COUNT, log=log)
    engine.insert({"k": 1, "ts": 1, "v": 1})
    assert engine.push(TWO) == [FIRST]
    return engine


def _restored(log: Path, snap: Path | None = None) -> dv.online.WindowJoin:
    return dv.online.WindowJoin.restore(snap, log=log)


def _beside(log: Path) -> dv.online.WindowJoin:
    """An engine as it would go on if the one of this log died now; that one goes on, too."""
    return _restored(Path(shutil.copy(log, log.with_name("copy"))))


def test_a_sum_that_overflows_holds_back_no_other_result(tmp_path: Path) -> None:
    log = tmp_path / "log"
    engine = dv.online.WindowJoin(**GIVEN, agg={"s": "sum(v)"}, log=log)
    engine.insert([{"k": 1, "ts": 5, "v": 2**62}, {"k": 1, "ts": 6, "v": 2**62}, {"k": 2, "ts": 6, "v": 7}])
    message = r"carried out, but the row {'k': 1, 'ts': 6} has no result; .* 'sum\(.*' overflows BIGINT. Hint"
    with pytest.raises(UsageError, match=message) as caught:
        engine.push([{"k": 1, "ts": 6}, {"k": 2, "ts": 6}, {"k": 2, "ts": 99}])
    assert "\n" not in str(caught.value)
    again = _beside(log)
    with pytest.raises(UsageError, match=message):
        again.advance()
    engine.snapshot(tmp_path / "snap")
    for own in (dv.online.WindowJoin.restore(tmp_path / "snap"), engine, again):
        assert own.advance().to_pylist() == [{"k": 2, "ts": 6, "s": 7}]
        assert own.metrics()["rows_waiting"] == 1
        assert own.close().to_pylist() == [{"k": 2, "ts": 99, "s": None}]


def test_a_close_tells_how_many_sums_overflow(tmp_path: Path) -> None:
    log = tmp_path / "log"
    engine = dv.online.WindowJoin(**GIVEN, agg={"s": "sum(v)", "n": "count(*)"}, lateness=50, log=log)
    engine.insert([{"k": k, "ts": ts, "v": 2**62} for k in (1, 3) for ts in (5, 6)])
    assert engine.push([{"k": k, "ts": ts} for ts in (5, 6, 7) for k in (1, 2, 3)]) == []
    message = r"but 4 rows, the first of them {'k': 1, 'ts': 6}, have no result"
    for own in (engine, _beside(log)):
        with pytest.raises(UsageError, match=message):
            own.close()
        assert [row["k"] for row in own.close().to_pylist()] == [1, 2, 3, 2, 2]
        with pytest.raises(UsageError, match="the engine is closed"):
            own.close()


def test_results_that_could_not_be_found_come_with_the_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = dv.online.WindowJoin(**GIVEN, agg=COUNT)
    engine.insert({"k": 1, "ts": 1, "v": 1})

    def fail(*_given: Any) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr("dovetail._hosts.online.joiners.Joiners.fold", fail)
        with pytest.raises(MemoryError):
            engine.push(TWO)
    assert engine.advance().to_pylist() == [FIRST]
    assert engine.close().to_pylist() == [SECOND]


def test_results_are_owed_until_a_call_hands_them_over_however_often_the_process_dies(tmp_path: Path) -> None:
    log = tmp_path / "log"
    _pushed(log)
    _restored(log).insert({"k": 1, "ts": 20, "v": 1})
    _restored(log).insert({"k": 1, "ts": 20, "v": 1})
    assert _restored(log).push({"k": 1, "ts": 20}) == [FIRST]
    again = _restored(log)
    assert again.advance().to_pylist() == [FIRST]
    again.insert({"k": 1, "ts": 20, "v": 1})
    assert _restored(log).advance().num_rows == 0
    assert [row["n"] for row in _restored(log).close().to_pylist()] == [3, 3]


def test_a_snapshot_holds_the_results_that_are_owed(tmp_path: Path) -> None:
    log, snap = tmp_path / "log", tmp_path / "snap"
    _pushed(log)
    _restored(log).snapshot(snap)
    _restored(log, snap).insert({"k": 1, "ts": 20, "v": 1})
    again = _restored(log, snap)
    assert again.advance().to_pylist() == [FIRST]
    again.snapshot(snap)
    assert _restored(log, snap).advance().num_rows == 0


def test_what_a_close_returned_comes_again_from_a_close(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert _pushed(log).close().to_pylist() == [SECOND]
    for again in (_restored(log), _restored(log)):
        with pytest.raises(UsageError, match="the engine is closed"):
            again.push({"k": 1, "ts": 30})
        assert again.close().to_pylist() == [SECOND]
        with pytest.raises(UsageError, match="the engine is closed"):
            again.close()


def test_a_closed_engine_is_closed_after_a_snapshot(tmp_path: Path) -> None:
    engine = _pushed(tmp_path / "log")
    engine.close()
    engine.snapshot(tmp_path / "snap")
    with pytest.raises(UsageError, match="the engine is closed"):
        dv.online.WindowJoin.restore(tmp_path / "snap").push({"k": 1, "ts": 30})


def test_a_hook_that_fails_leaves_the_results_to_the_next_call(tmp_path: Path) -> None:
    def fail(side: str, rows: pa.RecordBatch) -> None:
        raise RuntimeError(side, rows.num_rows)

    engine = dv.online.WindowJoin(**GIVEN, agg=COUNT, log=tmp_path / "log", on_late=fail)
    engine.insert({"k": 1, "ts": 10, "v": 1})
    with pytest.raises(RuntimeError, match="probe"):
        engine.insert([{"k": 1, "ts": 10, "v": 1}, {"k": 1, "ts": 5, "v": 1}])
    assert engine.metrics()["late_probe_rows"] == 1
    with pytest.raises(RuntimeError, match="base"):
        engine.push([{"k": 1, "ts": 5}, {"k": 1, "ts": 10}, {"k": 1, "ts": 30}])
    for own in (_beside(tmp_path / "log"), engine):
        assert own.advance().to_pylist() == [{"k": 1, "ts": 10, "n": 2}]
        assert own.close().to_pylist() == [{"k": 1, "ts": 30, "n": 0}]


def test_a_hook_that_calls_the_engine_gets_results_of_its_own(tmp_path: Path) -> None:
    seen: list[list[dict[str, Any]]] = []
    engine = dv.online.WindowJoin(
        **GIVEN,
        agg=COUNT,
        log=tmp_path / "log",
        on_late=lambda _side, _rows: seen.append(engine.push({"k": 2, "ts": 40})),
    )
    engine.insert({"k": 1, "ts": 10, "v": 1})
    assert engine.push([{"k": 1, "ts": 5}, *({"k": 1, "ts": ts} for ts in (10, 30))]) == [{"k": 1, "ts": 10, "n": 1}]
    assert seen == [[{"k": 1, "ts": 30, "n": 0}]]
    assert _restored(tmp_path / "log").close().to_pylist()[-1] == {"k": 2, "ts": 40, "n": 0}


def test_results_that_could_not_be_handed_over_come_with_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: Any) -> None:
        raise MemoryError

    engine = dv.online.WindowJoin(**GIVEN, agg=COUNT, log=tmp_path / "log")
    engine.insert({"k": 1, "ts": 1, "v": 1})
    with monkeypatch.context() as patched:
        patched.setattr(online_rows, "as_table", fail)
        with pytest.raises(MemoryError):
            engine.push(pa.RecordBatch.from_pylist(TWO, BASE))
    engine.insert({"k": 1, "ts": 20, "v": 1})
    for own in (_beside(tmp_path / "log"), engine):
        assert own.advance().to_pylist() == [FIRST]


def test_only_the_last_results_come_again_where_the_lateness_is_found(tmp_path: Path) -> None:
    log = tmp_path / "log"
    engine = dv.online.WindowJoin(**GIVEN, agg=COUNT, log=log, sync="never", lateness="auto")
    engine.insert([{"k": 1, "ts": ts, "v": 1} for ts in range(2000)])
    before = [row for ts in range(2000, 2040, 5) for row in engine.push([{"k": 1, "ts": ts}, {"k": 1, "ts": ts + 1}])]
    last = engine.push([{"k": 1, "ts": 2040}])
    assert before
    assert last
    again = _beside(log)
    assert again.watermark == engine.watermark
    assert again.advance().to_pylist() == last
    assert again.close().to_pylist() == engine.close().to_pylist()


class Death(BaseException):
    """What ends a process."""


def _dead(*_given: Any, **_more: Any) -> None:
    raise Death


@pytest.mark.parametrize("seed", range(4))
def test_every_row_gets_its_result_once_wherever_the_process_dies_in_a_call(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice, log, snap = random.Random(seed), tmp_path / "log", tmp_path / "snap"
    times = sorted(dice.randrange(300) for _ in range(120))
    base = pa.table({"k": [dice.randrange(3) for _ in times], "ts": times})
    probe = base.append_column("v", pa.array(range(120)))
    asked: dict[str, Any] = {"on": "ts", "keys": "k", "preceding": 20, "following": 5, "agg": {"s": "sum(v)"}}
    engine = engine_of(base, probe, lateness=30, log=log, sync="never", **asked)
    got: list[pa.Table] = []

    def call(work: Callable[[], list[pa.Table]], *places: str) -> None:
        """Do something, or die in one of some places and start again."""
        nonlocal engine
        with monkeypatch.context() as patched:
            if dice.random() < 0.3:
                patched.setattr(f"dovetail._hosts.online.{dice.choice(places)}", _dead)
            with suppress(Death):
                return got.extend(work())
        engine = dv.online.WindowJoin.restore(snap if snap.exists() else None, log=log)
        return None

    def wrote() -> list[pa.Table]:
        engine.snapshot(snap)
        return []

    places = ("session.Session._carry_out", "engine.Engine.release", "session.Session._tell")
    for side, table in jittered(base, probe, (times, times), 30, seed):
        call(partial(lambda *given: taken(engine, *given), side, table), *places)
        if dice.random() < 0.2:
            call(wrote, "log.Log.restart")
    assert_same_rows(pa.concat_tables([*got, engine.close()]), dv.window_join(base, probe, **asked))
